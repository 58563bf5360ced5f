"""A file of your own as a dataset of the pipeline: a section of the configuration that no other file declares.

The Snakefile imports this module, so it does not import numpy.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from segshuffle.datasets.interface import ITEMS, PADDING, Dataset, DataSource, Place, Section, padded_size, padded_users
from segshuffle.datasets.own.layout import OPTIONS, Layout
from segshuffle.errors import DataError
from segshuffle.files import sha256_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: JSON schema of every key of a file of your own beside n_users and set_sizes. Levels are drawn, not read.
KEYS: Mapping[str, Mapping[str, Any]] = {
    "path": {"description": "The file, in any format that is read", "type": "string", "minLength": 1},
    "domain_size": {"description": "Number of items, which is public; at least the number in the file", **ITEMS},
    "items": {
        **OPTIONS["user"],
        "description": "Public list of all items, one per line; without it, the items of the file",
    },
    "padding": PADDING,
    **{name: rules for name, rules in OPTIONS.items() if name != "level_column"},
}


def _obtain(section: Section, place: Place) -> tuple[NDArray[Any], DataSource]:
    """Read the file: a row per user, filled up with `NO_ITEM`."""
    from segshuffle.datasets.own.reading import read_transactions  # polars is no dependency of the core

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


#: `registry.own_dataset` adds the name of the section.
OWN = Dataset(
    name="",
    label="",
    licence="a file of your own, under the licence of its owner",
    domain_size=lambda section, set_size: padded_size(section["domain_size"], section, set_size),
    population=lambda **asked: padded_users(asked["section"]["domain_size"], **asked),
    keys=KEYS,
    obtain=_obtain,
    given_is="a table of users and items (see docs/data.md)",
)
