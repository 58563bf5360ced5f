"""The methods and options that the files of `protocols` declare, read from their source without importing it.

The configuration is checked with them before any job starts, without numpy.
"""

import ast
import functools
from typing import Any, NamedTuple

from segshuffle.discovered import declaring
from segshuffle.errors import ConfigError

PACKAGE = "segshuffle.protocols"
_SHAPE = (
    'METHODS must be a tuple of MethodEntry("name", ...) with the name as a literal, '
    "and OPTIONS and PROVEN_OPTIONS literal dictionaries"
)
_NAMES = {"type": "array", "uniqueItems": True}


class Listed(NamedTuple):
    """What one file declares: accounting, role and name of its methods, and the JSON schema of every option."""

    methods: tuple[tuple[str, str, str], ...]
    published: dict[str, dict[str, Any]]
    proven: dict[str, dict[str, Any]]


@functools.cache
def listed(package: str = PACKAGE) -> dict[str, Listed]:
    """Map every file (without ending) to what it declares, without importing it.

    Raises
    ------
    ConfigError
        If a file is not Python, or its declaration has another form. The error names the file.
    """
    by_file = {}
    for path, values in declaring(package, "METHODS").items():
        try:
            calls = [node for node in ast.iter_child_nodes(values["METHODS"]) if isinstance(node, ast.Call)]
            options = (values.get(name, ast.Dict([], [])) for name in ("OPTIONS", "PROVEN_OPTIONS"))
            by_file[path.stem] = Listed(tuple(map(_declared, calls)), *map(ast.literal_eval, options))
        except (ValueError, IndexError) as error:
            raise ConfigError(f"{path}: {_SHAPE}.") from error
    return by_file


def _declared(call: ast.Call) -> tuple[str, str, str]:
    """Return the accounting, role and name of one method."""
    options = {"accounting": "published", "role": "competitor"}
    options |= {word.arg: ast.literal_eval(word.value) for word in call.keywords if word.arg in options}
    return options["accounting"], options["role"], ast.literal_eval(call.args[0])


def names_of(accounting: str, role: str) -> list[str]:
    """List the names of the methods of one accounting and role."""
    methods = [method for one in listed().values() for method in one.methods]
    return [name for *kind, name in methods if kind == [accounting, role]]


def schemas() -> dict[str, dict[str, Any]]:
    """Return the JSON schemas of the keys that the files add to the sections ``competitors`` and ``proven``.

    These keys are the options of each file, under its name, and the lists of names.
    """
    competitors, variants = names_of("published", "competitor"), names_of("proven", "variant")
    what = "Further variants of the proven protocol to run"
    return {
        "competitors": {"methods": {**_NAMES, "items": {"enum": competitors}}, **_sections("published")},
        "proven": {"variants": {"description": what, **_NAMES, "items": {"enum": variants}}, **_sections("proven")},
    }


def _sections(accounting: str) -> dict[str, Any]:
    """Return the JSON schema of the options of every file that has options under this accounting."""
    return {
        file: {"type": "object", "additionalProperties": False, "properties": options}
        for file, one in listed().items()
        if (options := getattr(one, accounting))
    }
