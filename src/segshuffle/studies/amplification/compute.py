"""One entry for all figures and tables: from an id to its tidy table."""

from __future__ import annotations

import pandas as pd

from segshuffle.errors import ConfigError
from segshuffle.studies.amplification import decomposition, personalized, variation
from segshuffle.studies.amplification.design import ITEMS


def compute(name: str, *, points: int, n_jobs: int = 1) -> pd.DataFrame:
    """Tidy table of a figure or table.

    Parameters
    ----------
    name : str
        One of `design.ITEMS`.
    points : int
        Points of every curve; tables have the paper's own.
    n_jobs : int
        Processes.

    Returns
    -------
    DataFrame
        Columns `curves.COLUMNS`.
    """
    if name not in ITEMS:
        raise ConfigError(f"amplification: {name!r} is not one of {', '.join(ITEMS)}")
    item = ITEMS[name]
    if item.table:
        return variation.table5() if item.paper == "variation" else personalized.table2()
    if item.paper == "personalized":
        return personalized.figure4(points, n_jobs=n_jobs)
    if item.paper == "decomposition":
        return decomposition.compute(item.number, points=points, n_jobs=n_jobs)
    return variation.compute(item.number, points=points, n_jobs=n_jobs)
