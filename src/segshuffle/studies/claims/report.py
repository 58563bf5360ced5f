"""Verdicts on the statements of the paper's section 6, from the tidy table only.

The statements are in config/reference/claims.yaml, the measures here (`studies.verdicts`). Errors are expected values
in closed form (tests compare them with simulations), so verdicts do not depend on Monte Carlo noise. "smallest" and
"largest" name numbers of users. If the settings of a run are not those of the paper, nothing is judged.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise, product
from typing import Any

import numpy as np
import pandas as pd

from segshuffle.pipeline.design import Config
from segshuffle.pipeline.rows import common, sources_of
from segshuffle.protocols.registry import paper_competitors
from segshuffle.studies.verdicts import Measured, NotRunError, judge, markdown

#: What every panel of the paper has in common; the options of the competitors are those of docs/deviations.md.
COMMON: Config = {"delta_times_n": 0.01, "levels": [0.5, 1.0, 2.0]}
SPLITS = {"S1": [0.25, 0.5, 0.25], "S2": [0.5, 0.25, 0.25], "S3": [0.25, 0.25, 0.5]}
COMPETITORS: Config = {"balls_into_bins": {"analysis": "numerical"}, "subset_exponential": {"local_epsilon": 2.0}}
#: Range of m that the figures show, and the widest step between neighbours that tells a best m.
BLANKETS, WIDEST_STEP = (0.1, 10.0), 1.25
#: Dataset -> its populations in the paper.
POPULATIONS: dict[str, dict[str, Any]] = {
    "msnbc": {"domain_size": 17, "n_users": [5_000, 50_000], "set_size": [4], "source": "real"},
    "synthetic": {"domain_size": 128, "n_users": [5_000, 50_000], "set_size": [4, 8], "source": "synthetic"},
}


@dataclass(frozen=True)
class Panel:
    """One panel: the paper's protocol over the grid of m, and one error per competitor.

    Parameters
    ----------
    name : str
        Population and split.
    curve : DataFrame
        The paper's protocol over the grid of m, ascending.
    competitors : mapping of str to float
        Error of every competitor of the paper that ran.
    altered : str
        Why the competitors are not the paper's; empty if they are.
    """

    name: str
    curve: pd.DataFrame
    competitors: Mapping[str, float]
    altered: str

    @property
    def best(self) -> pd.Series:
        """The row of least error on the grid."""
        return self.curve.iloc[int(self.curve["mse_expected"].argmin())]

    def error_of(self, method: str) -> float:
        """Return the error of a competitor ("strongest": of least error), or the least of the paper's protocol."""
        if method == "segmented":
            return float(self.best["mse_expected"])
        if self.altered:
            raise NotRunError(self.altered)
        if method == "strongest":
            if missing := sorted(paper_competitors() - self.competitors.keys()):
                raise NotRunError(f"{', '.join(missing)} did not run on {self.name}: the strongest may be among them")
            return min(self.competitors.values())
        if method not in self.competitors:
            ran = ", ".join(self.competitors)
            raise NotRunError(f"method {method} did not run on {self.name}; competitors that ran: {ran}")
        return self.competitors[method]

    def reduction(self, competitor: str) -> float:
        """Return 1 - ours/theirs at our best m."""
        return 1.0 - self.error_of("segmented") / self.error_of(competitor)


class Panels:
    """The paper's panels in a table, looked up by dataset, number of users, set size and split.

    Parameters
    ----------
    table : DataFrame
        Rows of results/mse.csv.
    config : dict
        Keys of `COMMON`, splits and competitors.
    """

    def __init__(self, table: pd.DataFrame, config: Config) -> None:
        self._table, self._config = table[table["accounting"] == "published"], config

    def get(self, *, dataset: str, n_users: int | str, set_size: int, split: str) -> Panel:
        """Find one panel; n_users may be "smallest" or "largest"."""
        if isinstance(n_users, str):
            n_users = POPULATIONS[dataset]["n_users"][{"smallest": 0, "largest": -1}[n_users]]
        place = {"dataset": dataset, "n_users": n_users, "set_size": set_size, "split": split}
        rows = self._table[(self._table[list(place)] == list(place.values())).all(axis=1)]
        where = f"{dataset}, n = {n_users}, s = {set_size}, {split}"
        if rows.empty:
            raise NotRunError(f"panel {where} did not run")
        if reason := departure(self._config, place, rows):
            raise NotRunError(f"{where}: {reason}")
        curve = rows[(rows["method"] == "segmented") & (rows["role"] == "grid")].sort_values("blanket_per_user")
        others = rows[rows["method"].isin(paper_competitors()) & (rows["role"] == "best")]
        return Panel(
            name=f"{dataset} n={n_users} s={set_size} {split}",
            curve=curve,
            competitors=dict(zip(others["method"], others["mse_expected"], strict=True)),
            altered=other_options(self._config),
        )

    def every(self, *, datasets: list[str], splits: list[str]) -> Iterator[Panel]:
        """Yield all panels of some datasets and splits, in the order of the figures."""
        for dataset, split in product(datasets, splits):
            paper = POPULATIONS[dataset]
            for set_size, n_users in product(paper["set_size"], paper["n_users"]):
                yield self.get(dataset=dataset, n_users=n_users, set_size=set_size, split=split)

    def pairs(self, *, datasets: list[str], before: str, after: str) -> Iterator[tuple[str, Panel, Panel]]:
        """Yield every population with its panels under two splits."""
        both = (self.every(datasets=datasets, splits=[split]) for split in (before, after))
        for one, other in zip(*both, strict=True):
            yield one.name.removesuffix(f" {before}"), one, other


def departure(config: Mapping[str, Any], panel: Mapping[str, Any], rows: pd.DataFrame) -> str | None:
    """Say why a panel is not the paper's, with the values on both sides; None if it is.

    Parameters
    ----------
    config : mapping
        Keys of `COMMON`, and splits.
    panel : mapping
        dataset and split.
    rows : DataFrame
        The panel's rows of results/mse.csv.
    """
    ours, split = POPULATIONS[panel["dataset"]], panel["split"]
    domain_size, source = common(rows, "domain_size", "source")
    both = {key: (config[key], value) for key, value in COMMON.items()}
    both |= {
        f"splits.{split}": (config["splits"].get(split), SPLITS.get(split)),
        "domain_size": (domain_size, ours["domain_size"]),
        "data": (source, ours["source"]),
    }
    for key, (found, wanted) in both.items():
        if found != wanted:
            return f"{key} is {found}, the paper's is {wanted}"
    low, high = BLANKETS
    blankets = sorted(rows.loc[(rows["method"] == "segmented") & (rows["role"] == "grid"), "blanket_per_user"])
    if not blankets or blankets[0] > low or blankets[-1] < high:
        return f"the grid of m does not reach from {low:g} to {high:g}"
    step = max(right / left for left, right in pairwise(blankets))
    return None if step <= WIDEST_STEP else f"the grid of m has steps of a factor {step:.2g}, above {WIDEST_STEP:g}"


def other_options(config: Mapping[str, Any]) -> str:
    """Say which options of the competitors are not those of the reproduction; empty if none."""
    found = {key: value for key, value in config["competitors"].items() if key in COMPETITORS}
    return "" if found == COMPETITORS else f"the competitors' options are {found}, the reproduction's {COMPETITORS}"


# --- measures: the first line of each says in the table of verdicts what is measured -------------------------------


def best_m(panels: Panels, **panels_asked: list[str]) -> Measured:
    """Take the m with the least error, for each panel."""
    found = {}
    for panel in panels.every(**panels_asked):
        end = " at the end of the grid" if panel.best.name == panel.curve.index[-1] else ""
        found[panel.name + end] = panel.best["blanket_per_user"]
    return Measured({"best m": found}, "g")


def best_m_of(panels: Panels, **panel: Any) -> Measured:
    """Take the m with the least error."""
    found = panels.get(**panel)
    return Measured({"best m": {found.name: found.best["blanket_per_user"]}}, "g")


def excess_at(panels: Panels, *, blanket: float, **panel: Any) -> Measured:
    """Divide the error at the stated m by the least error, and subtract 1."""
    found = panels.get(**panel)
    nearest = np.abs(np.log(found.curve["blanket_per_user"] / blanket)).idxmin()
    excess = float(found.curve["mse_expected"][nearest] / found.error_of("segmented") - 1)
    return Measured({f"error at m = {blanket:g} above the least": {found.name: excess}})


def reduction(panels: Panels, *, against: list[str], **panels_asked: list[str]) -> Measured:
    """Divide our error by a competitor's, and subtract the ratio from 1, for each panel."""
    every = list(panels.every(**panels_asked))
    found = {name: {panel.name: panel.reduction(name) for panel in every} for name in against}
    return Measured({f"reduction against {'the ' * (name == 'strongest')}{name}": part for name, part in found.items()})


def mean_reduction(panels: Panels, **panels_asked: list[str]) -> Measured:
    """Take the mean of this reduction over the panels, for each competitor."""
    every = list(panels.every(**panels_asked))
    return Measured(
        {
            f"mean against {name}": {f"{len(every)} panels": float(np.mean([panel.reduction(name) for panel in every]))}
            for name in sorted(every[0].competitors)
        }
    )


def order(panels: Panels, *, what: str, pairs: list[list[dict[str, Any]]]) -> Measured:
    """Divide the best m (or the least error) of one panel by that of another."""
    found, column = {}, "blanket_per_user" if what == "best m" else "mse_expected"
    for pair in pairs:
        first, second = (panels.get(**panel) for panel in pair)
        one, other = first.best[column], second.best[column]
        found[f"{first.name}: {one:.4g} against {second.name}: {other:.4g}"] = one / other
    return Measured({f"ratio of {what}": found}, ".3g")


def change(panels: Panels, *, method: str, **asked: Any) -> Measured:
    """Divide a method's error under the second split by that under the first, and subtract 1, for each population."""
    found = {
        name: after.error_of(method) / before.error_of(method) - 1 for name, before, after in panels.pairs(**asked)
    }
    return Measured({f"error of {method}, {asked['before']} to {asked['after']}": found}, "+.1%")


def growth_of_gap(panels: Panels, *, method: str, **asked: Any) -> Measured:
    """Divide a method's error by ours under both splits, and the second ratio by the first, for each population."""
    found = {}
    for name, *both in panels.pairs(**asked):
        before, after = (panel.error_of(method) / panel.error_of("segmented") for panel in both)
        found[f"{name}: {before:.2f}x to {after:.2f}x"] = after / before
    return Measured({f"error of {method} divided by ours, {asked['before']} to {asked['after']}": found}, ".2f")


def messages(panels: Panels, **panels_asked: list[str]) -> Measured:
    """Count the messages per user at the best m, dummies included, for each panel."""
    found = {panel.name: panel.best["messages_per_user"] for panel in panels.every(**panels_asked)}
    return Measured({"messages per user": found}, ".1f")


MEASURES = (best_m, best_m_of, excess_at, reduction, mean_reduction, order, change, growth_of_gap, messages)


def evaluate(table: pd.DataFrame, reference: list[dict[str, Any]], config: Config) -> pd.DataFrame:
    """Judge every statement on rows of results/mse.csv; see `Panels` for the configuration, and `verdicts.judge`."""
    return judge(Panels(table, config), MEASURES, reference)


def readable(claims: pd.DataFrame, table: pd.DataFrame) -> str:
    """Write the verdicts to read, with what the data of the table of all panels are."""
    title = "# Statements of section 6, and what came out"
    return markdown(claims, title=title, remark=sources_of(table))
