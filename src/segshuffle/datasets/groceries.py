"""Groceries: what is in the baskets of a shop, one month of its sales."""

from __future__ import annotations

from typing import TYPE_CHECKING

from segshuffle.datasets.original import Original

if TYPE_CHECKING:
    from segshuffle.arrays import BoolArray

#: Published: baskets with 1, 2, ..., 32 items, and with each of the five most frequent items.
BASKETS_PER_SIZE = (
    *(2159, 1643, 1299, 1005, 855, 645, 545, 438, 350, 246, 182, 117, 78, 77, 55, 46),
    *(29, 14, 14, 9, 11, 4, 6, 1, 0, 1, 1, 1, 3, 0, 0, 1),
)
BASKETS_PER_ITEM = (2513, 1903, 1809, 1715, 1372)


def _baskets(content: bytes) -> bytes:
    """Turn a table with a row per basket and item, as R exports it, into the file: a line per basket."""
    head, *rows = content.decode(errors="replace").splitlines()[:1_000_000] or [""]
    if head != "basket,item":
        return content
    baskets: dict[str, list[str]] = {}
    for basket, _, item in (row.partition(",") for row in rows):
        baskets.setdefault(basket, []).append(item)
    return "".join(f"{','.join(items)}\n" for items in baskets.values()).encode()


def _rows(content: bytes) -> BoolArray:
    """Return whether a basket holds an item; items in alphabetical order."""
    import numpy as np

    baskets = [line.split(",") for line in content.decode().splitlines()]
    items = {item: number for number, item in enumerate(sorted({item for basket in baskets for item in basket}))}
    held = np.zeros((len(baskets), len(items)), dtype=np.bool_)
    for row, basket in zip(held, baskets, strict=True):
        row[[items[item] for item in basket]] = True
    return held


FILE = Original(
    dataset="groceries",
    label="Groceries",
    name="groceries.csv",
    urls=(
        "https://raw.githubusercontent.com/stedy/Machine-Learning-with-R-datasets/"
        "9a8371e95098f3048c5540646b9fb96c7571b110/groceries.csv",
    ),
    sha256="ff1be892fd6b9b57d1a7bc50de067798963dda607619645988b21789bf23ae3b",
    licence="M. Hahsler, B. Gruen and K. Hornik, arules, Journal of Statistical Software 14(15), 2005, its data set "
    "Groceries, GPL-3, https://doi.org/10.18637/jss.v014.i15",
    n_users=9_835,
    domain_size=169,
    read=_rows,
    users_per_size=BASKETS_PER_SIZE,
    users_per_item=BASKETS_PER_ITEM,
    same=_baskets,
)
DATASET = FILE.as_dataset()
