r"""Joint and parallel composition of randomizers, and Poisson subsampling.

Which neighbours are the worst under joint composition is left open in section 8 of the paper. For the blanket bound it
follows from convex order, for randomizers that are *symmetric*: exchanging the two inputs exchanges the two ratios,
mass for mass. A table of your own may not be symmetric, and is refused here. Fix the ratios A, B of the other
coordinates. A coordinate in which the neighbours differ has the classes (u, v) and (v, u) with equal mass, by symmetry;
one in which they agree has (u, u) and (v, v):

    u A - e^eps v B, v A - e^eps u B:   mean (u + v)(A - e^eps B)/2, half distance |u - v| (A + e^eps B)/2,
    u A - e^eps u B, v A - e^eps v B:   the same mean,               half distance |u - v| |A - e^eps B|/2.

The first pair of values is wider, so G grows in convex order and E max(0, G_1 + ... + G_n) with it: the neighbours that
differ in every coordinate are the worst.
"""

import math
from dataclasses import dataclass, replace
from functools import reduce
from itertools import combinations_with_replacement, product

import numpy as np

from segshuffle.accounting.numerics.ranges import check_integer, check_kind, check_within
from segshuffle.accounting.single_message.randomizers.reference import (
    Pairwise,
    Randomizer,
    ReferenceClasses,
    Side,
    Tables,
    merged,
)
from segshuffle.errors import ParameterError

#: Largest sum of local epsilons of a joint composition: ratios e^sum, times e^epsilon and squared, stay finite.
LARGEST_SUM = 150.0
#: Most classes of a joint composition, and of two tables before equal ratios are merged: what seconds are enough for.
LARGEST_CLASSES, _LARGEST_PRODUCT = 10_000, 2_000_000
#: Most tables of common inputs, times classes.
_LARGEST_WORK = 100_000


def _check_components(components: tuple[Randomizer, ...]) -> None:
    """Refuse no components, and those whose pairs of inputs differ: one table per component would leave pairs out."""
    if not components:
        raise ParameterError("components", components, "a tuple of at least one randomizer")
    for part in components:
        check_kind("components", part, Randomizer)
        if isinstance(part, Pairwise):
            allowed = "symmetric randomizers: make one table of the whole composition, and give it to matrix_randomizer"
            raise ParameterError("components", type(part).__name__, allowed)


@dataclass(frozen=True, kw_only=True)
class JointComposition:
    """Every user sends the outputs of several independent randomizers, on several values, as one message.

    Parameters
    ----------
    components : tuple of Randomizer
        At least one, all symmetric in the two inputs; their local epsilons sum to at most 150.
    differing : int or None
        Number of components, from the first on, in which the neighbours differ (for equal components: their Hamming
        distance). None for all of them, which is the worst for the blanket bound; fewer serve to draw the comparison.
    """

    components: tuple[Randomizer, ...]
    differing: int | None = None

    def __post_init__(self) -> None:
        _check_components(self.components)
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

    def blanket(self, side: Side) -> ReferenceClasses:
        """Return the Cartesian product of the components' classes (Theorem 9)."""
        return self._product([part.blanket(side) for part in self.components])

    def common_input(self, side: Side) -> Tables:
        """Return the Cartesian product for every choice of the components' common inputs; equal components share it.

        The order of equal components makes no difference to the product. So there is one table for every multiset of
        choices: 1 + k for k binary components, although there are 2^k choices.
        """
        options = [
            list(combinations_with_replacement(part.common_input(side), count)) for part, count in self._repeated()
        ]
        choices = math.prod(map(len, options))
        found = []
        for choice in product(*options):
            found.append(self._product([table for chosen in choice for table in chosen]))
            if choices * found[0].mass.size > _LARGEST_WORK:
                raise _too_many(f"{len(self.components)} randomizers", choices * found[0].mass.size, _LARGEST_WORK)
        return tuple(found)

    def _repeated(self) -> list[tuple[Randomizer, int]]:
        """Return the distinct components and how often they occur, those in which the neighbours differ first."""
        kept = len(self.components) if self.differing is None else self.differing
        found: list[tuple[Randomizer, int]] = []
        for parts in (self.components[:kept], self.components[kept:]):
            found += [(part, parts.count(part)) for i, part in enumerate(parts) if part not in parts[:i]]
        return found

    def _product(self, tables: list[ReferenceClasses]) -> ReferenceClasses:
        kept = len(tables) if self.differing is None else self.differing
        return reduce(_bounded_product, [*tables[:kept], *map(_unchanged, tables[kept:])])


def _unchanged(table: ReferenceClasses) -> ReferenceClasses:
    """Return the classes of the pair (x0, x0): a coordinate in which the neighbours agree."""
    return merged([replace(table, log_second=table.log_first)])


def _bounded_product(one: ReferenceClasses, other: ReferenceClasses) -> ReferenceClasses:
    """Multiply two tables, of independent messages sent as one (Theorem 9); refuse what would take minutes."""
    pairs = one.mass.size * other.mass.size
    if pairs > _LARGEST_PRODUCT:
        raise _too_many(f"{one.parts + other.parts} randomizers", pairs, _LARGEST_PRODUCT)
    product_table = ReferenceClasses(
        np.multiply.outer(one.mass, other.mass).ravel(),
        np.add.outer(one.log_first, other.log_first).ravel(),
        np.add.outer(one.log_second, other.log_second).ravel(),
        one.parts + other.parts,
        one.entry_error + other.entry_error,
    )
    both = merged([product_table])
    if both.mass.size > LARGEST_CLASSES:
        raise _too_many(f"{both.parts} randomizers", both.mass.size, LARGEST_CLASSES)
    return both


def _too_many(parts: str, classes: int, most: int) -> ParameterError:
    allowed = f"fewer, or more alike, so that their outputs have at most {most} classes together (they have {classes})"
    return ParameterError("components", parts, allowed)


@dataclass(frozen=True, kw_only=True)
class ParallelComposition:
    """Every user applies one of several randomizers, chosen at random, and the message tells which.

    With one of them and a rate this is Poisson subsampling (a table has `subsampled` of its own).

    Parameters
    ----------
    components : tuple of Randomizer
        At least one, all symmetric in the two inputs.
    weights : tuple of float
        Probability of each component; positive, sum 1.
    rate : float
        Probability in (0, 1] that a user takes part; otherwise it sends a constant message.
    """

    components: tuple[Randomizer, ...]
    weights: tuple[float, ...]
    rate: float = 1.0

    def __post_init__(self) -> None:
        _check_components(self.components)
        check_within("rate", self.rate, 0, 1, "(]")
        fits = len(self.weights) == len(self.components) and all(weight > 0 for weight in self.weights)
        if not fits or not abs(math.fsum(self.weights) - 1.0) <= 1e-15 * len(self.weights):
            raise ParameterError("weights", self.weights, f"{len(self.components)} positive numbers with sum 1")

    @property
    def local_epsilon(self) -> float:
        """Largest local epsilon of the components (Theorem 10)."""
        return max(part.local_epsilon for part in self.components)

    def blanket(self, side: Side) -> ReferenceClasses:
        """Return the weighted union of the components' classes (Theorem 11)."""
        return self._union([part.blanket(side) for part in self.components])

    def common_input(self, side: Side) -> Tables:
        """Return weighted unions, for every choice of the components' common inputs."""
        choices = product(*(part.common_input(side) for part in self.components))
        return tuple(self._union(list(choice)) for choice in choices)

    def _union(self, tables: list[ReferenceClasses]) -> ReferenceClasses:
        sent = zip(tables, self.weights, strict=True)
        absent = ReferenceClasses(np.array([1.0 - self.rate]), np.zeros(1), np.zeros(1))
        parts = [replace(part, mass=part.mass * (weight * self.rate)) for part, weight in sent]
        return merged(parts if self.rate == 1.0 else [*parts, absent])
