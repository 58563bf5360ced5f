"""The two halves of a collection by a published plan: what clients are told, and what a server makes of counts."""

from __future__ import annotations

from segshuffle.errors import ParameterError
from segshuffle.protocols.base import Plan
from segshuffle.protocols.messages import Announcement
from segshuffle.protocols.messages.server import announced_blanket


def announcement_of(plan: Plan) -> Announcement:
    """What the plan tells its clients.

    Raises
    ------
    ParameterError
        If clients do not have its blanket.
    """
    problem = plan.problem
    refuse_published(plan)
    return Announcement(
        problem.domain_size,
        problem.set_size,
        problem.n_users,
        tuple(plan.parameters["copies"]),
        plan.blanket_per_user,
        **announced_blanket(plan),
    )


def refuse_published(plan: Plan) -> None:
    """A plan whose numbers are not proven has another blanket than these clients."""
    if plan.kind == "published":
        raise ParameterError("kind", plan.kind, "exact or upper: only proven plans are carried out")
