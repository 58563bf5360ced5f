"""Arguments of public functions, checked by their annotations."""

import functools
import inspect
import types
import typing
from collections.abc import Callable, Iterable, Sequence
from numbers import Integral, Real
from typing import Any, ParamSpec, TypeGuard, TypeVar

import numpy as np

from segshuffle.errors import ParameterError

Given = ParamSpec("Given")
Result = TypeVar("Result")
_LIST = (Sequence, np.ndarray)
#: What classes in annotations take; all other classes take their own objects.
_TAKES: dict[Any, Any] = {int: Integral, float: Real, Sequence: _LIST, tuple: _LIST}
_WORDS = {int: "an integer", float: "a number", Sequence: "a list", tuple: "a list", Iterable: "a list"}


def is_many(value: object) -> TypeGuard[Iterable[Any]]:
    """Say whether a value can be gone through, and is not a single text or number."""
    alone = isinstance(value, str | bytes) or (isinstance(value, np.ndarray) and value.ndim == 0)
    return isinstance(value, Iterable) and not alone


def typed(function: Callable[Given, Result]) -> Callable[Given, Result]:
    """Make a function refuse, by a ParameterError, arguments of another kind than its annotations name.

    Ranges, and what a sequence holds, are left to the function.
    """
    names = [*inspect.signature(function).parameters]

    @functools.cache
    def kinds() -> dict[str, list[Any]]:
        hints = typing.get_type_hints(function)
        return {name: _classes(hints[name]) for name in names if name in hints}

    @functools.wraps(function)
    def call(*given: Given.args, **named: Given.kwargs) -> Result:
        for name, value in [*zip(names, given, strict=False), *named.items()]:
            known = kinds().get(name, [object])
            if not any(_fits(value, each) for each in known):
                allowed = " or ".join(_WORDS.get(each, f"a {each.__name__}") for each in known)
                raise ParameterError(name, value, f"{allowed}, not a {type(value).__name__}")
        return function(*given, **named)

    return call


def _classes(hint: Any) -> list[Any]:
    """Return the classes that an annotation allows."""
    parts = typing.get_args(hint) if typing.get_origin(hint) in (typing.Union, types.UnionType) else [hint]
    return [typing.get_origin(each) or each for each in parts]


def _fits(value: object, known: Any) -> bool:
    if isinstance(value, bool | str | bytes):  # not as a number, nor as a sequence
        return known in (type(value), object)
    if known is Iterable:
        return is_many(value)
    return isinstance(value, _TAKES.get(known, known))
