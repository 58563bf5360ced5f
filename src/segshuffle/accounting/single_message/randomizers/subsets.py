"""The subset exponential mechanism (PrivSet), subset selection and k-ary randomized response.

Subset selection is PrivSet for sets of one item, and k-ary randomized response is subset selection with subsets of
one item.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from itertools import combinations, islice, product

from segshuffle.accounting.single_message.randomizers.reference import Favouring, Flagged, Items
from segshuffle.numerics.ranges import check_integer


@dataclass(frozen=True, kw_only=True)
class SubsetExponential(Favouring):
    """PrivSet: a subset of `subset_size` items, with odds e^epsilon_0 if it meets the user's set and 1 if not.

    The blanket is uniform over all subsets, gamma = binom(d, k)/Omega with Omega the sum of all odds. The pair of
    inputs has as few items in common as possible. More common items move equal masses from the classes with the ratios
    (e, 1) and (1, e) to those with (e, e) and (1, 1), where e = e^epsilon_0. There the values of G = first - e^eps
    second have the same mean and lie closer together. So G shrinks in convex order, and the bound with it. The pair is
    therefore proven to be the worst one for the blanket bound.

    Parameters
    ----------
    local_epsilon : float
        Guarantee epsilon_0, in [1e-12, 50].
    domain_size : int
        Number of items d.
    set_size : int
        Number s of items that each user holds, 1 <= s < d.
    subset_size : int
        Number k of items in an output, 1 <= k <= d - s.
    """

    domain_size: int = field()
    set_size: int
    subset_size: int

    def __post_init__(self) -> None:
        super().__post_init__()
        check_subset(domain_size=self.domain_size, set_size=self.set_size, subset_size=self.subset_size)

    @property
    def total_variation(self) -> float:
        """Total variation of the laws of two sets with as few items in common as possible."""
        return math.expm1(self.local_epsilon) * self._base(self.three_inputs[:2])[1, 0]

    @property
    def three_inputs(self) -> Sequence[Items]:
        """Sets x0, x1 and x*, with as few items in common as the domain allows."""
        return _three_inputs(self.domain_size, self.set_size)

    def _base(self, inputs: Sequence[Items]) -> Flagged:
        alone, shares = (_shares(self.domain_size, self.subset_size, tuple(some)) for some in (inputs[:1], inputs))
        gamma = 1 / (alone[0,] + math.exp(self.local_epsilon) * alone[1,])
        return {meets: gamma * share for meets, share in shares.items()}


def check_subset(*, domain_size: int, set_size: int, subset_size: int) -> None:
    """Refuse sizes for which the mechanism is not defined, or every output meets the set."""
    check_integer("domain_size", domain_size, 2)
    allowed = f"an integer >= 1, less than domain_size = {domain_size}"
    check_integer("set_size", set_size, 1, allowed, most=domain_size - 1)
    most = domain_size - set_size
    check_integer("subset_size", subset_size, 1, f"an integer in [1, {most}] (domain_size - set_size)", most=most)


@lru_cache(maxsize=64)
def _three_inputs(domain_size: int, set_size: int) -> tuple[Items, Items, Items]:
    """Choose x0, x1 and x*, with as few items in common as the domain allows."""
    d, s = domain_size, set_size
    first = range(s)
    second = range(s, 2 * s) if d >= 2 * s else range(d - s, d)
    outside = islice((item for item in range(d) if item not in first and item not in second), s)
    shared = [item for pair in zip(first, second, strict=True) for item in pair]
    return tuple(first), tuple(second), tuple(dict.fromkeys([*outside, *shared]))[:s]


@lru_cache(maxsize=64)
def _shares(domain_size: int, subset_size: int, inputs: tuple[Items, ...]) -> Flagged:
    """Return the share of all outputs that meet exactly the flagged inputs: exact integers, rounded once.

    An output misses j given items with probability binom(d - j, k)/binom(d, k) = (d - k)_j/(d)_j = (d - j)_k/(d)_k,
    (n)_j the falling factorial: the shorter product keeps the integers small where k is large.
    """
    d, k = domain_size, subset_size
    most = len(set().union(*inputs))
    whole = math.perm(d, min(most, k))

    @cache
    def missing(size: int) -> int:
        """Count, in units of 1/whole, the outputs that miss `size` given items."""
        return math.perm(d - k, size) * math.perm(d - size, most - size) if most < k else math.perm(d - size, k)

    shares = {}
    for meets in product((0, 1), repeat=len(inputs)):
        missed, hit = ([x for x, met in zip(inputs, meets, strict=True) if met == flag] for flag in (0, 1))
        # inclusion and exclusion: all of `missed`, and none of `hit`, is missed
        terms = (
            (-1) ** size * missing(len(set().union(*missed, *chosen)))
            for size in range(len(hit) + 1)
            for chosen in combinations(hit, size)
        )
        shares[meets] = sum(terms) / whole
    return shares


@dataclass(frozen=True, kw_only=True)
class SubsetSelection(SubsetExponential):
    """A subset of `subset_size` values, with odds e^epsilon_0 if it contains the user's value and 1 if not.

    Parameters
    ----------
    local_epsilon : float
        Guarantee epsilon_0, in [1e-12, 50].
    domain_size : int
        Number of values d >= 2.
    subset_size : int
        Number of values in an output, in [1, d - 1].
    """

    set_size: int = field(default=1, init=False)


@dataclass(frozen=True, kw_only=True)
class KaryRandomizedResponse(SubsetSelection):
    """The true value with odds e^epsilon_0, every other one with odds 1.

    Parameters
    ----------
    local_epsilon : float
        Guarantee epsilon_0, in [1e-12, 50].
    domain_size : int
        Number of values k >= 2.
    """

    subset_size: int = field(default=1, init=False)
