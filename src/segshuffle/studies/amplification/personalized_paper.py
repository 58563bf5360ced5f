"""Figure 4 and Table 2 of "Enhanced Privacy Bound for Shuffle Model with Personalized Privacy".

Bounds and settings are those of `accounting.personalized_settings`. No number of the figure is a guarantee for users
with budgets of their own: the baselines without personal budgets take everybody to have the largest one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import joblib
import numpy as np
import pandas as pd

from segshuffle.accounting.single_message.personalized import Mechanism
from segshuffle.accounting.single_message.personalized_settings import (
    FIGURE_USERS,
    PERSONAL,
    SETTINGS,
    TABLE_USERS,
    BoundPoint,
    figure_points,
    table_points,
)
from segshuffle.pipeline.progress import parallel
from segshuffle.studies.amplification.curves import COLUMNS, tidy

#: Panels of Figure 4: (mechanism, settings); panels of one range of budgets lie side by side.
PANELS: tuple[tuple[Mechanism, tuple[str, str]], ...] = (
    ("laplace", ("Uniform1", "Gauss1")),
    ("gaussian", ("Uniform1", "Gauss1")),
    ("laplace", ("Uniform2", "Gauss2")),
    ("gaussian", ("Uniform2", "Gauss2")),
)
TABLE_SETTING = "Uniform2"
_STATUS = {
    "theorem": "refuted as an upper bound: averages take the place of pointwise ratios",
    "reduction": "refuted as an upper bound: averages take the place of pointwise ratios",
    "blanket-hoeffding": "proven only for users who all have the largest budget",
    "blanket-bennett": "proven only for users who all have the largest budget",
    "chen-cao-ge": "asymptotic: a limit theorem without an error term; refuted as an upper bound (docs/referee.md)",
    "liu-2023": "refuted as an upper bound (docs/referee.md)",
}


def _row(figure: str, panel: str, found: BoundPoint, *, over_users: bool) -> dict[str, Any]:
    personal = found.method in PERSONAL
    return tidy(
        figure=figure,
        panel=panel,
        curve=found.setting if personal else "largest budget",
        accountant=found.method,
        kind=found.kind,
        status="proven" if found.kind == "upper" else _STATUS.get(found.method, "not proven"),
        x_name="n_users" if over_users else "epsilon",
        x=found.n_users if over_users else found.epsilon,
        y_name="epsilon" if over_users else "delta",
        y=found.epsilon if over_users else found.delta,
        parameters={
            "n_users": found.n_users,
            "delta": found.delta,
            "epsilon": found.epsilon,
            "mechanism": found.mechanism,
            "setting": found.setting,
        },
    )


def panel_name(mechanism: Mechanism, settings: Sequence[str]) -> str:
    """Title of a panel: pure or approximate, and the range of the budgets."""
    setting = SETTINGS[settings[0]]
    kind = "pure (Laplace)" if mechanism == "laplace" else "approximate (Gauss)"
    return f"{kind}, $\\varepsilon_i \\in [{setting.low:g}, {setting.high:g}]$"


def figure4(points: int, *, n_jobs: int = 1) -> pd.DataFrame:
    """Epsilon at delta = 1e-5 over n, for `points` of the paper's 20 numbers of users."""
    chosen = [FIGURE_USERS[i] for i in np.unique(np.linspace(0, len(FIGURE_USERS) - 1, points).round().astype(int))]
    jobs = [
        (panel_name(mechanism, settings), name, mechanism, n_users)
        for mechanism, settings in PANELS
        for name in settings
        for n_users in chosen
    ]
    tasks = [
        joblib.delayed(figure_points)(
            setting=SETTINGS[name],
            mechanism=mechanism,
            n_users=n_users,
            # what depends on the largest budget alone is the same for both settings of a panel
            personal_only=not name.startswith("Uniform"),
        )
        for _, name, mechanism, n_users in jobs
    ]
    names = ["largest budget", *SETTINGS]
    rows = [
        _row("personalized4", panel, point, over_users=True)
        for (panel, *_), found in zip(jobs, parallel(tasks, n_jobs, "personalized4"), strict=True)
        for point in found
    ]
    table = pd.DataFrame(rows, columns=list(COLUMNS))
    # curves in one piece, panels and settings in the paper's order
    order = {panel_name(mechanism, settings): i for i, (mechanism, settings) in enumerate(PANELS)}
    table["order"] = [
        (order[panel], names.index(curve)) for panel, curve in zip(table["panel"], table["curve"], strict=True)
    ]
    return table.sort_values(["order", "accountant", "x"], kind="stable", ignore_index=True)[list(COLUMNS)]


def table2() -> pd.DataFrame:
    """Delta at five epsilons: Gauss mechanism, Uniform2, n = 1e4."""
    points = table_points(setting=SETTINGS[TABLE_SETTING], mechanism="gaussian", n_users=TABLE_USERS)
    panel = panel_name("gaussian", (TABLE_SETTING,))
    rows = [_row("personalized-table2", panel, point, over_users=False) for point in points]
    return pd.DataFrame(rows, columns=list(COLUMNS))
