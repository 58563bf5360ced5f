"""The choices that the paper leaves open; docs/deviations.md says what its text says about each."""

from itertools import product

import pandas as pd

from segshuffle.reproduction.studies.verdicts import REPRODUCED

#: Heading of the section of claims.md that judges all readings.
HEADING = "Which reading of the paper reproduces its statements"
#: Choice -> what may be chosen; ours is the first.
CHOICES: dict[str, tuple[str, ...]] = {
    # privacy analysis of balls into bins, which fixes its dummies
    "analysis": ("numerical", "closed-form"),
    # what n is in the weights of Weighted SepMM: the users of the level, or all users
    "weight_users": ("level", "all"),
    # what fills sets of fewer than s items
    "padding": ("in-domain", "dummy"),
    # what figures show: the error against the shares of the simulated users, the error against the distribution that
    # these are drawn from, or the paper's bound of the latter
    "error": ("users", "distribution", "bound"),
}
#: All readings of the paper: choice -> what is chosen. The first is ours.
READINGS = [dict(zip(CHOICES, chosen, strict=True)) for chosen in product(*CHOICES.values())]


def place_of_ours(table: pd.DataFrame) -> str:
    """Say how many statements our reading reproduces, and how many other readings reproduce more."""
    (ours,), others = table[table["ours"]][REPRODUCED], table[~table["ours"]][REPRODUCED]
    more = others[others > ours]
    section = HEADING.lower().replace(" ", "-")
    sentence = f"Of {len(table)} [readings of the paper](#{section}), ours reproduces {ours} statements"
    if more.empty:
        return f"{sentence}, and none reproduces more."
    reason = "we chose ours for reasons that do not depend on the verdicts"
    return f"{sentence}. {len(more)} others reproduce more, up to {more.max()}; {reason}."
