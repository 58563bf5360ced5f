"""The arrays of this package, by the type of their entries, in pieces and of random subsets, and tables."""

from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
IntArray = NDArray[np.int64]
#: Numbers that identify items or levels, of any integer type.
Numbers = NDArray[np.integer[Any]]

#: Fills the rows of users who hold fewer items than set_size.
NO_ITEM = -1
#: Most items of a domain: a server keeps a counter per item.
LARGEST_DOMAIN = 10_000_000
#: Most entries of an array that are worked on together, to bound the memory.
_TOGETHER = 2**18


def pieces(size: int) -> list[slice]:
    """Cut a long array into pieces; what is drawn piece by piece is what would be drawn at once."""
    return [slice(first, first + _TOGETHER) for first in range(0, size, _TOGETHER)]


def random_subsets(rng: np.random.Generator, count: int, population: int, size: int, dtype: Any = np.int64) -> Numbers:
    """Draw uniform subsets of `size` of the numbers below `population`, one per column, shape (size, count).

    Floyd's algorithm, all subsets at once: exactly uniform, with time and memory independent of the population.
    """
    chosen = np.empty((size, count), dtype=dtype)
    for place, last in enumerate(range(population - size, population)):
        drawn = rng.integers(0, last, size=count, dtype=dtype, endpoint=True)
        taken = (chosen[:place] == drawn).any(axis=0)
        chosen[place] = np.where(taken, dtype(last), drawn)
    return chosen


@runtime_checkable
class Table(Protocol):
    """A table in memory: of Polars, Arrow, pandas, or another library that offers Arrow's C stream."""

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Return the table as Arrow's C stream."""
