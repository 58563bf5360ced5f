"""Options, declared once: fields of dataclasses with a description, a range and a default.

The flags of the command line, the keywords of `segshuffle.plan`, the keys of files and the documentation of the classes
are made from these declarations. They mean the same everywhere.
"""

import math
from collections.abc import Mapping
from dataclasses import MISSING, Field, field, fields
from typing import Any, TypeVar

Class = TypeVar("Class", bound=type)


def option(default: Any, description: str, **rules: Any) -> Any:
    """Return a field of a dataclass that is an option.

    Parameters
    ----------
    default : object
        Its value if nothing is said.
    description : str
        One sentence; the range and the default are added where it is shown.
    **rules
        What is allowed, in words of JSON schema: ``type``, ``enum``, ``minimum``, ``exclusiveMinimum``, ``maximum``,
        ``exclusiveMaximum``. ``name``: what it is called outside the class, if not like the field.
    """
    return field(default=default, metadata={"description": description, **rules})


def options_of(*classes: type) -> dict[str, Field[Any]]:
    """Return the declared fields of classes, by the name that callers use."""
    every = [each for one in classes for each in fields(one)]
    return {each.metadata.get("name", each.name): each for each in every if "description" in each.metadata}


def fields_of(one: type, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values, by the name that callers use, that belong to a class, as arguments to make it."""
    return {each.name: values[name] for name, each in options_of(one).items() if name in values}


def interval(rules: Mapping[str, Any]) -> tuple[float, float, str]:
    """Return the ends of the allowed range, and which of them belong to it."""
    low, high = rules.get("exclusiveMinimum"), rules.get("exclusiveMaximum")
    least = rules.get("minimum", -math.inf) if low is None else low
    most = rules.get("maximum", math.inf) if high is None else high
    left = "(" if low is not None or least == -math.inf else "["
    return least, most, left + (")" if high is not None or most == math.inf else "]")


def sentence(option_field: Field[Any]) -> str:
    """Return the description of an option with its range and default."""
    text, default = str(option_field.metadata["description"]), option_field.default
    least, most, ends = interval(option_field.metadata)
    if most < math.inf:
        text += f", in {ends[0]}{least:g}, {most:g}{ends[1]}"
    elif least > -math.inf:
        text += f", {'above' if ends[0] == '(' else 'at least'} {least:g}"
    if default in (None, False, MISSING):
        return text
    return f"{text} (default: {'yes' if default is True else default})"


def described(cls: Class) -> Class:
    """Add the declared fields to the documentation of a dataclass, before what it raises."""
    lines = ["    Parameters", "    ----------"]
    for each in fields(cls):
        if "description" in each.metadata:
            kind = each.type if isinstance(each.type, str) else getattr(each.type, "__name__", str(each.type))
            lines += [f"    {each.name} : {kind}", f"        {sentence(each)}"]
    text, raises, errors = (cls.__doc__ or "").partition("    Raises\n")
    cls.__doc__ = "\n".join([text.rstrip(), "", *lines, "", raises + errors])
    return cls
