"""Plans by the name of a blanket: the one place that knows which protocols a plan can be asked of."""

from __future__ import annotations

from segshuffle.blankets.named import laws
from segshuffle.errors import ParameterError
from segshuffle.protocols.planner import ErrorMeasure
from segshuffle.protocols.proven import SINGLE, ProvenSegmented

BLANKETS = tuple(laws())
#: What can be asked for: `BEST` is whichever of them answers best.
BEST = "best"


def method(
    blanket: str = "poisson",
    *,
    copies_max: float = 1.0,
    max_messages: float | None = None,
    equal_copies: bool = False,
    target_error: float | None = None,
    measure: ErrorMeasure | None = None,
) -> ProvenSegmented:
    """What plans with a blanket of that law.

    Parameters
    ----------
    blanket : str
        Name of a law of the dummies, or `BEST`: that of least error for `max_messages`, or of fewest messages for
        `target_error`.
    copies_max, max_messages : float
        Most messages about one held item, and altogether, on average.
    equal_copies : bool
        All levels send the same number of copies.
    target_error : float or None
        Largest error: the plan has the fewest messages for it.
    measure : ErrorMeasure or None
        The error that is least or bounded; None for the squared error of all items, equally frequent ones.

    Raises
    ------
    ParameterError
        If there is no such blanket, or nothing says what is best.
    """
    if blanket == BEST:
        if max_messages is None and target_error is None:
            allowed = "given with max-messages or target-error: fewer messages and less error are different blankets"
            raise ParameterError("blanket", BEST, allowed)
        chosen = BLANKETS
    elif blanket in BLANKETS:
        chosen = tuple(dict.fromkeys((SINGLE, blanket)))
    else:
        raise ParameterError("blanket", blanket, f"one of {', '.join([*BLANKETS, BEST])}")
    return ProvenSegmented(
        copies_max=copies_max,
        max_messages=max_messages,
        target_error=target_error,
        equal_copies=equal_copies,
        laws=chosen,
        measure=measure,
    )
