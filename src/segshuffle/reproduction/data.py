"""The data of a dataset, and the users of a setting who are drawn from them."""

import functools
import io
import sys
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from segshuffle.datasets.interface import CACHE, DataSource, Place, Section, recorded_kind
from segshuffle.datasets.population import Population
from segshuffle.datasets.registry import dataset_label, dataset_of
from segshuffle.errors import DataError, FetchError
from segshuffle.files import write_atomically
from segshuffle.reproduction.design import Setting
from segshuffle.seeds import stream


def obtain(
    given: Path | None, *, name: str, section: Section, seed: int, earlier: Path
) -> tuple[NDArray[Any], dict[str, str | None]]:
    """Obtain the data of one dataset: a given file, the download, or the labelled stand-in.

    Parameters
    ----------
    given : Path or None
        The user's own copy.
    name : str
        The dataset.
    section : mapping
        The keys of its section on which the data depend.
    seed : int
        The configuration's seed.
    earlier : Path
        The source that an earlier run recorded, if there was one.

    Returns
    -------
    tuple
        The data as an array, and where they came from.

    Raises
    ------
    DataError
        If a stand-in would take the place of real data.
    """
    place = Place(
        given=given,
        cache=CACHE,
        stream=functools.partial(stream, seed),
        log=print,
    )
    find = dataset_of(name).obtain
    assert find is not None  # for the type checker: datasets without it have no job
    data, source = find(section, place)
    print(f"{dataset_label(name, source.kind)}: {len(data)} users from {source.origin}")
    if source.kind != "real":
        if recorded_kind(earlier) == "real":
            raise DataError(
                f"{earlier}: the results were made from the real data of {name}, which are not at hand now "
                f"({source.reason}). No stand-in takes their place. Name your own copy by {dataset_of(name).given}, "
                f"or connect to the network; or remove {earlier.parent}, if you want results of a stand-in."
            )
        print(f"STAND-IN, not the real data: {source.reason}")
        # whoever watches the run must not miss it
        print(f"{name}: using a STAND-IN, not the real data; the log of the job says why", file=sys.__stderr__)
    return data, asdict(source)


def refresh(sections: Mapping[str, Section]) -> None:
    """Get the data of all datasets that are published into the cache, where they are not yet.

    Raises
    ------
    FetchError
        Lists what could not be had, after all have been tried.
    """
    failed = []
    for name, section in sections.items():
        if download := dataset_of(name).refresh:
            try:
                download(section, CACHE, print)
            except FetchError as error:
                failed.append(str(error))
    if failed:
        raise FetchError("\n".join(failed))


def population(
    data: NDArray[Any] | None = None,
    source: Mapping[str, Any] | None = None,
    *,
    setting: Setting,
    section: Section,
    seed: int,
) -> Population:
    """Draw the users of one setting: n users with exactly s items each."""
    users = dataset_of(setting.dataset).population(
        section=section,
        n_users=setting.n_users,
        set_size=setting.set_size,
        rng=stream(seed, "population", setting.id),
        data=data,
        source=None if source is None else DataSource(**source),
    )
    print(f"{setting.id}: {users.n_users} users, {users.source}")
    return users


def save_rows(path: str, rows: NDArray[Any]) -> None:
    """Write the data of a dataset as an npy file, completely or not at all."""
    # by way of memory: on a full disk numpy's own writer does not say why it failed
    np.save(packed := io.BytesIO(), rows)
    write_atomically(path, packed.getvalue())
