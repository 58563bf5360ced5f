"""What the files of a package declare under one name, such as METHODS: a new file is found by being there."""

import ast
import importlib
from pathlib import Path
from typing import Any

from segshuffle.errors import ConfigError


def declaring(package: str, name: str) -> dict[Path, dict[str, ast.expr]]:
    """Find the files of a package that assign a value to a name, without importing them.

    Parameters
    ----------
    package : str
        Full name of the package, such as "segshuffle.protocols".
    name : str
        What the files declare.

    Returns
    -------
    dict
        For every such file, in the order of their names, the expressions of all its assignments.

    Raises
    ------
    ConfigError
        If a file that contains the name is not Python; names the file.
    """
    values_by_file = {}
    for path in sorted(Path(importlib.import_module(package).__path__[0]).glob("[!_]*.py")):
        text = path.read_bytes()
        if name.encode() not in text:
            continue
        try:
            tree = ast.parse(text)
        except (SyntaxError, ValueError) as error:
            raise ConfigError(f"{path}: not a Python file: {error}") from error
        values: dict[str, ast.expr] = {}
        for node in tree.body:
            match node:
                case ast.Assign([ast.Name(target)], value) | ast.AnnAssign(ast.Name(target), _, ast.expr() as value):
                    values[target] = value
        if name in values:
            values_by_file[path] = values
    return values_by_file


def discovered(package: str, name: str) -> dict[Path, Any]:
    """Import the files that `declaring` finds, and return what each declares.

    Raises
    ------
    ConfigError
        If a file cannot be imported; names the file.
    """
    values_by_file = {}
    for path in declaring(package, name):
        try:
            values_by_file[path] = getattr(importlib.import_module(f"{package}.{path.stem}"), name)
        except Exception as error:
            raise ConfigError(f"{path}: cannot be imported: {type(error).__name__}: {error}") from error
    return values_by_file
