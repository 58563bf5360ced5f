"""The options that say how to read a file of users; each is a field of `Layout`."""

from __future__ import annotations

import argparse
from typing import Any

from segshuffle.cli.options import whole
from segshuffle.datasets.layout import OPTIONS, Layout

#: Fields that are names of columns; their options say so, because --level is a privacy level.
_COLUMNS = ("user", "item", "level")


def add_layout(parser: argparse.ArgumentParser, title: str) -> None:
    """Add the options, in a group with this title."""
    group = parser.add_argument_group(title)
    for name, rules in OPTIONS.items():
        option = f"{name}-column" if name in _COLUMNS else name.replace("_", "-")
        given: dict[str, Any] = {"dest": f"layout_{name}", "help": rules["description"]}
        if "enum" in rules:
            given["choices"] = [each for each in rules["enum"] if each]
        elif rules["type"] == "boolean":
            given["action"] = argparse.BooleanOptionalAction
        else:
            given |= {"type": whole if rules["type"] == "integer" else str, "metavar": "VALUE"}
        group.add_argument(f"--{option}", **given)


def layout_of(options: argparse.Namespace) -> Layout:
    """Return the layout that the options describe."""
    given = {name: getattr(options, f"layout_{name}") for name in OPTIONS}
    return Layout(**{name: value for name, value in given.items() if value is not None})
