"""Points of curves: what an accountant is asked, and the tidy row that it answers with."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import joblib
import numpy as np
import pandas as pd

from segshuffle.accounting.single_message.accountants import ACCOUNTANTS, Mechanism
from segshuffle.accounting.single_message.randomizers import Randomizer
from segshuffle.accounting.single_message.variation_ratio import VariationRatio
from segshuffle.accounting.single_message.variation_ratio_lower import LowerBound
from segshuffle.digits import rounded_down, rounded_up
from segshuffle.pipeline.jobs import to_json
from segshuffle.pipeline.progress import parallel

_PRIVACY = ("epsilon", "delta")
#: Columns of results/amplification/*.csv, in order.
COLUMNS = (
    "figure",
    "panel",
    "curve",
    "accountant",
    "kind",
    "status",
    "x_name",
    "x",
    "y_name",
    "y",
    "parameters",
)


@dataclass(frozen=True, kw_only=True)
class Case:
    """What an accountant is asked: the least epsilon of a mechanism at delta.

    Parameters
    ----------
    n_users : int
        Number of users; multi-message protocols: 1 + the number of blanket messages.
    delta : float
        Target.
    local_epsilon : float, optional
        Guarantee of one message; that of `variation` if it is not given.
    randomizer : Randomizer, optional
        For the accountants of specific randomizers.
    variation : VariationRatio, optional
        For the variation-ratio accountants.
    lower : LowerBound, optional
        For the lower bound of the variation-ratio paper.
    status : str
        If not empty, replaces the accountant's own status.
    """

    n_users: int
    delta: float
    local_epsilon: float | None = None
    randomizer: Randomizer | None = None
    variation: VariationRatio | None = None
    lower: LowerBound | None = None
    status: str = ""

    @property
    def mechanism(self) -> Mechanism:
        """What the accountants see of it."""
        local = self.local_epsilon
        if local is None:
            local = self.variation.log_p if self.variation is not None else math.nan
        return Mechanism(
            name="this curve",
            local_epsilon=local,
            randomizer=self.randomizer,
            variation=self.variation,
            lower=self.lower,
        )


@dataclass(frozen=True, kw_only=True)
class Point:
    """One point of a curve.

    Parameters
    ----------
    panel, curve : str
        Panel of the figure; mechanism or variant that the curve is about.
    accountant : str
        One of the accountants of one message.
    x_name : str
        Name of the abscissa.
    x : float
        Abscissa.
    case : Case
        What the accountant is asked.
    reference : float, optional
        If given, y is log2(reference/epsilon), the papers' amplification ratio; otherwise y is epsilon.
    parameters : mapping
        What else the reader of the table may want to know.
    """

    panel: str
    curve: str
    accountant: str
    x_name: str
    x: float
    case: Case
    reference: float | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def row(self, figure: str) -> dict[str, Any]:
        """Compute the point."""
        accountant = ACCOUNTANTS[self.accountant]
        safe = rounded_down if accountant.kind == "lower" else rounded_up
        epsilon = safe(accountant.epsilon_of(self.case.mechanism, self.case.n_users, self.case.delta))
        y = epsilon if self.reference is None else math.log2(self.reference / epsilon)
        known = {"n_users": self.case.n_users, "delta": self.case.delta, "epsilon": epsilon, **self.parameters}
        return tidy(
            figure=figure,
            panel=self.panel,
            curve=self.curve,
            accountant=self.accountant,
            kind=accountant.kind,
            status=self.case.status or accountant.status,
            x_name=self.x_name,
            x=self.x,
            y_name="epsilon" if self.reference is None else "log2_ratio",
            y=y,
            parameters=known,
        )


def tidy(*, parameters: Mapping[str, Any], **columns: Any) -> dict[str, Any]:
    """One row of the table; parameters travel as JSON. A lower bound is rounded down, every other privacy number up."""
    safe = rounded_down if columns["kind"] == "lower" else rounded_up
    if columns["y_name"] in _PRIVACY:
        columns["y"] = safe(columns["y"])
    known = {key: safe(value) if key in _PRIVACY else value for key, value in parameters.items()}
    return {**columns, "parameters": to_json(known)}


def evaluate(figure: str, points: Sequence[Point], *, n_jobs: int = 1) -> pd.DataFrame:
    """Compute all points of a figure; the order of the rows is that of the points."""
    jobs = [joblib.delayed(point.row)(figure) for point in points]
    return pd.DataFrame(parallel(jobs, n_jobs, figure), columns=list(COLUMNS))


def spaced(low: float, high: float, points: int, *, log: bool) -> list[float]:
    """`points` numbers from low to high, evenly spaced (in the logarithm), in three digits."""
    space = np.geomspace if log else np.linspace
    return [float(f"{value:.3g}") for value in space(low, high, points)]
