"""Collect sets of items from many users privately in the shuffle model: plan, rehearse, estimate, and account.

    from segshuffle import Problem, estimate, plan, rehearse, simulate
    from segshuffle import account, compose, mechanism
    from segshuffle import Question, answer

Names are imported when they are first used, so that jobs of the pipeline start fast.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from segshuffle.collection.library import *  # noqa: F403


def __getattr__(name: str) -> Any:
    import importlib

    if name.startswith("__") and name != "__all__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    library = importlib.import_module("segshuffle.collection.library")
    if name == "__all__" or name in library.__all__:
        return getattr(library, name)
    offered = ", ".join(library.__all__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}; it offers {offered}")


def __dir__() -> list[str]:
    return [*__getattr__("__all__"), "__doc__", "__name__", "__file__", "__path__"]
