"""What all rows of a table share."""

from __future__ import annotations

from typing import Any

import pandas as pd


def common(rows: pd.DataFrame, *columns: str) -> tuple[Any, ...]:
    """Return what all rows have in some columns.

    Raises
    ------
    ValueError
        If they differ, or there are none.
    """
    (values,) = rows[list(columns)].drop_duplicates().itertuples(index=False, name=None)
    return tuple(values)
