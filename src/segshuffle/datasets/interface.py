"""What the file of a dataset declares for the configuration, downloads, samples, plans and figures.

The Snakefile imports the files of all datasets, so these import numpy inside functions only.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from segshuffle.datasets.population import Population

#: A dataset's section of the configuration, complete.
Section = Mapping[str, Any]
#: Folder in which verified files of all runs are kept, in the working directory.
CACHE = Path("data")
#: JSON schema of a number of items, at most `arrays.LARGEST_DOMAIN`.
ITEMS: Mapping[str, Any] = {"type": "integer", "minimum": 2, "maximum": 10_000_000}


#: JSON schema of how users with too few items are padded.
PADDING: Mapping[str, Any] = {
    "description": "Items added for users with fewer than s items: random other items, or dummy items",
    "enum": ["in-domain", "dummy"],
    "default": "in-domain",
}


def padded_size(domain_size: int, section: Section, set_size: int) -> int:
    """Return the number of items with those that pad: dummy padding adds set_size items."""
    return domain_size + (set_size if section["padding"] == "dummy" else 0)


def padded_users(domain_size: int, *, section: Section, source: DataSource, **asked: Any) -> Population:
    """Sample users of the data and pad them as the section asks; `partial` makes it a `Dataset.population`."""
    from segshuffle.datasets.sampling import padded_population

    return padded_population(domain_size=domain_size, padding=section["padding"], source=source.kind, **asked)


@dataclass(frozen=True)
class DataSource:
    """Where data came from; the same on every machine.

    Parameters
    ----------
    kind : {"real", "stand-in"}
        Whether these are the real data.
    sha256 : str or None
        SHA-256 of the file, uncompressed unless the dataset is a file of your own; None for a stand-in.
    origin : str
        The address, or the name of the file without its folder; for a stand-in how it was made.
    reason : str
        Why a stand-in was used; "" for real data.
    """

    kind: Literal["real", "stand-in"]
    sha256: str | None
    origin: str
    reason: str = ""


def recorded_kind(source: Path) -> str | None:
    """Return the kind of data that an earlier run recorded, "real" or "stand-in"; None if it recorded nothing."""
    return str(json.loads(source.read_text(encoding="utf-8"))["kind"]) if source.is_file() else None


class Place(NamedTuple):
    """Where a dataset may look for its data.

    Parameters
    ----------
    given : Path or None
        The user's own copy; if there is one nothing else may be tried.
    cache : Path
        Folder in which verified files are kept.
    stream : callable
        Random generator for a role, such as ``stream("stand-in")``.
    log : callable
        Takes a line of text.
    """

    given: Path | None
    cache: Path
    stream: Callable[..., np.random.Generator]
    log: Callable[[str], object]


@dataclass(frozen=True)
class Dataset:
    """One dataset; its file says ``DATASET = Dataset(...)``.

    Parameters
    ----------
    name : str
        Section of ``datasets`` in the configuration, and identifier in tables and file names.
    label : str
        Name in figures.
    domain_size : callable
        Number of items of a section at a set size.
    population : callable
        Users who hold exactly set_size items: called with section, n_users, set_size, rng, data and source; the last
        two are what `obtain` returned, or None.
    licence : str
        Licence and citation.
    keys : mapping
        JSON schema of every key of the section beside n_users and set_sizes, with a description; a key with a default
        may be left out.
    obtain : callable, optional
        Returns the data as an array and where they came from; called with section and a `Place`.
    refresh : callable, optional
        Downloads the data into the cache, unless they are there or the section forbids it; called with section, cache
        and log. `FetchError` if they cannot be had.
    kept : callable, optional
        Whether the cache has the data, verified; called with the cache. Only for data that are known in advance: a
        copy of the user's own can then have no other content, and its path is no input of a job.
    given : str
        Environment variable with the path of the user's own copy; overrides the key ``path`` of the section.
    given_is : str
        What that file is, for messages.
    most_users : int
        Users that the data have.
    """

    name: str
    label: str
    domain_size: Callable[[Section, int], int]
    population: Callable[..., Population]
    licence: str = ""
    keys: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    obtain: Callable[[Section, Place], tuple[NDArray[Any], DataSource]] | None = None
    refresh: Callable[[Section, Path, Callable[[str], object]], object] | None = None
    kept: Callable[[Path], bool] | None = None
    given: str = ""
    given_is: str = "the data file"
    most_users: int = 100_000_000
