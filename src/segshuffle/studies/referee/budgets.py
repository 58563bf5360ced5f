"""Laplace users with unequal budgets: the personalised bounds against two neighbouring datasets.

The victim holds 0 or 1 with the largest budget, every other user holds 0 with the smaller one, and reports are rounded
to cells. Rounding is post-processing and two datasets are no more than two: a proven lower bound.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from segshuffle.accounting.single_message.accountants import ACCOUNTANTS
from segshuffle.accounting.single_message.accountants.laplace_users import PERSONAL
from segshuffle.accounting.single_message.decomposition import lower_bound_delta, lower_bound_epsilon
from segshuffle.accounting.single_message.personalized import PersonalizedUsers
from segshuffle.accounting.single_message.randomizers import ReferenceClasses, Side
from segshuffle.pipeline.design import Config, least_delta
from segshuffle.studies.referee.trial import COLUMNS, Point, judge, try_case

CASE, LABEL = "laplace-budgets", "Laplace, others'\nbudgets a tenth"
#: Everybody else's budget as a share of the victim's.
SHARE = 0.1
#: Largest number of users: the law of the clones has one entry per user.
LARGEST_USERS = 100_000

_CELLS = 32
_TAIL = 30.0


#: Accountants of users with budgets of their own.
CLAIMS = ("personalized", "personalized-reduction", "liu-2023", "chen-cao-ge")


@dataclass(frozen=True, kw_only=True)
class TwoBudgets:
    """The victim's reports from 0 and from 1 against the report of every other user, in cells.

    Parameters
    ----------
    victim, other : float
        Budgets of the victim and of all others; victim >= other > 0.
    """

    victim: float
    other: float

    @property
    def local_epsilon(self) -> float:
        """The victim's own guarantee."""
        return self.victim

    def blanket(self, side: Side) -> ReferenceClasses:
        """Classes against the law of the other users: all of one table, so nothing is left over."""
        edges = _edges(self.victim - self.other)
        first, second, own = (
            _cell_masses(budget, centre, edges)
            for budget, centre in ((self.victim, 0.0), (self.victim, 1.0), (self.other, 0.0))
        )
        return ReferenceClasses(own, np.log(first / own), np.log(second / own))

    def common_input(self, side: Side) -> tuple[ReferenceClasses, ...]:
        """All other users hold 0."""
        return (self.blanket(side),)


def proven_delta(*, randomizer: TwoBudgets, n_users: int, epsilon: float) -> float:
    """Return a proven lower bound of delta, rounded down."""
    return lower_bound_delta(randomizer=randomizer, n_users=n_users, epsilon=epsilon, own_inputs=False).lower


def proven_epsilon(*, randomizer: TwoBudgets, n_users: int, delta: float) -> float:
    """Return a proven lower bound of epsilon, rounded down."""
    return lower_bound_epsilon(randomizer=randomizer, n_users=n_users, delta=delta, rtol=1e-3, own_inputs=False)


def trial(*, victim: float, other: float, n_users: int, delta: float) -> dict[str, float]:
    """Return claimed epsilons, the proven one, and the proven delta at each claim's epsilon.

    Parameters
    ----------
    victim, other : float
        Budgets of the victim and of the n_users - 1 others.
    n_users : int
        At least 2.
    delta : float
        In (0, 1).
    """
    users = PersonalizedUsers(local_epsilons=[victim] + [other] * (n_users - 1), mechanism="laplace")
    randomizer = TwoBudgets(victim=victim, other=other)
    found = {"proven": proven_epsilon(randomizer=randomizer, n_users=n_users, delta=delta)}
    for name in CLAIMS:
        claimed = min(PERSONAL[name](users).epsilon(delta=delta), victim)
        found[name] = claimed
        found[f"{name}: proven delta"] = proven_delta(randomizer=randomizer, n_users=n_users, epsilon=claimed)
    return found


def try_budgets(config: Mapping[str, Any]) -> pd.DataFrame:
    """Tabulate `trial.COLUMNS`, others' budgets a tenth of the victim's; ``local_epsilon`` is the victim's."""
    rows = []
    for victim in config["referee"]["local_epsilons"]:
        other = SHARE * victim
        datasets = f"victim 0 or 1 with budget {victim:g}, others 0 with budget {other:g}"
        for n_users in (n for n in config["referee"]["many_users"] if n <= LARGEST_USERS):
            point = Point(n_users, "epsilon", least_delta(config, n_users))
            found = trial(victim=victim, other=other, n_users=n_users, delta=point.target)
            call = f"trial(victim={victim!r}, other={other!r}, n_users={n_users}, delta={point.target!r})"
            command = f'python -c "from segshuffle.studies.referee.budgets import trial; print({call})"'
            for name in CLAIMS:
                claimed, proven = found[name], found["proven"]
                judged = judge(victim, point, proven, claimed, found[f"{name}: proven delta"])
                numbers = (name, ACCOUNTANTS[name].kind, claimed, proven, *judged, judged.outcome == "violated")
                rows.append((CASE, victim, *point, *numbers, datasets, command))
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _edges(gap: float) -> npt.NDArray[np.float64]:
    """Cells on [0, 1], and outside where the two budgets differ; differences of neighbours are exact or nearly so."""
    inside = np.linspace(0.0, 1.0, _CELLS + 1)
    if gap <= 0:
        return inside
    outside = 2.0 ** np.arange(-6, math.ceil(math.log2(_TAIL / gap)) + 0.25, 0.25)
    return np.unique(np.concatenate([-outside, inside, 1 + outside]))


def _cell_masses(budget: float, centre: float, edges: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Probabilities of the cells that `edges` cut the line into; `centre` is one of the edges. Nothing cancels."""
    left, right = edges[:-1], edges[1:]
    near = np.where(left >= centre, left - centre, centre - right)
    inner = 0.5 * np.exp(-budget * near) * -np.expm1(-budget * (right - left))
    ends = 0.5 * np.exp(-budget * np.abs(edges[[0, -1]] - centre))
    return np.concatenate([ends[:1], inner, ends[1:]])


def try_any(config: Config, name: str, generic: pd.DataFrame) -> pd.DataFrame:
    """Try one case, by `trial.try_case` or, where every user has a budget, by `try_budgets`."""
    return try_budgets(config) if name == CASE else try_case(config, name, generic)
