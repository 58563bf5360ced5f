r"""A randomizer of your own, as a table of its probabilities: rows are inputs, columns outputs.

Its symmetries are not known, so every ordered pair of inputs is tried for the victim. The blanket is the least entry of
every column, the same for all pairs. The upper bound is the largest one over all pairs. The lower bound is the largest
one over the pairs, and inputs of the others, that are tried; it is valid whichever are tried.

Round-off is on the safe side: every bound holds for all randomizers whose probabilities differ from the table's by at
most the relative `entry_error`, which includes by how much the sums of the rows miss 1.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from segshuffle.accounting.single_message.randomizers.reference import (
    ALIKE,
    ReferenceClasses,
    Side,
    Tables,
    distinct,
    merged,
)
from segshuffle.arrays import FloatArray
from segshuffle.errors import DataError
from segshuffle.numerics.ranges import LARGEST_LOCAL_EPSILON, numbers

#: A row whose sum misses 1 by more was not rounded but is wrong.
SUM_TOLERANCE = 1e-9
LARGEST_INPUTS, LARGEST_OUTPUTS = 30, 1000
#: Largest number of ordered pairs of inputs, times outputs: more would take longer than seconds.
LARGEST_WORK = 100_000
#: Most tables that the lower bound tries, and most tables times outputs: each table gives a valid bound.
_MOST_REFERENCES, _MOST_ENTRIES = 120, 4_000

Where = Callable[[int, int | None], str]
"""Names a row (from 0), or an entry of it, in an error."""


def _by_number(row: int, column: int | None) -> str:
    return f"matrix, row {row + 1}" + ("" if column is None else f", column {column + 1}")


@dataclass(frozen=True, eq=False)
class MatrixRandomizer:
    """A randomizer given by its law; make it with `matrix_randomizer`, which checks.

    Parameters
    ----------
    law : ndarray, shape (n_inputs, n_outputs)
        Positive probabilities with rows of sum 1; outputs that nobody sends are left out.
    entry_error : float
        Relative error up to which every entry is known.
    """

    law: FloatArray
    entry_error: float

    @cached_property
    def local_epsilon(self) -> float:
        """Largest log ratio of two rows at one output, rounded up by what the entries may be off."""
        largest = float(np.max(np.log(self.law.max(axis=0)) - np.log(self.law.min(axis=0))))
        return largest + 2 * self.entry_error if largest > 0 else 0.0

    @property
    def total_variation(self) -> float:
        """Largest total variation of two rows."""
        apart = (np.maximum(row - self.law, 0.0).sum(axis=1).max() for row in self.law)
        return float(max(apart))

    def common_input(self, side: Side) -> Tables:
        """Return classes against the laws of the others, for the pairs and inputs that are tried."""
        inputs = range(len(self.law))
        tables = min(_MOST_REFERENCES, _MOST_ENTRIES // self.law.shape[1])
        pairs = self._pairs()[: max(tables // len(inputs), 1)]
        return distinct(self._classes(self.law[star], i, j) for i, j in pairs for star in inputs)

    def blankets(self, side: Side) -> Tables:
        """Return classes against the blanket for all different ordered pairs of inputs, those farthest apart first."""
        least = self.law.min(axis=0)
        return distinct(self._classes(least, i, j) for i, j in self._pairs())

    def _pairs(self) -> list[tuple[int, int]]:
        """Return ordered pairs of inputs, the largest divergence of chi-square type first."""
        least, count = self.law.min(axis=0), len(self.law)
        apart = np.array([((row - self.law) ** 2 / least).sum(axis=1) for row in self.law])
        order = np.argsort(-apart, axis=None, kind="stable")
        places = (divmod(int(place), count) for place in order)
        return [(first, second) for first, second in places if first != second]

    def _classes(self, reference: FloatArray, first: int, second: int) -> ReferenceClasses:
        logs = [np.log(self.law[row]) - np.log(reference) for row in (first, second)]
        return merged([ReferenceClasses(reference, logs[0], logs[1], entry_error=self.entry_error)])


def matrix_randomizer(
    law: ArrayLike, *, claimed_epsilon: float | None = None, where: Where = _by_number
) -> MatrixRandomizer:
    """Check the law of a randomizer.

    Parameters
    ----------
    law : array_like, shape (n_inputs, n_outputs)
        Probability of every output (column) for every input (row): at least 0, rows of sum 1 up to 1e-9, and no output
        that one input can send and another cannot; 2 to 30 inputs, up to 1000 outputs.
    claimed_epsilon : float, optional
        The local guarantee that is claimed for it; a table with a larger one is refused.
    where : callable
        Names a row, or an entry of it, in errors.

    Returns
    -------
    MatrixRandomizer
        Rows divided by their sums; what they missed counts in `entry_error`.

    Raises
    ------
    DataError
        If it is no law with a local epsilon of at most 50, or if its local epsilon is above the claim; says where.
    """
    table = numbers("matrix", law, "rows with the same number of probabilities each").copy()
    inputs, outputs = table.shape if table.ndim == 2 else (0, 0)
    most = min(LARGEST_WORK // max(inputs * (inputs - 1), 1), LARGEST_OUTPUTS)
    if not 2 <= inputs <= LARGEST_INPUTS or not 1 <= outputs <= most:
        raise DataError(
            f"matrix: its shape is {table.shape}; expected are between 2 and {LARGEST_INPUTS} rows (one per input) and "
            f"between 1 and {LARGEST_OUTPUTS} columns (one per output; with r rows at most {LARGEST_WORK}/(r (r - 1)))."
            " Merge outputs whose columns are proportional: this changes no result."
        )
    problems = {
        "is no probability: it must be between 0 and 1.": ~((table >= 0) & (table <= 1 + SUM_TOLERANCE)),
        "is the probability of an output that another input can send. This output rules out the input of the row, so "
        "no local epsilon is finite. Give every input a positive probability of it, or leave it out.": (table == 0)
        & (table.max(axis=0) > 0),
    }
    for said, entries in problems.items():
        for row, column in np.argwhere(entries)[:1].tolist():
            raise DataError(f"{where(row, column)}: {table[row, column]:.6g} {said}")
    sums = np.array([math.fsum(row) for row in table])
    worst = int(np.argmax(np.abs(sums - 1.0)))
    if not abs(sums[worst] - 1.0) <= SUM_TOLERANCE:
        raise DataError(
            f"{where(worst, None)}: its probabilities sum to {sums[worst]:.12g}; every row must sum to 1 (to "
            f"{SUM_TOLERANCE:g}). Write more digits, or fractions such as 1/3."
        )
    table = table[:, table.max(axis=0) > 0] / sums[:, None]
    randomizer = MatrixRandomizer(table, float(np.max(np.abs(sums - 1.0))) + 2 * ALIKE)
    most, which = (LARGEST_LOCAL_EPSILON, "allowed") if claimed_epsilon is None else (claimed_epsilon, "claimed")
    if not randomizer.local_epsilon - 4 * randomizer.entry_error <= most:
        output = table[:, int(np.argmax(table.max(axis=0) / table.min(axis=0)))]
        raise DataError(
            f"{where(int(np.argmax(output)), None)} sends an output with probability {output.max():.6g}, "
            f"{where(int(np.argmin(output)), None)} with {output.min():.6g}: the local epsilon is "
            f"{randomizer.local_epsilon:.10g}, more than the {most:.10g} that is {which}."
        )
    return randomizer
