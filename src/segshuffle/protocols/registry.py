"""All methods that the files of this folder declare in ``METHODS``."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from segshuffle.discovered import discovered
from segshuffle.errors import ConfigError
from segshuffle.protocols.listed import PACKAGE, listed
from segshuffle.protocols.method import Declared, Options

if TYPE_CHECKING:
    from segshuffle.protocols.method import Method

#: Accounting and name; a method may be declared under both accountings.
Key = tuple[str, str]


@functools.cache
def every(package: str = PACKAGE) -> dict[Key, Declared]:
    """Return all declared methods by accounting and name.

    Raises
    ------
    ConfigError
        If a file cannot be imported, or two files declare the same name under one accounting. The error names the file.
    """
    found: dict[Key, Declared] = {}
    for path, methods in discovered(package, "METHODS").items():
        for declared in methods:
            key = (declared.accounting, declared.name)
            if key in found:
                raise ConfigError(
                    f"{path}: declares the {declared.accounting} method {declared.name!r}, as "
                    f"{found[key].file}.py does; give it a name of its own."
                )
            found[key] = replace(declared, file=path.stem)
    return found


def proven(section: Mapping[str, Any], *roles: str) -> dict[str, Method]:
    """Make the proven methods of some roles, with the options of their section, role by role.

    Parameters
    ----------
    section : mapping
        The section ``proven`` of the configuration; "variants" names the variants that run. Missing options have their
        defaults.
    roles : str
        As `Declared.role` says.
    """
    chosen = [each for role in roles for each in every().values() if (each.accounting, each.role) == ("proven", role)]
    return {
        each.name: made(each, section) for each in chosen if each.role != "variant" or each.name in section["variants"]
    }


def made(declared: Declared, section: Mapping[str, Any], chosen: Options | None = None) -> Method:
    """Make the method with options from the configuration; options of its file are under the file's name.

    Parameters
    ----------
    declared : Declared
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
    schemas, given = getattr(listed()[declared.file], declared.accounting), section.get(declared.file, {})
    own = {key: given.get(key, schema["default"]) for key, schema in schemas.items()} | dict(chosen or {})
    return declared.make({**section, **own} if declared.accounting == "proven" else own)


def paper_competitors() -> frozenset[str]:
    """Return the names of the paper's competitors, which alone count for the verdicts on it."""
    return frozenset(each.name for each in every().values() if each.in_paper)
