"""What a published plan tells its clients."""

from __future__ import annotations

from segshuffle.errors import ParameterError
from segshuffle.protocols.base import Plan
from segshuffle.protocols.scheme import Scheme


def announcement_of(plan: Plan) -> Scheme:
    """What the plan tells its clients.

    Raises
    ------
    ParameterError
        If clients do not have its blanket.
    """
    refuse_published(plan)
    return plan.scheme


def refuse_published(plan: Plan) -> None:
    """Refuse a plan whose numbers are not proven: it has another blanket than these clients."""
    if plan.kind == "published":
        raise ParameterError("kind", plan.kind, "exact or upper: only proven plans are carried out")
