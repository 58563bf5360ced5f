r"""Classes of outputs that a pair of inputs cannot tell apart, against a reference law.

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
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import lru_cache, wraps
from typing import Any, Literal, Protocol, TypeVar, runtime_checkable

import numpy as np

from segshuffle.accounting.numerics.ranges import SMALLEST_LOG_RATIO, check_local
from segshuffle.arrays import FloatArray

T = TypeVar("T")
Side = Literal["lower", "upper"]
"""Which way a continuous output is cut into classes: divergences may only grow ("upper") or only shrink ("lower")."""

MASS_ERROR = 2e-14
"""Bound on the relative error of the mass of a class: a few exponentials of numbers up to 50, a few sums."""
LOG_RATIO_ERROR = 2e-15
"""Bound on the error of every log ratio, relative to the largest one of its table: sums of local epsilons round, and
classes whose ratios agree to half of this are merged."""


def remembered(function: Callable[..., T]) -> Callable[..., T]:
    """Keep the last answers of a function, except for values without a hash, such as some of your own randomizers."""
    kept = lru_cache(maxsize=16)(function)

    @wraps(function)
    def called(*args: Any, **options: Any) -> T:
        try:
            hash((args, *options.values()))
        except TypeError:
            return function(*args, **options)
        return kept(*args, **options)

    return called


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
        """Return the classes against the victim's own two inputs, x1 first: all other users hold that one."""
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
Flagged = dict[tuple[int, ...], float]
"""Numbers by which of x0, x1 and x* an output favours, or meets."""


@runtime_checkable
class Randomizer(Protocol):
    """What the accountants ask of a local randomizer. All of ours are symmetric in the victim's two inputs."""

    @property
    def local_epsilon(self) -> float:
        """The randomizer's own guarantee epsilon_0 (pure)."""
        ...

    def blanket(self, side: Side) -> ReferenceClasses:
        """Return classes against the blanket, for the pair of inputs that the upper bound uses."""
        ...

    def common_input(self, side: Side) -> Tables:
        """Return classes against R_{x*}, one table for every x* that the lower bound tries."""
        ...


@runtime_checkable
class Pairwise(Protocol):
    """A randomizer without symmetry: every ordered pair of inputs has tables of its own."""

    def blankets(self, side: Side) -> Tables:
        """Return classes against the blanket for every pair, the worst ones first as far as can be told."""
        ...


@remembered
def blanket_tables(randomizer: Randomizer, side: Side) -> Tables:
    """Return the tables of which the largest divergence is the upper bound: one for a symmetric randomizer."""
    return randomizer.blankets(side) if isinstance(randomizer, Pairwise) else (randomizer.blanket(side),)


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


@dataclass(frozen=True, kw_only=True)
class Favouring(ABC):
    r"""Randomizers whose outputs each favour some of the inputs: R_x(y) = base(y) (e^{eps_0} if y favours x else 1).

    So inf_x R_x(y) = base(y) unless y favours *every* input: those outputs have the blanket base(y) e^{eps_0}.
    """

    local_epsilon: float

    def __post_init__(self) -> None:
        check_local(self.local_epsilon, least=SMALLEST_LOG_RATIO)

    @abstractmethod
    def _base(self, n_inputs: int) -> Flagged:
        """Return the base measure of the outputs that favour exactly the flagged ones of x0, x1 and x*."""

    @property
    def _favour_all(self) -> float:
        """Base measure of the outputs that favour every input."""
        return 0.0

    @abstractmethod
    def _listed(self) -> tuple[FloatArray, FloatArray]:
        """Return 1 where an output favours an input, shape (inputs, outputs), and log base(y) up to a constant."""

    def blanket(self, side: Side) -> ReferenceClasses:
        """Return classes against the blanket: outputs that favour x0, x1, both or neither; or all inputs."""
        e, all_inputs = self.local_epsilon, self._favour_all
        rows = [(mass - all_inputs * x * y, e * x, e * y) for (x, y), mass in self._base(2).items()]
        return table([*rows, (all_inputs * math.exp(e), 0.0, 0.0)])

    def common_input(self, side: Side) -> Tables:
        """Let all other users hold a third input, or, of two, either one: any x* gives a valid lower bound."""
        if getattr(self, "domain_size", None) == 2:
            return self.blanket(side).own_inputs()
        e, masses = self.local_epsilon, self._base(3).items()
        return (table((mass * math.exp(e * z), e * (x - z), e * (y - z)) for (x, y, z), mass in masses),)

    def matrix(self) -> FloatArray:
        """Return the full law, shape (inputs, outputs)."""
        favours, log_base = self._listed()
        law = np.exp(log_base + self.local_epsilon * favours)
        return np.asarray(law / law.sum(axis=1, keepdims=True))
