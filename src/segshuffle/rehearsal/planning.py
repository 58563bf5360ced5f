"""Plans by the name of a blanket: the one place that knows which protocols a plan can be asked of."""

from __future__ import annotations

from segshuffle.errors import ParameterError
from segshuffle.protocols.base import Method
from segshuffle.protocols.clustered import ClusteredSegmented
from segshuffle.protocols.poisson import PoissonSegmented
from segshuffle.protocols.signed import SignedSegmented

BLANKETS = ("poisson", "clustered", "signed")


def method(
    blanket: str = "poisson",
    *,
    copies_max: float = 1.0,
    max_messages: float | None = None,
    equal_copies: bool = False,
) -> Method:
    """What plans with a blanket of that law.

    Parameters
    ----------
    blanket : {"poisson", "clustered", "signed"}
        Law of the dummies.
    copies_max, max_messages : float
        Most messages about one held item, and altogether, on average.
    equal_copies : bool
        All levels send the same number of copies; Poisson only.

    Raises
    ------
    ParameterError
        If there is no such blanket, or it cannot have equal copies.
    """
    if blanket == "poisson":
        return PoissonSegmented(copies_max=copies_max, max_messages=max_messages, equal_copies=equal_copies)
    if equal_copies:
        raise ParameterError("equal-copies", True, "left out with another blanket than poisson")
    if blanket == "clustered":
        return ClusteredSegmented(copies_max, max_messages)
    if blanket == "signed":
        return SignedSegmented(copies_max, max_messages)
    raise ParameterError("blanket", blanket, f"one of {', '.join(BLANKETS)}")
