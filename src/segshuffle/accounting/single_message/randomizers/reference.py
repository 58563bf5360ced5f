r"""Classes of outputs with equal likelihood ratios of a pair of inputs to a reference law.

The accountant of "Decomposition-Based Optimal Bounds for Privacy Amplification via Shuffling" sees a randomizer R only
through the triples (reference mass, R_x0/reference, R_x1/reference), grouped by equal ratios (its Theorem 7). Two
references are used:

* the blanket gamma * omega(y) = inf_x R_x(y), of total mass gamma <= 1; the rest 1 - gamma is the left-over, which
  carries no mass of the victim (upper bound);
* R_{x*}, the law of every other user's message when all of them hold x* (lower bound); nothing is left over.

Ratios are kept as logarithms: for a local epsilon of 1e-6 the differences of ratios keep all their digits.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal, Protocol, runtime_checkable

import numpy as np

from segshuffle.arrays import FloatArray
from segshuffle.numerics.ranges import SMALLEST_LOG_RATIO, check_integer, check_local

Side = Literal["lower", "upper"]
"""Which way a continuous output is cut into classes: divergences may only grow ("upper") or only shrink ("lower")."""

MASS_ERROR = 2e-14
"""Bound on the relative error of the mass of a class: a few exponentials of numbers up to 50, a few sums."""
LOG_RATIO_ERROR = 2e-15
"""Bound on the error of every log ratio, relative to the largest one of its table: sums of local epsilons round, and
classes whose ratios agree to half of this are merged."""
ALIKE = 1e-13
"""Difference up to which the logarithms of two tables count as equal."""


@dataclass(frozen=True, eq=False)
class ReferenceClasses:
    """Classes of outputs with equal ratios to a reference law.

    Parameters
    ----------
    mass : ndarray, shape (m,)
        Mass of each class under the reference (gamma * omega, or R_{x*}); nonnegative, sum gamma <= 1.
    log_first, log_second : ndarray, shape (m,)
        Logarithms of R_x0/reference and of R_x1/reference on each class.
    parts : int
        How many tables were multiplied to make this one; each adds its own errors.
    entry_error : float
        Further relative error of the probabilities, if the law was read from a file.
    """

    mass: FloatArray
    log_first: FloatArray
    log_second: FloatArray
    parts: int = 1
    entry_error: float = 0.0

    @property
    def mass_error(self) -> float:
        """Bound on the relative error of every mass."""
        return MASS_ERROR * self.parts + self.entry_error

    @property
    def log_error(self) -> float:
        """Bound on the error of every log ratio: each product rounds, and merges once more."""
        scale = float(np.max(np.abs([self.log_first, self.log_second])))
        return LOG_RATIO_ERROR * self.parts * scale + 2.0 * self.entry_error * (1.0 + 2.0 * self.entry_error)

    def own_inputs(self) -> Tables:
        """Return the classes if all other users hold one of the victim's own two inputs: x1, then x0."""
        return tuple(
            replace(
                self,
                mass=self.mass * np.exp(own),
                log_first=self.log_first - own,
                log_second=self.log_second - own,
            )
            for own in (self.log_second, self.log_first)
        )


Tables = tuple[ReferenceClasses, ...]
"""One for every pair of inputs, or for every x*, that a bound looks at."""
Items = tuple[int, ...]
"""What a user holds: one item, or a set; for Hadamard response the number of a row."""
Flagged = dict[tuple[int, ...], float]
"""A number for each set of inputs that an output may favour; the set is written as 1 for each member, 0 for others."""


@runtime_checkable
class Randomizer(Protocol):
    """What the accountants ask of a local randomizer. It must never change, because its tables are cached."""

    def __hash__(self) -> int:
        """Return a hash, by which tables are cached."""

    @property
    def local_epsilon(self) -> float:
        """The randomizer's own guarantee epsilon_0 (pure)."""

    def blankets(self, side: Side) -> Tables:
        """Return classes against the blanket: for the worst pair of inputs, or for every pair that may be the worst."""

    def common_input(self, side: Side) -> Tables:
        """Return classes against R_{x*}, one table for every x* that the lower bound tries."""


# a figure asks several accountants about the same few randomizers, one accountant after the other
@lru_cache(maxsize=64)
def blanket_tables(randomizer: Randomizer, side: Side) -> Tables:
    """Return the tables whose largest divergence is the upper bound."""
    return randomizer.blankets(side)


@lru_cache(maxsize=64)
def dataset_tables(randomizer: Randomizer, side: Side) -> Tables:
    """Return the tables whose largest divergence is the lower bound; the victim's own inputs are tried as x*, too."""
    own = (each for table in blanket_tables(randomizer, side)[:1] for each in table.own_inputs())
    return (*randomizer.common_input(side), *own)


def table(rows: Iterable[tuple[float, float, float]]) -> ReferenceClasses:
    """Make classes from rows (mass, log_first, log_second); empty ones are dropped, equal ones merged."""
    mass, first, second = np.array([row for row in rows if row[0] > 0], dtype=float).T
    return merged([ReferenceClasses(mass, first, second)])


def merged(parts: Iterable[ReferenceClasses]) -> ReferenceClasses:
    """Make one table of all classes of `parts`, those with equal ratios merged."""
    tables = list(parts)
    mass = np.concatenate([part.mass for part in tables])
    both = np.concatenate([(part.log_first, part.log_second) for part in tables], axis=1)
    grain = 0.5 * LOG_RATIO_ERROR * max(1e-290, np.max(np.abs(both)))
    keys = np.round(both / grain)
    _, index, inverse = np.unique(keys, axis=1, return_index=True, return_inverse=True)
    total = np.asarray(np.bincount(inverse.ravel(), weights=mass), dtype=float)
    most, error = max(part.parts for part in tables), max(part.entry_error for part in tables)
    return ReferenceClasses(total, both[0, index], both[1, index], most, error)


def distinct(tables: Iterable[ReferenceClasses]) -> Tables:
    """Return the tables in their order, and only one of those that agree to `ALIKE`."""
    by_rows: dict[bytes, ReferenceClasses] = {}
    for each in tables:
        rows = np.round(np.stack([np.log(each.mass), each.log_first, each.log_second]) / (2 * ALIKE)) + 0.0
        by_rows.setdefault(rows[:, np.lexsort(rows)].tobytes(), each)
    return tuple(by_rows.values())


@dataclass(frozen=True, kw_only=True)
class Favouring(ABC):
    r"""Randomizers whose outputs each favour some of the inputs: R_x(y) = base(y) (e^{eps_0} if y favours x else 1).

    So inf_x R_x(y) = base(y) unless y favours *every* input: those outputs have the blanket base(y) e^{eps_0}.
    """

    local_epsilon: float
    domain_size: int | None = None

    def __post_init__(self) -> None:
        check_local(self.local_epsilon, least=SMALLEST_LOG_RATIO)
        if self.domain_size is not None:
            check_integer(
                "domain_size", self.domain_size, 2, "an integer >= 2, or None for the limit of a large domain"
            )

    @abstractmethod
    def _base(self, inputs: Sequence[Items]) -> Flagged:
        """Return the base measure of the outputs that favour exactly the flagged ones of the inputs."""

    @property
    def three_inputs(self) -> Sequence[Items]:
        """Inputs x0, x1 and x*."""
        return (0,), (1,), (2,)

    @property
    def _favour_all(self) -> float:
        """Base measure of the outputs that favour every input."""
        return 0.0

    def blankets(self, side: Side) -> Tables:
        """Return classes against the blanket: outputs that favour x0, x1, both or neither; or all inputs."""
        e, all_inputs = self.local_epsilon, self._favour_all
        rows = [(mass - all_inputs * x * y, e * x, e * y) for (x, y), mass in self._base(self.three_inputs[:2]).items()]
        return (table([*rows, (all_inputs * math.exp(e), 0.0, 0.0)]),)

    def common_input(self, side: Side) -> Tables:
        """Return classes if all others hold a third input, or each of the two if there are no more: any x* is valid."""
        if self.domain_size == 2:
            return self.blankets(side)[0].own_inputs()
        e, masses = self.local_epsilon, self._base(self.three_inputs).items()
        return (table((mass * math.exp(e * z), e * (x - z), e * (y - z)) for (x, y, z), mass in masses),)

    def laws(self, inputs: Sequence[Items]) -> FloatArray:
        """Return the law of each input, shape (inputs, classes); outputs that favour the same inputs share a column."""
        base = self._base(inputs)
        return np.array([*base.values()]) * np.exp(self.local_epsilon * np.array([*base]).T)
