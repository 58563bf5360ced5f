r"""Variation-ratio reduction for single-message randomizers, as published.

Source: "Privacy Amplification via Shuffling: Unified, Simplified, and Tightened", Theorems 4.7 and 4.8. A randomizer
with the (p, beta)-variation property and the q-ratio property is reduced to a pair of counts with
alpha = beta/(p - 1), r = alpha p/q, C ~ Binomial(n - 1, 2 r), heads = p alpha, tails = alpha.

Status: the reduction mixes the victim's left-over with the left-over of the other users; for single-message
randomizers it is not an upper bound in general (exact counterexamples exist). Numbers are labelled "published".
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from segshuffle.accounting.calibrate import log_excess, safe_edge
from segshuffle.accounting.hockey_stick import CountPair, DeltaInterval, hockey_stick
from segshuffle.accounting.laws import BinomialLaw
from segshuffle.accounting.segmented import check_guarantee, check_sizes
from segshuffle.errors import ParameterError

#: Largest local epsilon that a search proposes.
LARGEST_LOCAL_EPSILON = 50.0
_SEARCH_RTOL = 2e-4


@dataclass(frozen=True)
class VariationRatio:
    """Mixture weights of a randomizer: the victim's own (heads, tails) and a clone's (2 clone in all).

    Parameters
    ----------
    heads : float
        p alpha: weight of the component that tells the victim's true input.
    tails : float
        alpha: weight of the component that tells the other input.
    clone : float
        r: probability that another user imitates one given component of the two, in (0, 1/2].
    """

    heads: float
    tails: float
    clone: float

    def pair(self, n_users: int) -> CountPair:
        """Pair of counts for n_users >= 1 users (the victim and n_users - 1 others)."""
        return CountPair(self.heads, self.tails, BinomialLaw(n_users - 1, 2.0 * self.clone))


def subset_exponential(*, domain_size: int, set_size: int, subset_size: int, local_epsilon: float) -> VariationRatio:
    """Parameters of the subset exponential randomizer (PrivSet) at p = q = exp(local_epsilon).

    A k-subset z is reported with probability proportional to exp(local_epsilon) if it meets the user's set, else 1.
    alpha is the probability of one z that meets x' but not x, summed: the total variation beta over p - 1.

    Parameters
    ----------
    domain_size, set_size, subset_size : int
        d, s and k with 1 <= s < d and 1 <= k <= d - s.
    local_epsilon : float
        Local privacy parameter, in (0, 50].
    """
    check_subset(domain_size=domain_size, set_size=set_size, subset_size=subset_size)
    if not 0.0 < local_epsilon <= LARGEST_LOCAL_EPSILON:
        raise ParameterError("local_epsilon", local_epsilon, f"in (0, {LARGEST_LOCAL_EPSILON:g}]")
    # two sets of s items differ in at most min(s, d - s) of them
    changed = min(set_size, domain_size - set_size)
    total = math.comb(domain_size, subset_size)
    missing_one = math.comb(domain_size - set_size, subset_size) / total
    missing_both = math.comb(domain_size - set_size - changed, subset_size) / total
    gain = math.exp(local_epsilon)
    alpha = (missing_one - missing_both) / (gain * (1.0 - missing_one) + missing_one)
    return VariationRatio(heads=min(gain * alpha, 1.0), tails=alpha, clone=alpha)


def check_subset(*, domain_size: int, set_size: int, subset_size: int) -> None:
    """Refuse sizes for which the subset exponential randomizer is not defined or always meets the set."""
    check_sizes(domain_size=domain_size, n_users=1, set_size=set_size)
    if set_size >= domain_size:
        raise ParameterError("set_size", set_size, f"less than domain_size = {domain_size}")
    if not 1 <= subset_size <= domain_size - set_size:
        raise ParameterError("subset_size", subset_size, f"in [1, {domain_size - set_size}] (domain_size - set_size)")


def published_delta(*, randomizer: VariationRatio, n_users: int, epsilon: float, rtol: float = 1e-4) -> DeltaInterval:
    """Encloses the published delta of shuffled single messages at `epsilon` (kind: published)."""
    if n_users < 1:
        raise ParameterError("n_users", n_users, "an integer >= 1")
    return hockey_stick(pair=randomizer.pair(n_users), epsilon=epsilon, rtol=rtol)


def largest_local_epsilon(
    *, domain_size: int, set_size: int, subset_size: int, n_users: int, epsilon: float, delta: float
) -> float:
    """Largest local epsilon of the subset exponential randomizer that shuffles to (epsilon, delta), rounded down.

    Never below `epsilon`: local privacy is not lost by shuffling.
    """
    check_guarantee(epsilon=epsilon, delta=delta)

    def excess(local_epsilon: float) -> float:
        randomizer = subset_exponential(
            domain_size=domain_size, set_size=set_size, subset_size=subset_size, local_epsilon=local_epsilon
        )
        interval = published_delta(randomizer=randomizer, n_users=n_users, epsilon=epsilon, rtol=_SEARCH_RTOL)
        return log_excess(interval.upper, delta)

    # at local_epsilon = epsilon the divergence is 0 up to round-off, which log_excess must not see
    if excess(epsilon * (1 + 1e-6)) > 0:
        return epsilon
    return safe_edge(excess, safe=epsilon * (1 + 1e-6), unsafe=LARGEST_LOCAL_EPSILON)
