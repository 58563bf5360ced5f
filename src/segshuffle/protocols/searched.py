"""What protocols share whose blanket is searched: what is asked of the search, and everything after the plan."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from segshuffle.arrays import FloatArray, IntArray
from segshuffle.errors import ParameterError
from segshuffle.protocols.base import Plan, Sample
from segshuffle.protocols.poisson import PoissonSegmented


@dataclass(frozen=True)
class Searched:
    """A budget of messages or an error; a plan names its blanket, so one simulation and one error do for all.

    Parameters
    ----------
    copies_max : float
        Largest expected copies a_k per held item, in [1e-120, 64].
    max_messages, target_error : float or None
        Budget of expected messages per user, or largest expected squared error; not both.

    Raises
    ------
    ParameterError
        If both are given, or the error is not positive and finite.
    """

    copies_max: float = 1.0
    max_messages: float | None = None
    target_error: float | None = None

    def __post_init__(self) -> None:
        if self.target_error is not None and not 0 < self.target_error < math.inf:
            raise ParameterError("target_error", self.target_error, "positive and finite")
        if self.max_messages is not None and self.target_error is not None:
            raise ParameterError("target_error", self.target_error, "left out beside max_messages")

    def simulate(self, plan: Plan, sample: Sample, rng: np.random.Generator) -> FloatArray:
        """Estimates from counters: the blanket's net draws, and M copies of every held item."""
        return PoissonSegmented().simulate(plan, sample, rng)

    def expected_mse(self, plan: Plan, item_counts: IntArray | FloatArray) -> float:
        """Closed form of `simulate`'s mean squared error."""
        return PoissonSegmented().expected_mse(plan, item_counts)

    def sum_variance(self, plan: Plan, item_counts: IntArray) -> float:
        """Variance of the sum of `simulate`'s estimates."""
        return PoissonSegmented().sum_variance(plan, item_counts)
