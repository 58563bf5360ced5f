"""Collect sets of items from many users privately in the shuffle model: plan, rehearse, estimate, and account.

    from segshuffle import Problem, estimate, plan, rehearse, simulate
    from segshuffle import account, compose, mechanism
    from segshuffle import Question, answer

Nothing is loaded before it is used: what the pipeline imports stays small.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from segshuffle.accounting.single_message.mechanisms import mechanism as mechanism
    from segshuffle.datasets.transactions import Transactions as Transactions
    from segshuffle.library import Estimate as Estimate
    from segshuffle.library import account as account
    from segshuffle.library import compose as compose
    from segshuffle.library import estimate as estimate
    from segshuffle.library import plan as plan
    from segshuffle.library import rehearse as rehearse
    from segshuffle.library import simulate as simulate
    from segshuffle.planning.question import Answer as Answer
    from segshuffle.planning.question import FewestMessages as FewestMessages
    from segshuffle.planning.question import Guess as Guess
    from segshuffle.planning.question import LeastEpsilon as LeastEpsilon
    from segshuffle.planning.question import LeastError as LeastError
    from segshuffle.planning.question import Limits as Limits
    from segshuffle.planning.question import Question as Question
    from segshuffle.planning.question import answer as answer
    from segshuffle.protocols.base import Assumptions as Assumptions
    from segshuffle.protocols.base import Plan as Plan
    from segshuffle.protocols.base import Problem as Problem

#: Module -> what it offers here. In texts: every rule of the pipeline depends on this file, and not on these modules.
_HOMES = {
    "accounting.single_message.mechanisms": ("mechanism",),
    "datasets.transactions": ("Transactions",),
    "library": ("Estimate", "account", "compose", "estimate", "plan", "rehearse", "simulate"),
    "planning.question": (
        "Answer",
        "FewestMessages",
        "Guess",
        "LeastEpsilon",
        "LeastError",
        "Limits",
        "Question",
        "answer",
    ),
    "protocols.base": ("Assumptions", "Plan", "Problem"),
}
__all__ = sorted(name for names in _HOMES.values() for name in names)


def __getattr__(name: str) -> Any:
    import importlib

    for module, names in _HOMES.items():
        if name in names:
            return getattr(importlib.import_module(f"segshuffle.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}; it offers {', '.join(__all__)}")


def __dir__() -> list[str]:
    return [*__all__, "__doc__", "__name__", "__file__", "__path__"]
