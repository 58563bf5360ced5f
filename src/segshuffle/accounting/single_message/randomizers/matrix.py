r"""A randomizer of your own, as a table of its probabilities: rows are inputs, columns outputs.

Its symmetries are not known, so every ordered pair of inputs is tried for the victim. The blanket is the least entry of
every column, the same for all pairs. The upper bound is the largest one over all pairs. The lower bound is the largest
one over the pairs, and inputs of the others, that are tried; it is valid whichever are tried.

Round-off is on the safe side: every bound holds for all randomizers whose probabilities differ from the table's by at
most the relative `entry_error`, which counts by how much the sums of the rows miss 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from segshuffle.accounting.numerics.ranges import LARGEST_LOCAL_EPSILON, check_within, numbers
from segshuffle.accounting.single_message.randomizers.reference import ReferenceClasses, Side, Tables, merged
from segshuffle.arrays import FloatArray
from segshuffle.errors import DataError

#: A row whose sum misses 1 by more was not rounded but is wrong.
SUM_TOLERANCE = 1e-9
LARGEST_INPUTS, LARGEST_OUTPUTS = 30, 1000
#: Largest number of ordered pairs of inputs, times outputs: what seconds are enough for.
LARGEST_WORK = 100_000
#: Tables that agree to this are one: it is counted in the error of every entry.
_ALIKE = 1e-13
#: Tables that the lower bound tries, and those times outputs: any of them is a lower bound.
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
        return self.listed_epsilon + 2 * self.entry_error if self.listed_epsilon > 0 else 0.0

    @cached_property
    def listed_epsilon(self) -> float:
        """Largest log ratio of the table as it stands."""
        return float(np.max(np.log(self.law.max(axis=0)) - np.log(self.law.min(axis=0))))

    @property
    def total_variation(self) -> float:
        """Largest total variation of two rows."""
        apart = (np.maximum(row - self.law, 0.0).sum(axis=1).max() for row in self.law)
        return float(max(apart))

    def subsampled(self, rate: float) -> MatrixRandomizer:
        """Let every user take part with probability `rate` in (0, 1], and send one more output otherwise."""
        check_within("rate", rate, 0, 1, "(]")
        if rate == 1.0:
            return self
        absent = np.full((len(self.law), 1), 1.0 - rate)
        return MatrixRandomizer(np.concatenate([rate * self.law, absent], axis=1), self.entry_error + 1e-15)

    def blanket(self, side: Side) -> ReferenceClasses:
        """Return classes against the blanket of the pair that is the farthest apart; `blankets` has all pairs."""
        return self.blankets(side)[0]

    def common_input(self, side: Side) -> Tables:
        """Return classes against the laws of the others, for the pairs and inputs that are tried."""
        inputs = range(len(self.law))
        tables = min(_MOST_REFERENCES, _MOST_ENTRIES // self.law.shape[1])
        pairs = self._pairs()[: max(tables // len(inputs), 1)]
        return self._distinct(self._classes(self.law[star], i, j) for i, j in pairs for star in inputs)

    def blankets(self, side: Side) -> Tables:
        """Return classes against the blanket for all different ordered pairs of inputs, those farthest apart first."""
        least = self.law.min(axis=0)
        return self._distinct(self._classes(least, i, j) for i, j in self._pairs())

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

    def _distinct(self, tables: Iterable[ReferenceClasses]) -> Tables:
        """Return tables that agree to `_ALIKE` once, in their order."""
        found: dict[bytes, ReferenceClasses] = {}
        for each in tables:
            rows = np.round(np.stack([np.log(each.mass), each.log_first, each.log_second]) / (2 * _ALIKE))
            found.setdefault(rows[:, np.lexsort(rows)].tobytes(), each)
        return tuple(found.values())


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
        If it is no law with a finite local guarantee of at most 50, or the claim is less than it; says where.
    """
    table = numbers("matrix", law, "rows of as many probabilities").copy()
    inputs, outputs = table.shape if table.ndim == 2 else (0, 0)
    most = min(LARGEST_WORK // max(inputs * (inputs - 1), 1), LARGEST_OUTPUTS)
    if not 2 <= inputs <= LARGEST_INPUTS or not 1 <= outputs <= most:
        raise DataError(
            f"matrix: its shape is {table.shape}; expected are between 2 and {LARGEST_INPUTS} rows (one per input) of "
            f"as many numbers, and between 1 and {LARGEST_OUTPUTS} columns (one per output), for 30 rows at most 114: "
            "merge outputs whose columns are proportional, which changes no number."
        )
    _check_entries(table, where)
    sums = np.array([math.fsum(row) for row in table])
    worst = int(np.argmax(np.abs(sums - 1.0)))
    if not abs(sums[worst] - 1.0) <= SUM_TOLERANCE:
        raise DataError(
            f"{where(worst, None)}: its probabilities sum to {sums[worst]:.12g}; every row must sum to 1 (to "
            f"{SUM_TOLERANCE:g}). Write more digits, or fractions such as 1/3."
        )
    table = table[:, table.max(axis=0) > 0] / sums[:, None]
    found = MatrixRandomizer(table, float(np.max(np.abs(sums - 1.0))) + 2 * _ALIKE)
    if found.listed_epsilon > LARGEST_LOCAL_EPSILON:
        raise DataError(
            f"matrix: two inputs send an output with probabilities of ratio e^{found.listed_epsilon:.4g}; the local "
            f"epsilon must be between 0 and {LARGEST_LOCAL_EPSILON:g}."
        )
    if claimed_epsilon is not None and not claimed_epsilon >= found.listed_epsilon - 2 * found.entry_error:
        raise DataError(_understated(table, claimed_epsilon, found.listed_epsilon, where))
    return found


def _check_entries(table: FloatArray, where: Where) -> None:
    """Refuse what is no probability, and outputs that some inputs never send: then there is no local guarantee."""
    wrong = np.argwhere(~((table >= 0) & (table <= 1 + SUM_TOLERANCE)))
    if wrong.size:
        row, column = map(int, wrong[0])
        raise DataError(f"{where(row, column)}: {table[row, column]:.6g} is no probability, which is between 0 and 1.")
    never = np.argwhere((table == 0) & (table.max(axis=0) > 0))
    if never.size:
        row, column = map(int, never[0])
        other = int(np.argmax(table[:, column]))
        raise DataError(
            f"{where(row, column)}: the probability is 0, but for another input ({where(other, None)}) it is "
            f"{table[other, column]:.6g}. This output rules out the first input, so no local epsilon is finite. Give "
            "every input a positive probability of this output, or leave the output out."
        )


def _understated(table: FloatArray, claimed: float, true: float, where: Where) -> str:
    column = int(np.argmax(table.max(axis=0) / table.min(axis=0)))
    high, low = int(np.argmax(table[:, column])), int(np.argmin(table[:, column]))
    return (
        f"local epsilon {claimed:.10g} is claimed, but the table has {true:.10g}: {where(high, None)} sends an output "
        f"with probability {table[high, column]:.6g}, {where(low, None)} with {table[low, column]:.6g}. Claim at least "
        "that, or leave the claim out."
    )
