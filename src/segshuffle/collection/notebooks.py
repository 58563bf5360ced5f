"""What results show in a notebook: tables as HTML, and axes to draw on."""

from __future__ import annotations

import html
import importlib.util
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from segshuffle.extras import require
from segshuffle.numerics.ranges import check_kind

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

#: Rows of a table in a notebook.
ROWS = 10
#: Inches of a row of a plot, and of what is around the rows.
_ROW, _AROUND = 0.25, 1.2


def frame_of(data: Any) -> pd.DataFrame:
    """Return a pandas table of columns, or of named tuples."""
    require("pipeline", "A pandas table", "pandas")
    import pandas as pd

    return pd.DataFrame(data)


def html_of(title: str, frame: Callable[[], pd.DataFrame]) -> str | None:
    """Return a table in HTML below its title; None without pandas, and then a notebook shows a line of text."""
    if importlib.util.find_spec("pandas") is None:
        return None
    import pandas as pd

    with pd.option_context("display.max_colwidth", None):
        return f"<p>{html.escape(title)}</p>{frame().to_html(float_format='{:.4g}'.format)}"


def axes_of_rows(ax: Axes | None, labels: Sequence[str]) -> Axes:
    """Return axes whose rows, from the top, have these labels: the given ones, or those of a new figure."""
    require("pipeline", "A plot", "matplotlib")
    import matplotlib.pyplot as plt
    from matplotlib.axes import Axes

    check_kind("ax", ax, Axes, type(None))
    if ax is None:
        _, ax = plt.subplots(figsize=(7.0, _ROW * len(labels) + _AROUND), layout="constrained")
    ax.set_yticks(range(len(labels)), labels, parse_math=False)
    ax.set_ylim(len(labels) - 0.5, -0.5)
    return ax
