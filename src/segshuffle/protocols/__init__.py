"""What users send and what the server computes: one module per protocol, one interface (`base.Method`)."""

from __future__ import annotations

from segshuffle.errors import ParameterError
from segshuffle.protocols.balls_into_bins import ANALYSES, BallsIntoBins, SeparateBallsIntoBins
from segshuffle.protocols.base import Method, Plan, Problem, Sample
from segshuffle.protocols.segmented import Segmented
from segshuffle.protocols.subset_exponential import SubsetExponential

#: Methods that do not depend on a blanket chosen by the caller, in the order of the figures' legend.
COMPETITORS = (
    "subexp-local",
    "subexp-shuffle",
    "mm",
    "sepmm",
    "weighted-sepmm",
    "inverse-variance-sepmm",
)

__all__ = [
    "ANALYSES",
    "COMPETITORS",
    "BallsIntoBins",
    "Method",
    "Plan",
    "Problem",
    "Sample",
    "Segmented",
    "SeparateBallsIntoBins",
    "SubsetExponential",
    "competitor",
]


def competitor(name: str, *, analysis: str = "numerical", local_epsilon: float = 2.0) -> Method:
    """Return the competitor of that name.

    Parameters
    ----------
    name : str
        One of `COMPETITORS`.
    analysis : str
        Analysis of balls-into-bins: "numerical" or "closed-form".
    local_epsilon : float
        Privacy level of "subexp-local".

    Raises
    ------
    ParameterError
        If there is no such method.
    """
    methods: dict[str, Method] = {
        "subexp-local": SubsetExponential(local_epsilon=local_epsilon),
        "subexp-shuffle": SubsetExponential(),
        "mm": BallsIntoBins(analysis=analysis),
        "sepmm": SeparateBallsIntoBins(analysis=analysis),
        "weighted-sepmm": SeparateBallsIntoBins(weights="published", analysis=analysis),
        "inverse-variance-sepmm": SeparateBallsIntoBins(weights="inverse-variance", analysis=analysis),
    }
    if name not in methods:
        raise ParameterError("method", name, f"one of {', '.join(COMPETITORS)}")
    return methods[name]
