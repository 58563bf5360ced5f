r"""The published accountant of the segmented protocol, and a proven lower bound.

Source: "Segmented Private Data Aggregation in the Multi-message Shuffle Model", Theorem 3 (upper, as published) and
Proposition 1 (lower). One item at a time: with m expected blanket messages per user, the blanket is
``n_users * ceil(m)`` slots, each filled with probability gamma = m/ceil(m) by a uniform item. A user sends a held item
with probability ``sampling_rate``. The published reduction (p = +inf, beta = sampling_rate, q = domain_size *
sampling_rate) is a pair of counts with C ~ Binomial(n_users * ceil(m) - 1, 2 gamma/domain_size). A user with s items
counts as s virtual users, by group privacy: (eps', delta') per item gives (s eps', s exp(s eps') delta') per user.

Status: the reduction ignores that the total number of messages shows whether the changed item was sent, so its proof
has a gap; every number from it is labelled "published", not "upper". Proposition 1 is a proven lower bound for one
changed item.
"""

import math
from bisect import bisect_left
from typing import Any

from segshuffle.errors import InfeasibleError, ParameterError
from segshuffle.numerics.gaussian import gaussian_ratio
from segshuffle.numerics.hockey_stick import CountPair, hockey_stick
from segshuffle.numerics.intervals import DeltaInterval
from segshuffle.numerics.laws import BinomialLaw
from segshuffle.numerics.ranges import (
    LARGEST_BLANKET,
    LARGEST_COUNT,
    all_slots,
    check_guarantee,
    check_integer,
    check_sizes,
    check_within,
    remembered,
)
from segshuffle.numerics.search import Function, gaussian_excess, safe_edge, solve

#: Smallest sampling rate, and half of the smallest item-level delta.
SMALLEST_RATE = 1e-290
#: Relative widths of the intervals that a search asks for, far from the target and near it, and where it ends.
_COARSE, _FINE, _CLOSE = 0.02, 5e-5, 2e-4


def _pair(domain_size: int, n_users: int, blanket_per_user: float, sampling_rate: float, others: int) -> CountPair:
    check_sizes(domain_size=domain_size, n_users=n_users)
    check_within("sampling_rate", sampling_rate, SMALLEST_RATE, 1)
    slots, gamma = all_slots(n_users, blanket_per_user)
    return CountPair(sampling_rate, math.inf, BinomialLaw(slots + others, 2.0 * gamma / domain_size))


def published_item_delta(
    *,
    domain_size: int,
    n_users: int,
    blanket_per_user: float,
    sampling_rate: float,
    epsilon: float,
    rtol: float = 1e-4,
) -> DeltaInterval:
    """Return the item-level delta of Theorem 3 as published, as a certified interval.

    Parameters
    ----------
    domain_size, n_users : int
        Number of items d >= 2 and of users n >= 1.
    blanket_per_user : float
        Expected blanket messages per user m > 0.
    sampling_rate : float
        Probability lambda in [1e-290, 1] that a held item is sent.
    epsilon : float
        Item-level epsilon' in [0, 300].
    rtol : float
        Relative width asked of the interval.

    Returns
    -------
    DeltaInterval
        Encloses the published formula (kind: published).
    """
    pair = _pair(domain_size, n_users, blanket_per_user, sampling_rate, others=-1)
    return hockey_stick(pair, epsilon, rtol)


def proven_lower_item_delta(*, epsilon: float, rtol: float = 1e-4, **protocol: Any) -> DeltaInterval:
    """Return the item-level delta of Proposition 1 (kind: lower): no analysis can promise less than its lower end.

    Parameters are those of `published_item_delta`; the pair has all ``n_users * ceil(m)`` slots.
    """
    return hockey_stick(_pair(**protocol, others=0), epsilon, rtol)


def item_target(*, epsilon: float, delta: float, set_size: int) -> tuple[float, float]:
    """Return the item-level (epsilon', delta') that gives a group of `set_size` items the user-level (epsilon, delta).

    Group privacy as in Theorem 3: epsilon' = epsilon/s, delta' = delta/(s exp(epsilon)).
    """
    check_guarantee(epsilon=epsilon, delta=delta)
    check_integer("set_size", set_size, 1)
    item_delta = delta / (set_size * math.exp(epsilon))
    if item_delta < 2 * SMALLEST_RATE:
        least = 2 * SMALLEST_RATE * set_size * math.exp(epsilon)
        raise ParameterError("delta", delta, f"at least {least:.3g} for {set_size} items at epsilon = {epsilon:g}")
    return epsilon / set_size, item_delta


def exchange_target(*, epsilon: float, delta: float, pairs: int) -> tuple[float, float]:
    """Return the (epsilon, delta) that one exchanged item needs for group privacy over `pairs` items."""
    return (epsilon, delta) if pairs <= 1 else item_target(epsilon=epsilon, delta=delta, set_size=pairs)


@remembered  # plans of several splits ask for the same
def largest_sampling_rate(
    *, domain_size: int, set_size: int, n_users: int, blanket_per_user: float, epsilon: float, delta: float
) -> float:
    """Return the largest sampling rate that the published accountant allows at (epsilon, delta), rounded down.

    Returns
    -------
    float
        In (0, 1]; its item-level delta (upper end) is at most the target and, below 1, within 0.03 % of it.

    Raises
    ------
    ParameterError
        If a parameter is outside its range.
    """
    check_sizes(domain_size=domain_size, n_users=n_users, set_size=set_size)
    item = item_target(epsilon=epsilon, delta=delta, set_size=set_size)
    known = {"domain_size": domain_size, "n_users": n_users, "blanket_per_user": blanket_per_user}
    # delta(rate) <= rate: with probability 1 - rate the item is sent in neither dataset (and the interval has a width)
    limits = (math.log(item[1] * (1 - 2 * _FINE)), 0.0)
    # as if the counts were normal: the item moves their difference, of variance 2 n m/d, by twice the rate
    ratio = gaussian_ratio(epsilon=item[0], delta=item[1])
    start = math.log(ratio * math.sqrt(n_users * blanket_per_user / (2 * domain_size)))
    slope = -2 * math.log(item[1])
    return math.exp(
        solve(lambda log: _excess(*item, **known, sampling_rate=math.exp(log)), start, slope, limits, _CLOSE)
    )


@remembered
def least_blanket_per_user(*, domain_size: int, set_size: int, n_users: int, epsilon: float, delta: float) -> float:
    """Return the least blanket per user m that allows a sampling rate of 1 at (epsilon, delta), rounded up.

    The published delta falls in m while ceil(m) is fixed, and among integers m, but may jump up where ceil(m) grows
    (the law of the blanket widens); so the least feasible integer is found first, and then m on the piece below it.

    Raises
    ------
    InfeasibleError
        If even `LARGEST_BLANKET` messages per user, or `LARGEST_COUNT` in total, do not suffice.
    """
    check_sizes(domain_size=domain_size, n_users=n_users, set_size=set_size)
    item = item_target(epsilon=epsilon, delta=delta, set_size=set_size)
    known = {"domain_size": domain_size, "n_users": n_users, "sampling_rate": 1.0}

    def excess(blanket: float) -> float:
        return _excess(*item, **known, blanket_per_user=blanket)

    feasible = _least_integer(excess, min(int(LARGEST_BLANKET), LARGEST_COUNT // n_users))
    floor = max(feasible - 1, 1e-9 / n_users)
    just_above = floor * (1 + 1e-12) if feasible > 1 else floor
    return safe_edge(excess, safe=float(feasible), unsafe=just_above)


def _excess(epsilon: float, delta: float, **protocol: Any) -> float:
    """Return by how much the published item-level delta (upper end) exceeds `delta`; intervals are wide far from 0."""
    for rtol in (_COARSE, _FINE):
        excess = gaussian_excess(published_item_delta(**protocol, epsilon=epsilon, rtol=rtol).upper, delta, epsilon)
        if abs(excess) > 10 * _COARSE:
            break
    return excess


def _least_integer(excess: Function, largest: int) -> int:
    """Return the least integer m in [1, largest] with excess(m) <= 0: doubling, then bisection."""
    low, high = 0, 1
    while excess(high) > 0:
        if high == largest:
            advice = "collect from more users" if largest == LARGEST_BLANKET else "lower the number of items"
            raise InfeasibleError(
                f"no blanket up to {largest:g} messages per user meets the target: raise epsilon or delta, or {advice}."
            )
        low, high = high, min(2 * high, largest)
    between = range(low + 1, high)
    return low + 1 + bisect_left(between, True, key=lambda messages: excess(messages) <= 0)
