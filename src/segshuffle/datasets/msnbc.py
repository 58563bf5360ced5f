"""MSNBC: which pages people visited on 28 September 1999.

The file lists, for each user of one day, the categories of the pages visited, in order. Here only the set of distinct
categories of a user matters.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from segshuffle.datasets.original import Original

if TYPE_CHECKING:
    from segshuffle.arrays import BoolArray

DOMAIN_SIZE = 17
N_SESSIONS = 989_818
#: Number of users of the log with 1, 2, ..., 17 distinct categories.
USERS_PER_SET_SIZE: tuple[int, ...] = (
    *(601_384, 214_392, 94_711, 43_321, 19_692, 8_902, 4_008, 1_688, 737),
    *(297, 142, 238, 143, 74, 67, 9, 13),
)
#: Number of users of the log who visited category 1 (frontpage), 2 (news), ..., 17 (travel) at least once.
USERS_PER_CATEGORY: tuple[int, ...] = (
    *(313_181, 175_286, 121_948, 121_719, 24_987, 217_101, 80_514, 95_615, 90_192),
    *(50_606, 57_597, 112_183, 76_948, 119_138, 29_200, 2_082, 11_006),
)


def _rows(content: bytes) -> BoolArray:
    """Return whether a user visited category c + 1, in column c; users in the file's order."""
    import numpy as np

    # numbers 1..17 with blanks between, a line per user; each line end becomes a 0, which is no category
    body = content.partition(b"% Sequences:")[2].strip().replace(b"\n", b" 0 ")
    visited = np.fromstring(body, dtype=np.int64, sep=" ")
    user, visit = np.cumsum(visited == 0), visited > 0
    held = np.zeros((int(user[-1]) + 1, DOMAIN_SIZE), dtype=np.bool_)
    held[user[visit], visited[visit] - 1] = True
    return held


LOG = Original(
    dataset="msnbc",
    label="MSNBC",
    name="msnbc990928.seq",
    # the present address (a zip), then the older path
    urls=(
        "https://archive.ics.uci.edu/static/public/133/msnbc+com+anonymous+web+data.zip",
        "https://archive.ics.uci.edu/ml/machine-learning-databases/msnbc-mld/msnbc990928.seq.gz",
    ),
    sha256="982d85eb7aff1744e64d8bfadb21f53fb921b79d53b6305d4df232da59f218fe",
    licence="D. Heckerman, MSNBC.com Anonymous Web Data, UCI Machine Learning Repository, CC BY 4.0, "
    "https://doi.org/10.24432/C5390X",
    n_users=N_SESSIONS,
    domain_size=DOMAIN_SIZE,
    read=_rows,
    users_per_size=USERS_PER_SET_SIZE,
    users_per_item=USERS_PER_CATEGORY,
)
DATASET = LOG.as_dataset()
