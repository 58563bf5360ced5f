"""The blanket decomposition's upper and lower bound (`decomposition`), as accountants."""

from __future__ import annotations

from segshuffle.accounting.single_message.accountants.declared import DOTTED, SOLID, Accountant, asks_for, look
from segshuffle.accounting.single_message.decomposition import (
    blanket_delta,
    blanket_epsilon,
    lower_bound_delta,
    lower_bound_epsilon,
)

_DECOMPOSITION = "Decomposition-Based Optimal Bounds for Privacy Amplification via Shuffling"
ACCOUNTANTS = (
    Accountant(
        "blanket",
        "upper",
        "proven",
        f"{_DECOMPOSITION}, Theorem 13",
        look("Blanket, numerical (proven)", "blue", "o", SOLID),
        order=10,
        **asks_for("randomizer", blanket_epsilon, blanket_delta),
    ),
    Accountant(
        "blanket-lower",
        "lower",
        "proven: two neighbouring datasets that attain it",
        f"{_DECOMPOSITION}, Theorem 14",
        look("Lower bound, two datasets (proven)", "black", "", DOTTED),
        order=11,
        **asks_for("randomizer", lower_bound_epsilon, lower_bound_delta),
    ),
)
