"""What users are guaranteed after both rounds of Algorithm 1: the levels of round 1, and the items of round 2.

In round 1 every user sends its level once, and Poisson(m) uniform levels. Changing one user's level changes two of the
K counters, which are independent: one pair with one copy and n m/K dummies per counter (`product`), exactly.
`compose_rounds` adds the guarantees of both rounds.
"""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from segshuffle.numerics.ranges import check_guarantee


class Against(NamedTuple):
    """Guarantee that a user is not told apart from one of another (or its own) level, whatever the two hold."""

    level: float
    """The alternative's level E_k'."""
    epsilon: float
    """+inf where nothing is proven."""
    delta: float


@dataclass(frozen=True)
class UserGuarantee:
    """What a user of one privacy level is guaranteed against the server, after both rounds of Algorithm 1.

    Parameters
    ----------
    level : float
        The level E_k that the user chose.
    kind : str
        Kind of round 2's number: "published", "upper", "exact". Round 1's number is exact.
    items_epsilon, items_delta : float
        Guarantee against a change of the items at the same level. Round 1 does not see the items, so this is round 2
        alone.
    levels_epsilon, levels_delta : float
        What round 1 alone shows of the level; +inf if the levels were shuffled only. Round 2 shows more of the level,
        because the copies depend on it.
    against : tuple of Against
        Both rounds together, by alternative level; see `compose_rounds`.
    """

    level: float
    kind: str
    items_epsilon: float
    items_delta: float
    levels_epsilon: float
    levels_delta: float
    against: tuple[Against, ...]

    @property
    def total_epsilon(self) -> float:
        """Epsilon against any change of items and level: the largest of all alternatives."""
        return max(each.epsilon for each in self.against)

    @property
    def total_delta(self) -> float:
        """Largest delta of all alternatives."""
        return max(each.delta for each in self.against)

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON-ready form, null for an epsilon that nothing is proven about."""
        against = [_known(each._asdict()) for each in self.against]
        total = {"total_epsilon": self.total_epsilon, "total_delta": self.total_delta}
        return _known({**asdict(self), "against": against, **total})


def _known(values: dict[str, Any]) -> dict[str, Any]:
    return {name: None if value == math.inf else value for name, value in values.items()}


def compose_rounds(
    *,
    levels: Sequence[float],
    deltas: Sequence[float],
    kind: str,
    levels_epsilon: float,
    levels_delta: float,
    change_covered: bool = True,
) -> tuple[UserGuarantee, ...]:
    """Return the guarantees of the users of every level after both rounds, by basic composition.

    Round 2's parameters depend on round 1's output; basic composition allows it, because what round 2 guarantees holds
    for every outcome of round 1.

    For a user who stays at its level, only round 2 counts: (E_k, delta_k). A change from level k to k', with any change
    of the items, costs (epsilon_p, delta_p) in round 1. In round 2 it costs what s pairs at the larger of the two
    numbers of copies cost (docs/proof.md). If the copies were calibrated at s pairs, this is at most (max(E_k, E_k'),
    max(delta_k, delta_k')), because the larger number belongs to one of the two levels and meets that level's own
    target. So a user of a small level E_k is *not* protected at E_k against a comparison with a user of a larger level.

    Parameters
    ----------
    levels, deltas : sequence of float
        E_1 < ... < E_K, and the delta of each in round 2.
    kind : str
        Kind of round 2's numbers.
    levels_epsilon, levels_delta : float
        Guarantee of round 1; +inf if the levels were shuffled only.
    change_covered : bool
        Whether round 2's copies were calibrated at s pairs of independent counters (or do not depend on the level). If
        not, nothing is claimed against a change of level: the number of messages may show it.

    Returns
    -------
    tuple of UserGuarantee
        By level; sums are rounded up.
    """
    of_level = dict(zip(levels, deltas, strict=True))
    for level, delta in of_level.items():
        check_guarantee(epsilon=level, delta=delta)

    def against(own: float, other: float) -> Against:
        larger = max(of_level[own], of_level[other])
        if own == other:
            return Against(other, own, larger)
        epsilon = _sum_up(max(own, other), levels_epsilon) if change_covered else math.inf
        return Against(other, epsilon, min(_sum_up(larger, levels_delta), 1.0))

    return tuple(
        UserGuarantee(
            level=level,
            kind=kind,
            items_epsilon=level,
            items_delta=of_level[level],
            levels_epsilon=levels_epsilon,
            levels_delta=levels_delta,
            against=tuple(against(level, other) for other in levels),
        )
        for level in levels
    )


def _sum_up(one: float, other: float) -> float:
    """Return a sum that is never below the true one."""
    return math.nextafter(one + other, math.inf) if other > 0 else one
