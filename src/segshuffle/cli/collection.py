"""A question in a TOML file: keys are the names of options, and options of the command override them.

    items = "items.txt"
    set_size = 8
    levels = "0.5:1250,1.0:3750"
    delta = 1e-6
    honest_fraction = 0.9
    guess = "zipf:1"
    target_error = "10%"

Paths in it are relative to its folder. A saved plan may stand in its place.
"""

import argparse
import contextlib
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from segshuffle.cli.options import number
from segshuffle.cli.terminal import flag
from segshuffle.errors import DataError, similar
from segshuffle.files import read_text

#: How the names of saved plans end.
SAVED = ".json"
#: Largest file, in bytes.
_LARGEST = 2**20
#: Options whose value may be the name of a file.
_FILES = ("items", "guess")


class Collection(argparse.Action):
    """Read the options that the command line does not give from a file.

    Parameters
    ----------
    fields : mapping of str to Field
        Options that may stand in the file, by name.
    """

    def __init__(self, *, fields: Mapping[str, Any], **given: Any) -> None:
        super().__init__(**given)
        self.fields = fields

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: str | None = None) -> None:
        """Store what the file says."""
        if values is None:
            return
        namespace.collection = path = Path(values)
        namespace.lines = {}
        if path.suffix == SAVED:
            return
        for name, (line, value) in self._read(path).items():
            parser.place = f"{path}, line {line}: "
            if wanted := _wanted(self.fields[name].metadata.get("type"), value):
                parser.error(f"{name}: {value!r:.60} is not allowed; expected is {wanted}")
            parsed = getattr(parser.parse_args(_words(name, value)), name)
            if name in _FILES and isinstance(parsed, str | Path) and (path.parent / parsed).exists():
                parsed = type(parsed)(path.parent / parsed)
            # options before the file are stored already, and those after it are stored over this value
            if getattr(namespace, name) is None:
                setattr(namespace, name, parsed)
                namespace.lines[name] = line, parsed
        parser.place = ""

    def _read(self, path: Path) -> dict[str, tuple[int, Any]]:
        """Return the line and the value of every key."""
        text = read_text(path, limit=_LARGEST)
        try:
            table = tomllib.loads(text)
        except (tomllib.TOMLDecodeError, RecursionError, ValueError) as error:
            raise DataError(
                f"{path} is no TOML file: {error}. Write lines KEY = VALUE. For data of users there are segshuffle "
                "rehearse FILE, and segshuffle client PLAN.json --users FILE."
            ) from error
        keys = [line.partition("=")[0].strip() for line in text.splitlines()]
        lines = {name: keys.index(name) + 1 if name in keys else 1 for name in table}
        for name in table:
            if name not in self.fields:
                told = f"{path}, line {lines[name]}: {name[:40]} is unknown{similar(name, self.fields)}"
                raise DataError(f"{told}. Known are {', '.join(self.fields)}.")
        return {name: (lines[name], value) for name, value in table.items()}


def _wanted(kind: str | None, value: Any) -> str:
    """Say what is expected in place of a value of another kind than is declared; empty for a value of this kind."""
    if kind == "boolean":
        return "" if isinstance(value, bool) else "true or false"
    fits = kind is None or (isinstance(value, int | float | str) and not isinstance(value, bool))
    if isinstance(value, str):
        with contextlib.suppress(ValueError):
            number(value)  # a number, but in quotes
            fits = False
    return "" if fits else "a number, without quotes"


def _words(name: str, value: Any) -> list[str]:
    """Write a key as an option."""
    if isinstance(value, bool):
        return [flag(name if value else f"no_{name}")]
    return [f"{flag(name)}={','.join(map(str, value)) if isinstance(value, list) else value}"]
