"""Collect sets of items from many users privately in the shuffle model: plan, simulate, estimate, and account.

    from segshuffle import Assumptions, Problem, Transactions, estimate, plan, simulate

Nothing is loaded before it is used: what the pipeline imports stays small.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from segshuffle.library import Assumptions as Assumptions
    from segshuffle.library import Estimate as Estimate
    from segshuffle.library import Plan as Plan
    from segshuffle.library import Problem as Problem
    from segshuffle.library import Transactions as Transactions
    from segshuffle.library import estimate as estimate
    from segshuffle.library import plan as plan
    from segshuffle.library import simulate as simulate

__all__ = ["Assumptions", "Estimate", "Plan", "Problem", "Transactions", "estimate", "plan", "simulate"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}; it offers {', '.join(__all__)}")
    # by its name in a text: every rule of the pipeline depends on this file, and must not depend on the library
    return getattr(importlib.import_module("segshuffle.library"), name)
