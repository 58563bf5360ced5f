"""The methods and options that the files of this folder declare, read from their source without importing it.

The configuration is checked with them before any job starts, without numpy.
"""

import ast
import functools
from pathlib import Path
from typing import Any, NamedTuple

from segshuffle.errors import ConfigError

FOLDER = Path(__file__).parent
_SHAPE = (
    'METHODS must be a tuple of Declared("name", ...) with the name as a literal, '
    "and OPTIONS and PROVEN_OPTIONS literal dictionaries"
)


class Listed(NamedTuple):
    """What one file declares: accounting, role and name of its methods, and the JSON schema of every option."""

    methods: tuple[tuple[str, str, str], ...]
    published: dict[str, dict[str, Any]]
    proven: dict[str, dict[str, Any]]


def listed(folder: Path = FOLDER) -> dict[str, Listed]:
    """Map every file (without ending) to what it declares, without importing it.

    Raises
    ------
    ConfigError
        If a file is not Python, or its declaration has another form. The error names the file.
    """
    found = {path.stem: _declared_in(path, path.read_bytes()) for path in sorted(folder.glob("*.py"))}
    return {file: declared for file, declared in found.items() if declared is not None}


@functools.cache  # cached, because every construction of a method asks for it
def _declared_in(path: Path, text: bytes) -> Listed | None:
    try:
        tree = ast.parse(text.decode("utf-8"))
    except (SyntaxError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: not a Python file: {error}") from error
    values: dict[str, ast.expr] = {}
    for node in tree.body:
        match node:
            case ast.Assign([ast.Name(name)], value) | ast.AnnAssign(ast.Name(name), _, ast.expr() as value):
                values[name] = value
    if "METHODS" not in values:
        return None
    try:
        calls = [node for node in ast.iter_child_nodes(values["METHODS"]) if isinstance(node, ast.Call)]
        options = (values.get(name, ast.Dict([], [])) for name in ("OPTIONS", "PROVEN_OPTIONS"))
        return Listed(tuple(map(_declared, calls)), *map(ast.literal_eval, options))
    except (ValueError, IndexError) as error:
        raise ConfigError(f"{path}: {_SHAPE}.") from error


def _declared(call: ast.Call) -> tuple[str, str, str]:
    """Return the accounting, role and name of one method."""
    found = {"accounting": "published", "role": "competitor"}
    found |= {word.arg: ast.literal_eval(word.value) for word in call.keywords if word.arg in found}
    return found["accounting"], found["role"], ast.literal_eval(call.args[0])


def competitor_names() -> tuple[str, ...]:
    """Return the names that ``competitors.methods`` of the configuration may list."""
    methods = (method for declared in listed().values() for method in declared.methods)
    return tuple(name for accounting, role, name in methods if (accounting, role) == ("published", "competitor"))


def schemas() -> dict[str, dict[str, Any]]:
    """Return the JSON schemas of the keys that the files add to the sections ``competitors`` and ``proven``.

    These keys are the options of each file, under its name, and the list of methods.
    """
    methods = {"type": "array", "uniqueItems": True, "items": {"enum": list(competitor_names())}}
    return {"competitors": {"methods": methods, **_sections("published")}, "proven": _sections("proven")}


def _sections(accounting: str) -> dict[str, Any]:
    """Return the JSON schema of the options of every file that has options under this accounting."""
    return {
        file: {"type": "object", "additionalProperties": False, "properties": options}
        for file, declared in listed().items()
        if (options := getattr(declared, accounting))
    }
