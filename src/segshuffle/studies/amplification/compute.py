"""One entry for all figures and tables: from an id to its tidy table."""

from __future__ import annotations

import pandas as pd

from segshuffle.errors import ConfigError
from segshuffle.studies.amplification import decomposition_paper, personalized_paper, variation_paper
from segshuffle.studies.amplification.exhibits import EXHIBITS


def compute(name: str, *, points: int, n_jobs: int = 1) -> pd.DataFrame:
    """Tidy table of a figure or table.

    Parameters
    ----------
    name : str
        One of `exhibits.EXHIBITS`.
    points : int
        Points of every curve; tables have the paper's own.
    n_jobs : int
        Processes.

    Returns
    -------
    DataFrame
        Columns `curves.COLUMNS`.
    """
    if name not in EXHIBITS:
        raise ConfigError(f"amplification: {name!r} is not one of {', '.join(EXHIBITS)}")
    exhibit = EXHIBITS[name]
    if exhibit.table:
        return variation_paper.table5() if exhibit.paper == "variation" else personalized_paper.table2()
    if exhibit.paper == "personalized":
        return personalized_paper.figure4(points, n_jobs=n_jobs)
    if exhibit.paper == "decomposition":
        return decomposition_paper.compute(exhibit.number, points=points, n_jobs=n_jobs)
    return variation_paper.compute(exhibit.number, points=points, n_jobs=n_jobs)
