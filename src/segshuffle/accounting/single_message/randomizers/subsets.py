"""k-ary randomized response, subset selection and the subset exponential mechanism (PrivSet).

Subset selection is PrivSet for sets of one item, and k-ary randomized response is subset selection with subsets of
one item; the latter has its own class because its classes are written down in one line.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, islice, product

import numpy as np

from segshuffle.accounting.numerics.ranges import check_integer
from segshuffle.accounting.single_message.randomizers.reference import (
    ReferenceClasses,
    Side,
    check_local_epsilon,
    table,
)
from segshuffle.arrays import FloatArray
from segshuffle.errors import ParameterError

_LARGEST_MATRIX = 4000


@dataclass(frozen=True, kw_only=True)
class KaryRandomizedResponse:
    """The true value with odds e^epsilon_0, every other one with odds 1.

    Parameters
    ----------
    local_epsilon : float
        Guarantee epsilon_0, in (0, 50].
    domain_size : int
        Number of values k >= 2.
    """

    local_epsilon: float
    domain_size: int

    def __post_init__(self) -> None:
        check_local_epsilon(self.local_epsilon)
        check_integer("domain_size", self.domain_size, 2)

    @property
    def odd_one(self) -> float:
        """Probability of one particular wrong value, 1/(e^epsilon_0 + k - 1)."""
        return 1 / (math.exp(self.local_epsilon) + (self.domain_size - 1))

    def blanket(self, side: Side) -> ReferenceClasses:
        """Uniform blanket, gamma = k/(e^epsilon_0 + k - 1): the two inputs' own values, and all others."""
        e, q = self.local_epsilon, self.odd_one
        return table([(q, e, 0.0), (q, 0.0, e), (q * (self.domain_size - 2), 0.0, 0.0)])

    def common_input(self, side: Side) -> tuple[ReferenceClasses, ...]:
        """All other users hold a third value; for k = 2, either of the two."""
        if self.domain_size == 2:
            return (self.blanket(side).relative_to_second(), self.blanket(side).relative_to_first())
        e, q = self.local_epsilon, self.odd_one
        own = math.exp(e) * q
        return (table([(q, e, 0.0), (q, 0.0, e), (own, -e, -e), (q * (self.domain_size - 3), 0.0, 0.0)]),)

    def matrix(self) -> FloatArray:
        """Full law, shape (k, k)."""
        k = self.domain_size
        if k > _LARGEST_MATRIX:
            raise ParameterError("domain_size", k, f"at most {_LARGEST_MATRIX} to list all outputs")
        return self.odd_one * np.where(np.eye(k, dtype=bool), math.exp(self.local_epsilon), 1.0)


@dataclass(frozen=True, kw_only=True)
class SubsetExponential:
    """PrivSet: a subset of `subset_size` items, with odds e^epsilon_0 if it meets the user's set and 1 if not.

    The blanket is uniform over all subsets, gamma = binom(d, k)/Omega. The pair of inputs has as few items in common
    as possible: more common items move equal masses from the classes (e, 1), (1, e) to (e, e), (1, 1), whose values of
    G = first - e^eps second have the same mean and lie closer together; so G only shrinks in convex order, and the
    bound with it. The disjoint pair is therefore proven to be the worst one of the blanket bound.

    Parameters
    ----------
    local_epsilon : float
        Guarantee epsilon_0, in (0, 50].
    domain_size : int
        Number of items d.
    set_size : int
        Number s of items that each user holds, 1 <= s < d.
    subset_size : int
        Number k of items in an output, 1 <= k <= d - s.
    """

    local_epsilon: float
    domain_size: int
    set_size: int
    subset_size: int

    def __post_init__(self) -> None:
        check_local_epsilon(self.local_epsilon)
        check_integer("domain_size", self.domain_size, 2)
        check_integer("set_size", self.set_size, 1)
        check_integer("subset_size", self.subset_size, 1)
        if self.set_size >= self.domain_size:
            raise ParameterError("set_size", self.set_size, f"below domain_size = {self.domain_size}")
        if self.subset_size > self.domain_size - self.set_size:
            allowed = f"at most domain_size - set_size = {self.domain_size - self.set_size}"
            raise ParameterError("subset_size", self.subset_size, allowed)

    @property
    def gamma(self) -> float:
        """Mass of the blanket: binom(d, k)/Omega."""
        shares = self._shares(1)
        return 1 / (shares[False,] + math.exp(self.local_epsilon) * shares[True,])

    def _shares(self, n_inputs: int) -> dict[tuple[bool, ...], float]:
        """Share of all outputs that meet exactly the flagged ones of the first `n_inputs` of x0, x1 and x*."""
        return _shares(self.domain_size, self.set_size, self.subset_size, n_inputs)

    def blanket(self, side: Side) -> ReferenceClasses:
        """Four classes: outputs that meet both inputs, only x0, only x1, none."""
        gamma, e = self.gamma, self.local_epsilon
        return table((gamma * share, e * m[0], e * m[1]) for m, share in self._shares(2).items())

    def common_input(self, side: Side) -> tuple[ReferenceClasses, ...]:
        """All other users hold a third set (any x* gives a valid lower bound)."""
        gamma, e = self.gamma, self.local_epsilon
        return (
            table(
                (gamma * share * math.exp(e * m[2]), e * (m[0] - m[2]), e * (m[1] - m[2]))
                for m, share in self._shares(3).items()
            ),
        )

    def matrix(self) -> FloatArray:
        """Full law, shape (binom(d, s), binom(d, k)), inputs and outputs in lexicographic order."""
        d, s, k = self.domain_size, self.set_size, self.subset_size
        if max(math.comb(d, s), math.comb(d, k)) > _LARGEST_MATRIX:
            raise ParameterError("domain_size", d, f"small enough for at most {_LARGEST_MATRIX} inputs and outputs")
        inputs, outputs = (np.zeros((math.comb(d, size), d)) for size in (s, k))
        for rows, size in ((inputs, s), (outputs, k)):
            for row, items in zip(rows, combinations(range(d), size), strict=True):
                row[list(items)] = 1.0
        odds = np.where(inputs @ outputs.T > 0, math.exp(self.local_epsilon), 1.0)
        return odds * (self.gamma / math.comb(d, k))


def _three_inputs(domain_size: int, set_size: int) -> tuple[frozenset[int], frozenset[int], frozenset[int]]:
    """x0, x1 and x*, with as few items in common as the domain allows."""
    d, s = domain_size, set_size
    first = range(s)
    second = range(s, 2 * s) if d >= 2 * s else range(d - s, d)
    outside = islice((item for item in range(d) if item not in first and item not in second), s)
    shared = [item for pair in zip(first, second, strict=True) for item in pair]
    third = list(dict.fromkeys([*outside, *shared]))[:s]
    return frozenset(first), frozenset(second), frozenset(third)


@lru_cache(maxsize=64)
def _shares(domain_size: int, set_size: int, subset_size: int, n_inputs: int) -> dict[tuple[bool, ...], float]:
    """Share of all outputs that meet exactly the flagged inputs, for every pattern: exact integers, rounded once.

    An output misses j given items with probability binom(d - j, k)/binom(d, k) = (d - k)_j/(d)_j = (d - j)_k/(d)_k,
    (n)_j the falling factorial: the shorter product keeps the integers small where k is large.
    """
    d, k = domain_size, subset_size
    inputs = _three_inputs(domain_size, set_size)[:n_inputs]
    most = len(frozenset[int]().union(*inputs))
    if most < k:
        whole = math.perm(d, most)
        missing = [math.perm(d - k, j) * math.perm(d - j, most - j) for j in _sizes(inputs)]
    else:
        whole = math.perm(d, k)
        missing = [math.perm(d - j, k) for j in _sizes(inputs)]
    missed_by = dict(zip(_sizes(inputs), missing, strict=True))
    found = {}
    for meets in product((False, True), repeat=n_inputs):
        missed = frozenset[int]().union(*(x for x, met in zip(inputs, meets, strict=True) if not met))
        hit = [x for x, met in zip(inputs, meets, strict=True) if met]
        count = 0
        for size in range(len(hit) + 1):
            for chosen in combinations(hit, size):
                count += (-1) ** size * missed_by[len(missed.union(*chosen))]
        found[meets] = count / whole
    return found


def _sizes(inputs: tuple[frozenset[int], ...]) -> list[int]:
    """Sizes of all unions of the inputs, each once."""
    unions = (frozenset[int]().union(*chosen) for n in range(len(inputs) + 1) for chosen in combinations(inputs, n))
    return sorted({len(union) for union in unions})


@dataclass(frozen=True, kw_only=True)
class SubsetSelection:
    """A subset of `subset_size` values, with odds e^epsilon_0 if it contains the user's value and 1 if not.

    Parameters
    ----------
    local_epsilon : float
        Guarantee epsilon_0, in (0, 50].
    domain_size : int
        Number of values d >= 2.
    subset_size : int
        Number of values in an output, in [1, d - 1].
    """

    local_epsilon: float
    domain_size: int
    subset_size: int

    def __post_init__(self) -> None:
        self._as_sets()

    def _as_sets(self) -> SubsetExponential:
        return SubsetExponential(
            local_epsilon=self.local_epsilon,
            domain_size=self.domain_size,
            set_size=1,
            subset_size=self.subset_size,
        )

    def blanket(self, side: Side) -> ReferenceClasses:
        """As for sets of one item."""
        return self._as_sets().blanket(side)

    def common_input(self, side: Side) -> tuple[ReferenceClasses, ...]:
        """All other users hold a third value; for d = 2, x0."""
        return self._as_sets().common_input(side)

    def matrix(self) -> FloatArray:
        """Full law, shape (d, binom(d, k))."""
        return self._as_sets().matrix()
