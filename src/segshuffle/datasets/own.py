"""A file of one's own as a dataset: any section of ``datasets`` whose name is not taken, with a path.

The Snakefile imports this: no numpy, and nothing is read before a job does.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from segshuffle.datasets.declared import ITEMS, Dataset, Place, Section
from segshuffle.datasets.layout import ABOUT, CHOICES, FORMATS, FORMS, Layout

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from segshuffle.datasets.population import Population
    from segshuffle.datasets.source import DataSource

#: Names of sections: they become parts of file names.
NAME = "^[a-z][a-z0-9-]*$"

_TEXT: dict[str, Any] = {"type": ["string", "null"], "minLength": 1, "default": None}
#: JSON schema of every key of such a section beside n_users and set_sizes.
KEYS: Mapping[str, Mapping[str, Any]] = {
    "path": {"description": "The file, in any format that is read", "type": "string", "minLength": 1},
    "domain_size": {
        "description": "Number of items, which is public; at least those that the file has",
        **ITEMS,
    },
    "items": {"description": "Public list of all items, one per line; without it those of the file", **_TEXT},
    "padding": {
        "description": "What users with fewer than s items hold besides",
        "enum": ["in-domain", "dummy"],
        "default": "in-domain",
    },
    "format": {"description": ABOUT["format"], "enum": [None, *FORMATS], "default": None},
    "form": {"description": ABOUT["form"], "enum": [None, *FORMS], "default": None},
    "user": {"description": ABOUT["user"], **_TEXT},
    "item": {"description": ABOUT["item"], **_TEXT},
    "separator": {"description": ABOUT["separator"], **_TEXT},
    "header": {"description": ABOUT["header"], "type": "boolean", "default": True},
    "skip_lines": {
        "description": ABOUT["skip_lines"],
        "type": "integer",
        "minimum": 0,
        "maximum": 1000000,
        "default": 0,
    },
    **{
        name: {"description": ABOUT[name], "enum": list(choices), "default": choices[0]}
        for name, choices in CHOICES.items()
    },
}


def own_dataset(name: str) -> Dataset:
    """What is known of a section that is a file of one's own."""
    return Dataset(
        name=name,
        label=name,
        kind="real",
        domain_size=_domain_size,
        population=functools.partial(_population, name=name),
        keys=KEYS,
        obtain=_obtain,
        given_is="a table of users and items (see docs/data.md)",
    )


def _domain_size(section: Section, set_size: int) -> int:
    """Dummy padding adds set_size items."""
    return int(section["domain_size"]) + (set_size if section["padding"] == "dummy" else 0)


def _obtain(section: Section, place: Place) -> tuple[NDArray[Any], DataSource]:
    """Read the file: a row per user, filled up with `NO_ITEM`."""
    import hashlib

    from segshuffle.datasets.files.reading import read_transactions
    from segshuffle.datasets.source import DataSource
    from segshuffle.errors import DataError

    assert place.given is not None
    items = section["items"]
    users = read_transactions(
        place.given, items=None if items is None else Path(items).expanduser(), layout=Layout.of(section)
    )
    for note in users.notes:
        place.log(note)
    if users.domain_size > section["domain_size"]:
        raise DataError(
            f"{place.given}: {users.domain_size} items, but domain_size = {section['domain_size']}. Raise it, or give "
            "a list of items and unknown: drop."
        )
    with place.given.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    return users.rows(), DataSource("real", digest, place.given.name)


def _population(
    *, name: str, section: Section, n_users: int, set_size: int, rng: Any, data: NDArray[Any], source: DataSource
) -> Population:
    from segshuffle.datasets.sampling import padded_population

    return padded_population(
        data,
        domain_size=section["domain_size"],
        n_users=n_users,
        set_size=set_size,
        padding=section["padding"],
        rng=rng,
        label=name,
    )
