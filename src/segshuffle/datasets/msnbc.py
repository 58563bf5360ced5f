"""MSNBC: which pages people visited on 28 September 1999. The facts about the data, and how users are made of them."""

from __future__ import annotations

import contextlib
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from segshuffle.datasets.declared import PADDING, Dataset, DataSource, Place, Section, padded_size, padded_users

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Addresses of the file, in the order in which they are tried: the present one (a zip), then the older path.
URLS: tuple[str, ...] = (
    "https://archive.ics.uci.edu/static/public/133/msnbc+com+anonymous+web+data.zip",
    "https://archive.ics.uci.edu/ml/machine-learning-databases/msnbc-mld/msnbc990928.seq.gz",
)
#: SHA-256 of the uncompressed ``msnbc990928.seq``.
SHA256 = "982d85eb7aff1744e64d8bfadb21f53fb921b79d53b6305d4df232da59f218fe"
LICENCE = "D. Heckerman, MSNBC.com Anonymous Web Data, UCI Machine Learning Repository, CC BY 4.0, https://doi.org/10.24432/C5390X"
DOMAIN_SIZE = 17
N_SESSIONS = 989_818
#: Name of a download in the cache.
CACHED = "msnbc990928.seq.gz"


def _obtain(section: Section, place: Place) -> tuple[NDArray[Any], DataSource]:
    from segshuffle.datasets.msnbc_log import obtain_log

    return obtain_log(place, download=section["download"])


def _refresh(section: Section, cache: Path) -> bool:
    from segshuffle.datasets.msnbc_log import download_log
    from segshuffle.errors import FetchError

    with contextlib.suppress(FetchError):
        # one attempt: without a network this must not hold up the run
        return bool(section["download"] and download_log(cache / CACHED, attempts=1, timeout=2.0))
    return False


DATASET = Dataset(
    name="msnbc",
    label="MSNBC",
    licence=LICENCE,
    keys={
        "path": {
            "description": "Your own copy of the log; the environment variable SEGSHUFFLE_MSNBC overrides it",
            "type": ["string", "null"],
            "minLength": 1,
            "default": None,
        },
        "download": {
            "description": "Whether the log may be downloaded; without a log, labelled stand-in data take its place",
            "type": "boolean",
            "default": True,
        },
        "padding": PADDING,
    },
    domain_size=lambda section, set_size: padded_size(DOMAIN_SIZE, section, set_size),
    population=partial(padded_users, DOMAIN_SIZE),
    obtain=_obtain,
    refresh=_refresh,
    given="SEGSHUFFLE_MSNBC",
    given_is="msnbc990928.seq (.seq, .seq.gz or the UCI zip)",
    most_users=N_SESSIONS,
)
