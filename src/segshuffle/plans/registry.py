"""All methods that the files of `protocols` declare in ``METHODS``."""

import functools
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from segshuffle.discovered import discovered
from segshuffle.errors import ConfigError
from segshuffle.plans.listed import PACKAGE, listed
from segshuffle.plans.method import Method, MethodEntry, Options

#: Accounting and name; a method may be declared under both accountings.
Key = tuple[str, str]


@functools.cache
def every(package: str = PACKAGE) -> dict[Key, MethodEntry]:
    """Return all methods by accounting and name.

    Raises
    ------
    ConfigError
        If a file cannot be imported, or two files declare the same name under one accounting. The error names the file.
    """
    methods_by_key: dict[Key, MethodEntry] = {}
    for path, methods in discovered(package, "METHODS").items():
        for each in methods:
            key = (each.accounting, each.name)
            if key in methods_by_key:
                raise ConfigError(
                    f"{path}: declares the {each.accounting} method {each.name!r}, as "
                    f"{methods_by_key[key].file}.py does; give it a name of its own."
                )
            methods_by_key[key] = replace(each, file=path.stem)
    return methods_by_key


def methods_of(accounting: str, role: str) -> list[MethodEntry]:
    """List the methods of one accounting and role."""
    return [each for each in every().values() if (each.accounting, each.role) == (accounting, role)]


def made(method: MethodEntry, section: Mapping[str, Any], chosen: Options | None = None) -> Method:
    """Make the method with options from the configuration; options of its file are under the file's name.

    Parameters
    ----------
    method : MethodEntry
        One of `every`.
    section : mapping
        The section ``competitors`` or ``proven``; missing options have their defaults.
    chosen : mapping, optional
        Options of the file that replace those of the section.

    Raises
    ------
    ParameterError
        If the method refuses its options.
    """
    schemas, given = getattr(listed()[method.file], method.accounting), section.get(method.file, {})
    own = {key: given.get(key, schema["default"]) for key, schema in schemas.items()} | dict(chosen or {})
    return method.make({**section, **own} if method.accounting == "proven" else own)


def paper_competitors() -> frozenset[str]:
    """Return the names of the paper's competitors, which alone count for the verdicts on it."""
    return frozenset(each.name for each in every().values() if each.in_paper)
