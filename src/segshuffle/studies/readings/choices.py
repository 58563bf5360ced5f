"""The choices that the paper leaves open; docs/deviations.md says what its text says about each."""

from itertools import product, starmap
from typing import NamedTuple

import pandas as pd

from segshuffle.studies.verdicts import REPRODUCED


class Reading(NamedTuple):
    """One way to read the paper.

    Parameters
    ----------
    analysis : {"numerical", "closed-form"}
        Privacy analysis of balls into bins, which fixes its dummies.
    weight_users : {"level", "all"}
        What n is in the weights of Weighted SepMM: the users of the level, or all users.
    padding : {"in-domain", "dummy"}
        What fills sets of fewer than s items.
    error : {"users", "distribution", "bound"}
        What figures show: the error against the shares of the simulated users, the error against the distribution that
        these are drawn from, or the paper's bound of the latter.
    """

    analysis: str
    weight_users: str
    padding: str
    error: str


CHOICES: dict[str, tuple[str, ...]] = {
    "analysis": ("numerical", "closed-form"),
    "weight_users": ("level", "all"),
    "padding": ("in-domain", "dummy"),
    "error": ("users", "distribution", "bound"),
}
#: All readings; the first is ours.
READINGS = tuple(starmap(Reading, product(*CHOICES.values())))


def place_of_ours(table: pd.DataFrame) -> str:
    """Say how many statements our reading reproduces, and how many other readings reproduce more."""
    (ours,), others = table[table["ours"]][REPRODUCED], table[~table["ours"]][REPRODUCED]
    more = others[others > ours]
    found = f"Of {len(table)} readings of the paper ([readings.md](readings.md)), ours reproduces {ours} statements"
    if more.empty:
        return f"{found}, and none reproduces more."
    reason = "we chose ours for reasons that do not depend on the verdicts"
    return f"{found}. {len(more)} others reproduce more, up to {more.max()}; {reason}."
