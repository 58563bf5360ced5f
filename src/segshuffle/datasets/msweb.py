"""MS Web: which areas of www.microsoft.com people visited in one week of February 1998."""

from __future__ import annotations

from typing import TYPE_CHECKING

from segshuffle.datasets.original import Original

if TYPE_CHECKING:
    from segshuffle.arrays import BoolArray

#: Numbers of users of the log with 1, 2, ..., 35 areas, and with each of the eight most visited areas.
USERS_PER_SET_SIZE = (
    *(9995, 8433, 4739, 3264, 2129, 1384, 896, 590, 406, 265, 178, 122, 90, 66, 45, 27, 20, 17),
    *(11, 7, 5, 8, 4, 1, 0, 2, 0, 4, 0, 1, 1, 0, 0, 0, 1),
)
USERS_PER_AREA = (10_836, 9_383, 8_463, 5_330, 5_108, 4_628, 4_451, 3_220)


def _rows(content: bytes) -> BoolArray:
    """Return whether a user visited an area; users and areas in the file's order."""
    import numpy as np

    lines = [line.split(",") for line in content.decode().splitlines()]
    areas = [fields[1] for fields in lines if fields[0] == "A"]
    columns = {area: number for number, area in enumerate(areas)}
    held = np.zeros((sum(fields[0] == "C" for fields in lines), len(areas)), dtype=np.bool_)
    user = -1
    for kind, area, *_ in lines:
        if kind == "C":
            user += 1
        elif kind == "V":
            held[user, columns[area]] = True
    return held


LOG = Original(
    dataset="msweb",
    label="MS Web",
    name="anonymous-msweb.data",
    # the present address (a zip), then the older path
    urls=(
        "https://archive.ics.uci.edu/static/public/4/anonymous+microsoft+web+data.zip",
        "https://archive.ics.uci.edu/ml/machine-learning-databases/anonymous/anonymous-msweb.data.gz",
    ),
    sha256="52a17f3071d7c4463c201adb8f4491beb3f855efae8f751afe933cad4c37f87a",
    licence="J. Breese, D. Heckerman and C. Kadie, Anonymous Microsoft Web Data, UCI Machine Learning Repository, "
    "CC BY 4.0, https://doi.org/10.24432/C5VS3Q",
    n_users=32_711,
    domain_size=294,
    read=_rows,
    users_per_size=USERS_PER_SET_SIZE,
    users_per_item=USERS_PER_AREA,
)
DATASET = LOG.as_dataset()
