"""User-level numbers of the published protocol in the full view: by group privacy, and a proven lower bound."""

import math
from collections.abc import Callable

import numpy as np

from segshuffle.accounting.numerics.laws import BinomialLaw, binomial_tail, round_off
from segshuffle.accounting.numerics.ranges import (
    LARGEST_BLANKET,
    LARGEST_EPSILON,
    check_guarantee,
    check_sizes,
    check_within,
)
from segshuffle.accounting.numerics.search import safe_edge
from segshuffle.errors import ParameterError

#: Relative room for the round-off of sums.
_ROUND_OFF = 1e-9
#: Error of the blanket's mass in a block.
_MASS_ERROR = 1e-12
_LARGEST_EPSILON = 100.0
_EPSILON_RTOL = 2e-5


def group_delta(item_delta: float, *, epsilon: float, set_size: int) -> float:
    """User-level delta at `epsilon` by the paper's group privacy, s e^epsilon item_delta(epsilon/s)."""
    return set_size * math.exp(epsilon) * item_delta


def group_epsilon(
    item_delta: Callable[[float], float], *, set_size: int, delta: float, claimed: float, excess: float | None = None
) -> float:
    """User-level epsilon that group privacy gives at `delta`: the root of s e^eps delta'(eps/s) = delta, rounded up.

    Parameters
    ----------
    item_delta : callable
        Item-level delta' (upper end) of an item-level epsilon'.
    set_size : int
        Items per user s.
    delta : float
        User-level target.
    claimed : float
        Where the search starts: the epsilon that is claimed.
    excess : float, optional
        log(s e^claimed delta'(claimed/s)/delta), if known.

    Returns
    -------
    float
        A point at which delta was found to be met, about 2e-5 (relative) above the first root found from `claimed` at
        most; +inf if there is none up to 100, or one step beyond.
    """
    check_guarantee(epsilon=claimed, delta=delta)

    known: dict[float, float] = {} if excess is None else {claimed: excess}

    def miss(epsilon: float) -> float:
        if epsilon not in known:
            value = group_delta(item_delta(epsilon / set_size), epsilon=epsilon, set_size=set_size)
            known[epsilon] = math.log(max(value, 1e-290) / delta)
        return known[epsilon]

    start = miss(claimed)
    if start == 0.0:
        return claimed
    # the log of delta falls ever faster in epsilon: a short step, then longer ones, until the sign changes
    factor = 1.0 + math.copysign(min(0.001 + 0.06 * abs(start), 0.4), start)
    near, far = claimed, claimed * factor
    while miss(far) * start > 0:
        near, far = far, far * factor
        if far > _LARGEST_EPSILON:
            return math.inf
        if far < 1e-3 * claimed:
            return near
    low, high = sorted((near, far))
    slope = (known[low] - known[high]) / math.log(high / low)
    return safe_edge(miss, safe=high, unsafe=low, tolerance=_EPSILON_RTOL * slope)


def worst_split_user_lower(
    *, domain_size: int, set_size: int, n_users: int, blanket_per_user: float, sampling_rate: float, epsilon: float
) -> float:
    """Proven lower bound of the *user-level* delta when everyone else sends every item and m is an integer.

    The neighbouring users hold disjoint sets, nobody else holds any of the 2s items (needs d >= 3s). The total then
    shows how many items K ~ Binomial(s, lambda) the victim sent, and the test is whether the count on the one set
    exceeds a threshold that depends on K and on the count on both: any threshold gives a lower bound.

    Parameters
    ----------
    blanket_per_user : float
        Blanket messages per user, an integer: all of them certain.
    sampling_rate : float
        Probability lambda in (0, 1] that the victim sends an item.
    epsilon : float
        User-level epsilon in (0, 300].

    Returns
    -------
    float
        delta(epsilon) of the protocol is at least this.
    """
    check_sizes(domain_size=domain_size, n_users=n_users, set_size=set_size)
    if domain_size < 3 * set_size:
        raise ParameterError("domain_size", domain_size, f"at least 3 set_size = {3 * set_size}")
    allowed = "an integer >= 1: the total must show silence"
    check_within("blanket_per_user", blanket_per_user, 1, LARGEST_BLANKET, allowed=allowed)
    if blanket_per_user % 1:
        raise ParameterError("blanket_per_user", blanket_per_user, allowed)
    check_within("sampling_rate", sampling_rate, 0, 1, "(]")
    check_within("epsilon", epsilon, 0, LARGEST_EPSILON, "(]")
    law = BinomialLaw(n_users * int(blanket_per_user), 2.0 * set_size / domain_size)
    # the conditional divergence falls in the blanket's count (more fair coins), so a block counts at its largest one
    marks = np.unique(np.round(law.mean + law.std * np.arange(-7.0, 7.05, 0.1)))
    marks = marks[(marks >= 0) & (marks <= law.largest)]
    mass = np.diff(law.at_most(marks)) - _MASS_ERROR
    count = marks[1:]
    total = 0.0
    for spoken in range(1, set_size + 1):
        centre = 0.5 * (count * (1.0 + math.tanh(0.5 * epsilon / spoken)) + spoken)
        best = np.zeros_like(count)
        for offset in (-1.0, 0.0, 1.0, 2.0):
            threshold = np.floor(centre) + offset
            hit, miss = (binomial_tail(count, edge, 0.5) for edge in (threshold - spoken, threshold))
            miss = math.exp(epsilon) * miss
            # each tail has its round-off, which the difference keeps
            best = np.maximum(best, hit - miss - round_off(count) * (hit + miss))
        weight = math.comb(set_size, spoken) * sampling_rate**spoken * (1.0 - sampling_rate) ** (set_size - spoken)
        total += weight * float(np.maximum(mass, 0.0) @ best)
    return total * (1.0 - _ROUND_OFF)
