"""The arrays of this package, by the type of their entries."""

from typing import Any

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
