"""Plans by the name of a blanket: the one place that knows which protocols a plan can be asked of."""

from __future__ import annotations

from dataclasses import dataclass

from segshuffle.errors import InfeasibleError, ParameterError
from segshuffle.protocols.base import Method, Plan, Problem
from segshuffle.protocols.clustered import ClusteredSegmented
from segshuffle.protocols.poisson import PoissonSegmented
from segshuffle.protocols.searched import Searched
from segshuffle.protocols.signed import SignedSegmented

BLANKETS = ("poisson", "clustered", "signed")
#: What can be asked for: `BEST` is whichever of them answers best.
BEST = "best"


def method(
    blanket: str = "poisson",
    *,
    copies_max: float = 1.0,
    max_messages: float | None = None,
    equal_copies: bool = False,
    target_error: float | None = None,
) -> Method:
    """What plans with a blanket of that law.

    Parameters
    ----------
    blanket : {"poisson", "clustered", "signed", "best"}
        Law of the dummies; the best is that of least error for `max_messages`, or of fewest messages for
        `target_error`.
    copies_max, max_messages : float
        Most messages about one held item, and altogether, on average.
    equal_copies : bool
        All levels send the same number of copies; Poisson only.
    target_error : float or None
        Largest expected squared error: the plan has the fewest messages for it.

    Raises
    ------
    ParameterError
        If there is no such blanket, it cannot have equal copies, or nothing says what is best.
    """
    if equal_copies and blanket != "poisson":
        raise ParameterError("equal-copies", True, "left out with another blanket than poisson")
    if blanket == BEST:
        if max_messages is None and target_error is None:
            allowed = "given with max-messages or target-error: fewer messages and less error are different blankets"
            raise ParameterError("blanket", BEST, allowed)
        return Best(copies_max, max_messages, target_error)
    if blanket == "poisson" and target_error is None:
        return PoissonSegmented(copies_max=copies_max, max_messages=max_messages, equal_copies=equal_copies)
    if blanket == "poisson":
        return ClusteredSegmented(copies_max, max_messages, target_error, cluster=0.0)
    if blanket == "clustered":
        return ClusteredSegmented(copies_max, max_messages, target_error)
    if blanket == "signed":
        return SignedSegmented(copies_max, max_messages, target_error)
    raise ParameterError("blanket", blanket, f"one of {', '.join([*BLANKETS, BEST])}")


@dataclass(frozen=True)
class Best(Searched):
    """Whichever blanket has the least error within `max_messages`, or the fewest messages for `target_error`."""

    name = BEST

    def plan(self, problem: Problem) -> Plan:
        """The best plan of all blankets.

        Raises
        ------
        InfeasibleError
            If none has a plan.
        """
        plans, reason = list[Plan](), None
        for blanket in BLANKETS:
            each = method(
                blanket, copies_max=self.copies_max, max_messages=self.max_messages, target_error=self.target_error
            )
            try:
                plans.append(each.plan(problem))
            except InfeasibleError as error:
                reason = error
        if not plans:
            raise reason or InfeasibleError("no blanket has a plan")
        # of equals the first, which is the simplest
        return min(plans, key=lambda plan: plan.mse_bound if self.target_error is None else plan.messages_per_user)
