"""Allowed ranges of public parameters: checks that every accountant shares."""

import functools
import math
import sys
from collections.abc import Callable, Iterable, Sequence
from numbers import Integral, Real
from typing import Any, ParamSpec, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from segshuffle.arrays import FloatArray
from segshuffle.errors import ParameterError
from segshuffle.option_fields import interval, options_of

#: Largest number of blanket messages per user that a search will propose.
LARGEST_BLANKET = 1e9
#: Largest number of users and of blanket slots: from 2^52 on the tails of a binomial law come back as nan.
LARGEST_COUNT = 4_000_000_000_000_000
#: Largest number of users who send one message each.
LARGEST_USERS = 10**15
LARGEST_EPSILON = 300.0
#: Smallest delta that a search for epsilon takes: ten orders of magnitude above the smallest one that is told from 0.
SMALLEST_TARGET = 1e-280
#: Smallest local epsilon of a bound: below it the contrast of a clone pair, about as small, loses its digits.
SMALLEST_LOCAL_EPSILON = 1e-6
LARGEST_LOCAL_EPSILON = 50.0
#: Smallest local epsilon of a randomizer: a smaller one is lost in the rounding of every probability.
SMALLEST_LOG_RATIO = 1e-12


def check_within(
    name: str, value: object, least: float, most: float, ends: str = "[]", *, note: str = "", allowed: str = ""
) -> None:
    """Refuse anything but a number between `least` and `most`.

    Parameters
    ----------
    name : str
        The parameter, as errors call it.
    value : object
        What was given; arrays and text are refused like numbers outside the range.
    least, most : float
        The range.
    ends : {"[]", "()", "[)", "(]"}
        Which ends belong to it.
    note : str
        Added to what errors say is allowed.
    allowed : str
        What errors say in place of the range.

    Raises
    ------
    ParameterError
        With the name, the value and the range.
    """
    allowed = allowed or f"in {ends[0]}{least:g}, {most:g}{ends[1]}{note}"
    if isinstance(value, bool) or not isinstance(value, Real):
        raise ParameterError(name, value, f"a number {allowed}")
    if isinstance(value, int) and abs(value) > sys.float_info.max:  # no float is as large
        raise ParameterError(name, value, allowed)
    given: Any = value
    if not least <= given <= most or (given == least and ends[0] == "(") or (given == most and ends[1] == ")"):
        raise ParameterError(name, value, allowed)


Given = ParamSpec("Given")
Value = TypeVar("Value")


def remembered(function: Callable[Given, Value]) -> Callable[Given, Value]:
    """Keep the last 4096 values of a function, which itself refuses arguments that cannot be a key."""
    known = functools.lru_cache(maxsize=4096)(function)

    @functools.wraps(function)
    def ask(*given: Given.args, **named: Given.kwargs) -> Value:
        try:
            return known(*given, **named)  # type: ignore[arg-type]
        except TypeError:  # a list or an array has no hash
            return function(*given, **named)

    return ask


def check_positive(name: str, value: object) -> None:
    """Refuse anything but a finite number above 0."""
    check_within(name, value, 0, math.inf, "()", allowed="positive and finite")


def check_integer(name: str, value: object, least: int, allowed: str = "", *, most: float = math.inf) -> None:
    """Refuse anything but an integer between `least` and `most`."""
    largest = min(most, sys.float_info.max)
    if isinstance(value, bool) or not isinstance(value, Integral) or not least <= int(value) <= largest:
        upto = most if most < 10**9 else f"{most:g}"
        default = f"an integer >= {least}" if most == math.inf else f"an integer in [{least}, {upto}]"
        raise ParameterError(name, value, allowed or default)


def whole_if_equal(value: Any) -> Any:
    """Return a whole number, such as 1e4 or one of numpy's, as an integer, and anything else as it is."""
    whole = isinstance(value, np.integer) or (isinstance(value, float) and value.is_integer())
    return int(value) if whole else value


def check_choice(name: str, value: object, choices: Iterable[str]) -> None:
    """Refuse anything but one of the names."""
    known = list(choices)
    if not isinstance(value, str) or value not in known:
        raise ParameterError(name, value, f"one of {', '.join(known)}")


def check_flag(name: str, value: object) -> None:
    """Refuse anything but True and False."""
    if not isinstance(value, bool):
        raise ParameterError(name, value, "True or False")


def check_options(values: Any) -> None:
    """Refuse a value that its declaration does not allow.

    Raises
    ------
    ParameterError
        Names the option, its value and its range.
    """
    for name, each in options_of(type(values)).items():
        value, rules = getattr(values, each.name), each.metadata
        if value is None and each.default is None:
            continue
        if "enum" in rules:
            check_choice(name, value, filter(None, rules["enum"]))  # the schema of a file has null, too
        elif rules.get("type") == "boolean":
            check_flag(name, value)
        elif rules.get("type") == "integer":
            check_integer(name, value, rules["minimum"], most=rules.get("maximum", math.inf))
        elif rules.get("type") == "number":
            check_within(name, value, *interval(rules))


def check_kind(name: str, value: object, *kinds: Any) -> None:
    """Refuse anything but an object of one of the classes, or with the methods of a `typing.Protocol`."""
    if not isinstance(value, kinds):
        allowed = " or ".join(kind.__name__ for kind in kinds)
        raise ParameterError(name, value, f"a {allowed}, not a {type(value).__name__}")


def name_of_number(item: int, names: Sequence[str] | None, domain_size: int) -> str:
    """Return the name of an item; without names, its number as text."""
    check_integer("item", item, 0, most=domain_size - 1)
    return str(item) if names is None else names[item]


def numbers(name: str, values: ArrayLike, allowed: str = "a list of numbers") -> FloatArray:
    """Return an array of numbers; anything else is refused."""
    try:
        array = np.asarray(values)
        if array.dtype.kind in "iuf":
            return array.astype(float)
    except ValueError:  # rows of different lengths
        pass
    raise ParameterError(name, values, allowed)


def check_sizes(*, domain_size: int, n_users: int, set_size: int = 1) -> None:
    """Refuse sizes that no population can have.

    Raises
    ------
    ParameterError
        Unless 2 <= domain_size <= 4e15, 1 <= set_size <= domain_size and 1 <= n_users <= 4e15.
    """
    check_integer("domain_size", domain_size, 2, most=LARGEST_COUNT)
    check_integer("n_users", n_users, 1, most=LARGEST_COUNT)
    check_integer("set_size", set_size, 1, f"an integer between 1 and domain_size = {domain_size}", most=domain_size)


def check_guarantee(*, epsilon: float, delta: float) -> None:
    """Refuse a privacy target outside epsilon in (0, 100], delta in (0, 1)."""
    check_within("epsilon", epsilon, 0, 100, "(]")
    check_within("delta", delta, 0, 1, "()")


def blanket_slots(blanket_per_user: float) -> tuple[int, float]:
    """Return a user's number of slots, ceil(m), and the probability gamma = m/ceil(m) that a slot is filled.

    Here m in (0, 1e9] is the expected number of blanket messages per user.
    """
    check_within("blanket_per_user", blanket_per_user, 0, LARGEST_BLANKET, "(]")
    slots = math.ceil(blanket_per_user)
    return slots, blanket_per_user / slots


def all_slots(n_users: int, blanket_per_user: float) -> tuple[int, float]:
    """Return the number of slots of all users, at most 4e15, and gamma; see `blanket_slots`."""
    slots, gamma = blanket_slots(blanket_per_user)
    if n_users * slots > LARGEST_COUNT:
        allowed = f"at most {LARGEST_COUNT / n_users:g} for {n_users} users"
        raise ParameterError("blanket_per_user", blanket_per_user, allowed)
    return n_users * slots, gamma


def check_users(n_users: int) -> None:
    """Refuse a number of users, who send one message each, outside [1, 1e15]."""
    check_integer("n_users", n_users, 1, most=LARGEST_USERS)


def check_epsilon(epsilon: float) -> None:
    """Refuse an epsilon outside [0, 300]."""
    check_within("epsilon", epsilon, 0, LARGEST_EPSILON)


def check_target(delta: float) -> None:
    """Refuse a target delta outside [1e-280, 1)."""
    too_small = isinstance(delta, Real) and 0 < delta < SMALLEST_TARGET
    note = ": below that, double precision ends, and only the local epsilon is known" if too_small else ""
    check_within("delta", delta, SMALLEST_TARGET, 1, "[)", note=note)


def check_local(local_epsilon: float, *, least: float = SMALLEST_LOCAL_EPSILON) -> None:
    """Refuse a local epsilon outside [least, 50]."""
    check_within("local_epsilon", local_epsilon, least, LARGEST_LOCAL_EPSILON)
