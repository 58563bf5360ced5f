"""A file of one's own as a dataset: any section of ``datasets`` whose name is not taken, with a path.

The Snakefile imports this: no numpy, and nothing is read before a job does.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from segshuffle.datasets.declared import ITEMS, PADDING, Dataset, DataSource, Place, Section, padded_size, padded_users
from segshuffle.datasets.layout import OPTIONS, Layout

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Names of sections: they become parts of file names.
NAME = "^[a-z][a-z0-9-]*$"

#: JSON schema of every key of such a section beside n_users and set_sizes. Levels are drawn: a file gives none.
KEYS: Mapping[str, Mapping[str, Any]] = {
    "path": {"description": "The file, in any format that is read", "type": "string", "minLength": 1},
    "domain_size": {"description": "Number of items, which is public; at least those that the file has", **ITEMS},
    "items": {
        **OPTIONS["user"],
        "description": "Public list of all items, one per line; without it those of the file",
    },
    "padding": PADDING,
    **{name: rules for name, rules in OPTIONS.items() if name != "level"},
}


def own_dataset(name: str) -> Dataset:
    """Describe a section that is a file of one's own."""
    return Dataset(
        name=name,
        label=name,
        domain_size=lambda section, set_size: padded_size(section["domain_size"], section, set_size),
        population=lambda **asked: padded_users(asked["section"]["domain_size"], **asked),
        keys=KEYS,
        obtain=_obtain,
        given_is="a table of users and items (see docs/data.md)",
    )


def _obtain(section: Section, place: Place) -> tuple[NDArray[Any], DataSource]:
    """Read the file: a row per user, filled up with `NO_ITEM`."""
    from segshuffle.datasets.reading import read_transactions
    from segshuffle.errors import DataError
    from segshuffle.files import sha256_of

    assert place.given is not None
    items = None if section["items"] is None else Path(section["items"]).expanduser()
    layout = Layout(**{name: section[name] for name in OPTIONS if name in section})
    users = read_transactions(place.given, items=items, layout=layout)
    for note in users.notes:
        place.log(note)
    if users.domain_size > section["domain_size"]:
        raise DataError(
            f"{place.given}: {users.domain_size} items, but domain_size = {section['domain_size']}. Raise it, or give "
            "a list of items and unknown: drop."
        )
    return users.rows(), DataSource("real", sha256_of(place.given), place.given.name)
