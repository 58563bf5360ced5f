r"""Joint and parallel composition of randomizers, and Poisson subsampling.

The theorems are those of "Decomposition-Based Optimal Bounds for Privacy Amplification via Shuffling". Its section 8
leaves open which neighbours are the worst under joint composition. For the blanket bound convex order gives the
answer, for randomizers that are *symmetric*: exchanging the two inputs exchanges the two ratios, mass for mass. A table
of your own that is not symmetric is refused here. Fix the ratios A, B of the other coordinates. A coordinate in which
the neighbours differ has the classes (u, v) and (v, u) with equal mass, by symmetry; one in which they agree has (u, u)
and (v, v):

    u A - e^eps v B, v A - e^eps u B:   mean (u + v)(A - e^eps B)/2, half distance |u - v| (A + e^eps B)/2,
    u A - e^eps u B, v A - e^eps v B:   the same mean,               half distance |u - v| |A - e^eps B|/2.

The first pair of values is wider, so G grows in convex order and E max(0, G_1 + ... + G_n) with it: the neighbours that
differ in every coordinate are the worst.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from segshuffle.accounting.single_message.randomizers.reference import (
    Randomizer,
    ReferenceClasses,
    Side,
    Tables,
    blanket_tables,
    distinct,
    merged,
)
from segshuffle.errors import ParameterError
from segshuffle.numerics.ranges import check_integer, check_kind, check_within

#: Largest sum of local epsilons of a joint composition: ratios e^sum, times e^epsilon and squared, stay finite.
LARGEST_SUM = 150.0
#: Most classes of a joint composition, and of two tables before equal ratios are merged: more takes too long.
LARGEST_CLASSES, _LARGEST_PRODUCT = 10_000, 2_000_000
#: Most tables of common inputs, times classes: each table gives a valid lower bound.
_LARGEST_WORK = 100_000


@dataclass(frozen=True, kw_only=True)
class _Composition(ABC):
    """One randomizer, or several that are symmetric in the two inputs; for others, pairs of inputs would be missing."""

    components: tuple[Randomizer, ...]

    def __post_init__(self) -> None:
        if not self.components:
            raise ParameterError("components", self.components, "a tuple of at least one randomizer")
        for part in self.components:
            check_kind("components", part, Randomizer)
            if len(self.components) > 1 and len(blanket_tables(part, "upper")) > 1:
                allowed = "symmetric in its inputs; for other randomizers, give the table of the whole composition"
                raise ParameterError("components", type(part).__name__, allowed)

    def blankets(self, side: Side) -> Tables:
        """Combine the components' classes."""
        return self._combined([blanket_tables(part, side) for part in self.components])

    def common_input(self, side: Side) -> Tables:
        """Combine the classes for choices of the components' common inputs; any choice gives a lower bound."""
        return self._combined([part.common_input(side) for part in self.components])

    @abstractmethod
    def _combined(self, options: list[Tables]) -> Tables:
        """Combine one table of every component, for every choice of them."""


@dataclass(frozen=True, kw_only=True)
class JointComposition(_Composition):
    """Every user sends the outputs of several independent randomizers, on several values, as one message.

    Parameters
    ----------
    components : tuple of Randomizer
        One, or several that are symmetric in the two inputs; their local epsilons sum to at most 150.
    differing : int or None
        Number of components, from the first on, in which the neighbours differ (for equal components: their Hamming
        distance). None for all of them, which is the worst for the blanket bound; fewer are for comparisons in figures.
    """

    differing: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        total = math.fsum(part.local_epsilon for part in self.components)
        if not total <= LARGEST_SUM:
            allowed = f"randomizers whose local epsilons sum to at most {LARGEST_SUM:g} (they sum to {total:g})"
            raise ParameterError("components", f"{len(self.components)} randomizers", allowed)
        if self.differing is not None:
            allowed = f"an integer in [1, {len(self.components)}], or None for all"
            check_integer("differing", self.differing, 1, allowed, most=len(self.components))

    @property
    def local_epsilon(self) -> float:
        """Sum over the components in which the neighbours differ, rounded up."""
        parts = [part.local_epsilon for part in self.components[: self.differing]]
        total = math.fsum(parts)
        return total if math.fsum([total, *(-part for part in parts)]) >= 0 else math.nextafter(total, math.inf)

    def _combined(self, options: list[Tables]) -> Tables:
        """Multiply one table of every component (Theorem 9), for as many choices as there is time for.

        The order of equal components makes no difference to the product, and equal products are kept once. So k equal
        binary components have 1 + k products, although there are 2^k choices.
        """
        products, *others = (
            tables if self.differing is None or place < self.differing else tuple(map(_unchanged, tables))
            for place, tables in enumerate(options)
        )
        for tables in others:
            products = distinct(_product(one, other) for one in products for other in tables)
            products = products[: max(_LARGEST_WORK // products[0].mass.size, 1)]
        return products


def _unchanged(table: ReferenceClasses) -> ReferenceClasses:
    """Return the classes of the pair (x0, x0): a coordinate in which the neighbours agree."""
    return merged([replace(table, log_second=table.log_first)])


def _product(one: ReferenceClasses, other: ReferenceClasses) -> ReferenceClasses:
    """Multiply two tables, of independent messages sent as one (Theorem 9); refuse what would take minutes."""
    parts = one.parts + other.parts
    if one.mass.size * other.mass.size <= _LARGEST_PRODUCT:
        pairs = ReferenceClasses(
            np.multiply.outer(one.mass, other.mass).ravel(),
            np.add.outer(one.log_first, other.log_first).ravel(),
            np.add.outer(one.log_second, other.log_second).ravel(),
            parts,
            one.entry_error + other.entry_error,
        )
        both = merged([pairs])
        if both.mass.size <= LARGEST_CLASSES:
            return both
    allowed = f"fewer, or more alike, so that their outputs have at most {LARGEST_CLASSES} classes together"
    raise ParameterError("components", f"{parts} randomizers", allowed)


@dataclass(frozen=True, kw_only=True)
class ParallelComposition(_Composition):
    """Every user applies one of several randomizers, chosen at random, and the message tells which.

    With one of them and a rate this is Poisson subsampling.

    Parameters
    ----------
    components : tuple of Randomizer
        One, or several that are symmetric in the two inputs.
    weights : tuple of float
        Probability of each component; positive, sum 1.
    rate : float
        Probability in (0, 1] that a user takes part; otherwise it sends a constant message.
    """

    weights: tuple[float, ...]
    rate: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_within("rate", self.rate, 0, 1, "(]")
        fits = len(self.weights) == len(self.components) and all(weight > 0 for weight in self.weights)
        if not fits or not abs(math.fsum(self.weights) - 1.0) <= 1e-15 * len(self.weights):
            raise ParameterError("weights", self.weights, f"{len(self.components)} positive numbers with sum 1")

    @property
    def local_epsilon(self) -> float:
        """Largest local epsilon of the components (Theorem 10)."""
        return max(part.local_epsilon for part in self.components)

    def _combined(self, options: list[Tables]) -> Tables:
        """Unite one table of every component, weighted (Theorem 11), for every choice of them."""
        absent = [] if self.rate == 1.0 else [ReferenceClasses(np.array([1.0 - self.rate]), np.zeros(1), np.zeros(1))]
        shares = [weight * self.rate for weight in self.weights]
        return tuple(
            merged(
                [*(replace(part, mass=part.mass * share) for part, share in zip(choice, shares, strict=True)), *absent]
            )
            for choice in product(*options)
        )
