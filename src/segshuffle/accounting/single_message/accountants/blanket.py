"""The blanket decomposition's upper and lower bound (`decomposition`), as accountants."""

from segshuffle.accounting.single_message.accountants.interface import Accountant, of_bound
from segshuffle.accounting.single_message.decomposition import BlanketBound, DatasetsBound

_DECOMPOSITION = "Decomposition-Based Optimal Bounds for Privacy Amplification via Shuffling"
ACCOUNTANTS = (
    Accountant(
        "blanket",
        "upper",
        "proven",
        f"{_DECOMPOSITION}, Theorem 13",
        order=10,
        part="randomizer",
        **of_bound(BlanketBound),
    ),
    Accountant(
        "blanket-lower",
        "lower",
        "proven: two neighbouring datasets attain it",
        f"{_DECOMPOSITION}, Theorem 14",
        order=11,
        part="randomizer",
        **of_bound(DatasetsBound, end="lower"),
    ),
)
