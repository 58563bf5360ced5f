"""Verdicts on the statements of the paper, from results/mse.csv only.

The statements are in config/reference/claims.yaml, the measures here; `studies.verdicts` judges. Errors are expected
values in closed form (tests compare them with simulations), so verdicts do not depend on Monte Carlo noise. "smallest"
and "largest" name numbers of users. A statement is not evaluated if one of its panels has other settings than the
paper's.
"""

from collections.abc import Collection, Iterator
from itertools import pairwise, product
from typing import Any

import numpy as np
import pandas as pd

from segshuffle.pipeline.design import Config
from segshuffle.protocols.registry import paper_competitors
from segshuffle.studies.verdicts import Measured, NotRunError, judge

#: What every panel of the paper has in common; the options of the competitors are those of docs/deviations.md.
COMMON: Config = {"delta_times_n": 0.01, "levels": [0.5, 1.0, 2.0]}
SPLITS = {"S1": [0.25, 0.5, 0.25], "S2": [0.5, 0.25, 0.25], "S3": [0.25, 0.25, 0.5]}
COMPETITORS: Config = {"balls_into_bins": {"analysis": "numerical"}, "subset_exponential": {"local_epsilon": 2.0}}
#: Range of m that the figures show, and the largest factor between neighbours of a grid on which a best m is judged.
BLANKETS, WIDEST_STEP = (0.1, 10.0), 1.25
#: Numbers of users of both datasets, and dataset -> its other sizes in the paper.
USERS = {"smallest": 5_000, "largest": 50_000}
POPULATIONS: dict[str, dict[str, Any]] = {
    "msnbc": {"domain_size": 17, "set_size": [4], "source": "real"},
    "synthetic": {"domain_size": 128, "set_size": [4, 8], "source": "synthetic"},
}


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
        published = table[table["accounting"] == "published"]
        self._panels: dict[Any, pd.DataFrame] = dict(
            iter(published.groupby(["dataset", "n_users", "set_size", "split"]))
        )
        self._config = config

    def get(self, *, dataset: str, n_users: str, set_size: int, split: str) -> tuple[str, pd.DataFrame, pd.Series]:
        """Find one panel; n_users is "smallest" or "largest".

        Returns
        -------
        str
            Population and split.
        DataFrame
            The paper's protocol over the grid of m, ascending.
        Series
            Error of every competitor of the paper that ran.
        """
        users = USERS[n_users]
        name = f"{dataset} n={users} s={set_size} {split}"
        rows = self._panels.get((dataset, users, set_size, split))
        if rows is None:
            raise NotRunError(f"panel {name} did not run")
        curve = rows[(rows["method"] == "segmented") & (rows["role"] == "grid")].sort_values("blanket_per_user")
        if reason := departure(self._config, dataset, split, curve):
            raise NotRunError(f"{name}: {reason}")
        others = rows[rows["method"].isin(paper_competitors()) & (rows["role"] == "best")]
        return name, curve, others.set_index("method")["mse_expected"]

    def at_best_m(self, **panel: Any) -> pd.Series:
        """Return one panel's best m, the messages and the error there ("segmented"), and the competitors' errors."""
        name, curve, errors = self.get(**panel)
        best = curve.iloc[int(curve["mse_expected"].argmin())]
        own = {
            "best m": best["blanket_per_user"],
            "at the end": best.name == curve.index[-1],
            "messages": best["messages_per_user"],
            "segmented": best["mse_expected"],
        }
        return pd.Series({**own, **errors}, name=name)

    def every(
        self, *, datasets: list[str], splits: list[str], set_sizes: Collection[int] = (), n_users: Collection[str] = ()
    ) -> pd.DataFrame:
        """Make a row of `at_best_m` for every panel of some datasets and splits, in the order of the figures."""
        return pd.DataFrame(
            self.at_best_m(dataset=dataset, n_users=users, set_size=set_size, split=split)
            for dataset, split in product(datasets, splits)
            for set_size, users in product(set_sizes or POPULATIONS[dataset]["set_size"], n_users or USERS)
        )

    def both(self, *, datasets: list[str], before: str, after: str) -> Iterator[pd.DataFrame]:
        """Yield the rows of all populations under one split, and under the other."""
        for split in (before, after):
            rows = self.every(datasets=datasets, splits=[split])
            yield rows.set_axis(rows.index.str.removesuffix(f" {split}"))


def errors_of(panels: pd.DataFrame, method: str) -> pd.Series:
    """Return the errors of a method in some panels; "strongest" is the competitor of least error in each."""
    methods = sorted(paper_competitors()) if method == "strongest" else [method]
    found = panels.reindex(columns=methods)
    for name, errors in found.items():
        if errors.isna().any():
            raise NotRunError(f"{name} did not run on {errors.isna().idxmax()}")
    return found.min(axis=1)


def reductions(panels: pd.DataFrame, competitor: str) -> pd.Series:
    """Return by how much the paper's protocol at its best m reduces a competitor's error, for every panel."""
    return 1 - panels["segmented"] / errors_of(panels, competitor)


def departure(config: Config, dataset: str, split: str, curve: pd.DataFrame) -> str | None:
    """Say why a panel is not the paper's, with the values on both sides; None if it is.

    Parameters
    ----------
    config : dict
        As for `Panels`.
    dataset, split : str
        The panel's.
    curve : DataFrame
        Rows of the paper's protocol in the panel, m ascending.
    """
    population = {key: POPULATIONS[dataset][key] for key in ("domain_size", "source")}
    for found, paper in (
        (config, COMMON),
        (config["splits"], {split: SPLITS.get(split)}),
        (config["competitors"], COMPETITORS),
        (curve.iloc[0], population),
    ):
        for key, wanted in paper.items():
            if found.get(key) != wanted:
                return f"{key} is {found.get(key)}, the paper's is {wanted}"
    blankets = list(curve["blanket_per_user"])
    widest = max((right / left for left, right in pairwise(blankets)), default=1.0)
    low, high = BLANKETS
    if blankets[0] <= low and blankets[-1] >= high and widest <= WIDEST_STEP:
        return None
    ours = f"goes from {blankets[0]:g} to {blankets[-1]:g} in steps of up to a factor {widest:.3g}"
    return f"the grid of m {ours}; it must go from {low:g} to {high:g}, in steps of at most a factor {WIDEST_STEP:g}"


# --- measures: the first line of each says in the table of verdicts what is measured -------------------------------


def best_m(panels: Panels, **asked: Any) -> Measured:
    """Take the m with the least error, for each panel."""
    found = panels.every(**asked)
    names = found.index + found["at the end"].map({True: " at the end of the grid", False: ""})
    return Measured({"best m": found["best m"].set_axis(names)}, "g")


def excess_at(panels: Panels, *, blanket: float, **panel: Any) -> Measured:
    """Divide the error at the stated m by the least error, and subtract 1."""
    name, curve, _ = panels.get(**panel)
    errors = curve["mse_expected"]
    nearest = np.abs(np.log(curve["blanket_per_user"] / blanket)).idxmin()
    return Measured({f"error at m = {blanket:g} above the least": {name: errors[nearest] / errors.min() - 1}})


def reduction(panels: Panels, *, against: list[str], **asked: Any) -> Measured:
    """Divide the error of the paper's protocol by a competitor's, and subtract the ratio from 1, for each panel."""
    every = panels.every(**asked)
    return Measured(
        {f"reduction against {'the ' * (name == 'strongest')}{name}": reductions(every, name) for name in against}
    )


def mean_reduction(panels: Panels, **asked: Any) -> Measured:
    """Take the mean reduction of the error over the panels, for each competitor."""
    every = panels.every(**asked)
    place = f"{len(every)} panels"
    return Measured(
        {f"mean against {name}": {place: reductions(every, name).mean()} for name in sorted(paper_competitors())}
    )


def order(panels: Panels, *, what: str, pairs: list[list[dict[str, Any]]]) -> Measured:
    """Divide the best m (or the least error) of one panel by that of another."""
    found, column = {}, "best m" if what == "best m" else "segmented"
    for pair in pairs:
        first, second = (panels.at_best_m(**panel) for panel in pair)
        one, other = first[column], second[column]
        found[f"{first.name}: {one:.4g} against {second.name}: {other:.4g}"] = one / other
    return Measured({f"ratio of {what}": found}, ".3g")


def change(panels: Panels, *, method: str, **asked: Any) -> Measured:
    """Divide a method's error under the second split by that under the first, and subtract 1, for each population."""
    before, after = (errors_of(split, method) for split in panels.both(**asked))
    return Measured({f"error of {method}, {asked['before']} to {asked['after']}": after / before - 1}, "+.1%")


def growth_of_gap(panels: Panels, *, method: str, **asked: Any) -> Measured:
    """Divide a method's error by the paper's protocol's, and this ratio in the second split by that in the first."""
    before, after = (errors_of(split, method) / split["segmented"] for split in panels.both(**asked))
    names = [f"{name}: {before[name]:.2f}x to {after[name]:.2f}x" for name in before.index]
    found = (after / before).set_axis(names)
    return Measured({f"error of {method} divided by segmented's, {asked['before']} to {asked['after']}": found}, ".2f")


def messages(panels: Panels, **asked: Any) -> Measured:
    """Count the messages per user at the best m, dummies included, for each panel."""
    return Measured({"messages per user": panels.every(**asked)["messages"]}, ".1f")


MEASURES = (best_m, excess_at, reduction, mean_reduction, order, change, growth_of_gap, messages)


def evaluate(table: pd.DataFrame, reference: list[dict[str, Any]], config: Config) -> pd.DataFrame:
    """Judge every statement on rows of results/mse.csv; see `Panels` for the configuration, and `verdicts.judge`."""
    return judge(Panels(table, config), MEASURES, reference)
