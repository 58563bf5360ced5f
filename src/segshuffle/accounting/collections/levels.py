r"""Exact accountant of a shuffled histogram with a uniform Poisson blanket, one message per user and K categories.

Every user sends its own category once, and Poisson(m) further messages, each a uniform category. The blanket's K
counters are then independent Poisson(mu), mu = n m/K, whatever the users hold, so two datasets that differ in one
user's category (a instead of b) differ in the counters a and b alone::

    P = (Poisson(mu) + 1, Poisson(mu)),    Q = (Poisson(mu), Poisson(mu) + 1),

which is the pair of `numerics.hockey_stick` with C ~ Poisson(2 mu), heads = 1 and tails = 0. The other users' messages
are constants. So the divergence of that pair is the guarantee, no more and no less (kind: exact), for K = 2 as for any
K > 2. With K = 1 there is nothing to hide and no blanket is needed.

In Algorithm 1 of the segmented protocol this protects the privacy levels, the categories of round 1: the guarantee is
(epsilon_p, delta_p). Round 2 collects the items. `compose_rounds` adds the guarantees of both rounds.
"""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from segshuffle.accounting.numerics.hockey_stick import ZERO, CountPair, DeltaInterval, hockey_stick
from segshuffle.accounting.numerics.laws import PoissonLaw
from segshuffle.accounting.numerics.ranges import (
    LARGEST_COUNT,
    check_epsilon,
    check_guarantee,
    check_integer,
    check_positive,
)
from segshuffle.accounting.numerics.search import log_excess, safe_edge
from segshuffle.errors import InfeasibleError, ParameterError

_SEARCH_RTOL = 2e-4
_SMALLEST_MEAN = 1e-9
_LARGEST_MEAN = 1e15
#: Largest mean mu: two counters together are then a count that the laws hold exactly.
_LARGEST_PER_CATEGORY = 0.5 * LARGEST_COUNT
_LARGEST_RESOLVED = 20.0


def histogram_delta(*, n_users: int, categories: int, blanket_per_user: float, epsilon: float) -> DeltaInterval:
    """Return a certified interval for the exact delta of the histogram at `epsilon`.

    Parameters
    ----------
    n_users, categories : int
        Users n >= 1 and categories K >= 1.
    blanket_per_user : float
        Expected blanket messages per user m > 0 (unused, and may be 0, if there is one category); n m/K is at most
        2e15.
    epsilon : float
        In [0, 300].

    Returns
    -------
    DeltaInterval
        lower <= delta <= upper.

    Raises
    ------
    ParameterError
        If a parameter is outside its range.
    """
    _check_sizes(n_users, categories)
    if categories < 2:
        return ZERO
    check_positive("blanket_per_user", blanket_per_user)
    check_epsilon(epsilon)
    if n_users > _LARGEST_PER_CATEGORY * categories / blanket_per_user:
        allowed = f"so small that there are at most {_LARGEST_PER_CATEGORY:g} blanket messages per category"
        raise ParameterError("blanket_per_user", blanket_per_user, allowed)
    return _delta(n_users * blanket_per_user / categories, epsilon)


def least_blanket(*, n_users: int, categories: int, epsilon: float, delta: float) -> float:
    """Return the least expected blanket per user m_p that makes the histogram (epsilon, delta)-DP, rounded up.

    Returns
    -------
    float
        m_p >= 0; its delta (upper end) is at most the target and within 0.1 % of it. 0 with one category.

    Raises
    ------
    ParameterError
        If a parameter is outside its range.
    InfeasibleError
        If even 1e15 blanket messages per category do not suffice.
    """
    _check_sizes(n_users, categories)
    check_guarantee(epsilon=epsilon, delta=delta)
    if categories < 2:
        return 0.0

    def excess(mean: float) -> float:
        return log_excess(_delta(mean, epsilon, _SEARCH_RTOL).upper, delta)

    # a larger blanket is the smaller one plus independent noise, so delta falls in mu and the search is monotone
    unsafe, safe = _SMALLEST_MEAN, 1.0
    while excess(safe) > 0:
        if safe == _LARGEST_MEAN:
            raise InfeasibleError(
                f"no blanket up to {_LARGEST_MEAN:g} messages per category gives ({epsilon:g}, {delta:g}): "
                "raise epsilon or delta."
            )
        unsafe, safe = safe, min(4.0 * safe, _LARGEST_MEAN)
    mean = safe_edge(excess, safe=safe, unsafe=unsafe)
    return mean * categories / n_users * (1 + 1e-15)  # the division must not round the guarantee away


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
    delta: float,
    kind: str,
    levels_epsilon: float,
    levels_delta: float,
    change_covered: bool = True,
    level_deltas: Sequence[float] = (),
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
    levels : sequence of float
        E_1 < ... < E_K.
    delta : float
        Of round 2, for every level.
    kind : str
        Kind of round 2's numbers.
    levels_epsilon, levels_delta : float
        Guarantee of round 1; +inf if the levels were shuffled only.
    change_covered : bool
        Whether round 2's copies were calibrated at s pairs of independent counters (or do not depend on the level). If
        not, nothing is claimed against a change of level: the number of messages may show it.
    level_deltas : sequence of float
        Of round 2, by level, if they differ.

    Returns
    -------
    tuple of UserGuarantee
        By level; sums are rounded up.
    """
    of_level = dict(zip(levels, level_deltas or [delta] * len(levels), strict=True))
    for level in levels:
        check_guarantee(epsilon=level, delta=of_level[level])

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


def _delta(mean: float, epsilon: float, rtol: float = 1e-4) -> DeltaInterval:
    """Enclose the divergence at blanket mean mu; the interval is wide above epsilon = 20.

    The divergence falls in epsilon, and never below exp(-mu), the probability under P that the second counter is 0, an
    event that Q excludes. Doubles do not tell tanh(epsilon/2), on which the threshold rests, from 1 beyond epsilon =
    38, and the interval widens before that.
    """
    pair = CountPair(1.0, math.inf, PoissonLaw(2.0 * mean))
    found = hockey_stick(pair, min(epsilon, _LARGEST_RESOLVED), rtol)
    if epsilon <= _LARGEST_RESOLVED:
        return found
    return DeltaInterval(math.exp(-mean) * (1.0 - 1e-15), found.upper)


def _check_sizes(n_users: int, categories: int) -> None:
    check_integer("n_users", n_users, 1)
    check_integer("categories", categories, 1)
