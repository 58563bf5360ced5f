"""Verdicts on the statements of the paper, from results/mse.csv only.

The statements are in config/reference/claims.yaml, the measures here; `studies.verdicts` judges. Errors are expected
values in closed form (column mse_expected; tests compare them with simulations), so verdicts do not depend on Monte
Carlo noise. "smallest" and "largest" name numbers of users. A statement is not evaluated if one of its panels has other
settings than the paper's, or one of its competitors other options.
"""

from collections.abc import Collection, Iterable, Iterator
from functools import cache
from itertools import pairwise, product
from typing import Any

import numpy as np
import pandas as pd

from segshuffle.plans.registry import every, paper_competitors
from segshuffle.reproduction.design import Config
from segshuffle.reproduction.studies.verdicts import Measured, NotRunError, Statements, judge

#: What every panel of the paper has in common.
COMMON: Config = {"delta_times_n": 0.01, "levels": [0.5, 1.0, 2.0]}
SPLITS = {"S1": [0.25, 0.5, 0.25], "S2": [0.5, 0.25, 0.25], "S3": [0.25, 0.25, 0.5]}
#: The paper's local epsilon, and the competitor that uses it.
LOCAL_EPSILON, LOCAL = 2.0, "subexp-local"
#: Our reading of balls into bins. The paper leaves it open, so competitors with another one are judged and marked.
READING, BALLS_INTO_BINS = {"analysis": "numerical", "weight_users": "level"}, "balls_into_bins"
#: An m is a best one if its error is at most so much above the least: no more than 200 simulations can tell apart.
NEARLY_LEAST = 0.02
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
        Keys of `COMMON`, splits and competitors (with their options).
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

    @cache  # noqa: B019  a job judges a few tables, and ends
    def at_best_m(self, **panel: Any) -> pd.Series:
        """Return one panel's least error ("segmented"), the competitors' errors, and the best m (on the grid).

        The range goes from the "lowest m" to the "highest m" whose error is at most `NEARLY_LEAST` above the least, and
        "best m" is the range in words. "fewest" and "most" are the messages per user at the range's ends, "first" and
        "last" the errors at the ends of the grid.
        """
        name, curve, errors = self.get(**panel)
        expected, blankets = curve["mse_expected"], curve["blanket_per_user"]
        best = curve[expected <= (1 + NEARLY_LEAST) * expected.min()]
        low, high = best["blanket_per_user"].iloc[[0, -1]]
        range_of_m = f"best m {low:.4g}" + (f" to {high:.4g}" if high > low else "")
        if low == blankets.iloc[0]:
            range_of_m += ", at the start of the grid"
        if high == blankets.iloc[-1]:
            range_of_m += ", at the end of the grid"
        own = {
            "segmented": expected.min(),
            "first": expected.iloc[0],
            "last": expected.iloc[-1],
            "lowest m": low,
            "highest m": high,
            "best m": range_of_m,
            "starts": low == blankets.iloc[0],
            "ends": high == blankets.iloc[-1],
            "fewest": best["messages_per_user"].min(),
            "most": best["messages_per_user"].max(),
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
        ).infer_objects()

    def both(self, *, datasets: list[str], before: str, after: str) -> Iterator[pd.DataFrame]:
        """Yield the rows of all populations under one split, and under the other."""
        for split in (before, after):
            rows = self.every(datasets=datasets, splits=[split])
            yield rows.set_axis(rows.index.str.removesuffix(f" {split}"))

    def errors(self, rows: pd.DataFrame, method: str) -> pd.Series:
        """Return the errors of a method in some panels; "strongest" is the competitor of least error in each."""
        methods = sorted(paper_competitors()) if method == "strongest" else [method]
        columns = rows.reindex(columns=methods)
        for name, errors in columns.items():
            if errors.isna().any():
                raise NotRunError(f"{name} did not run on {errors.isna().idxmax()}")
        epsilon = self._option("subset_exponential", "local_epsilon", LOCAL_EPSILON)
        if LOCAL in methods and epsilon != LOCAL_EPSILON:
            raise NotRunError(f"local_epsilon of {LOCAL} is {epsilon}, the paper's is {LOCAL_EPSILON}")
        return columns.min(axis=1)

    def reductions(self, rows: pd.DataFrame, competitor: str) -> pd.Series:
        """Return by how much the paper's protocol at its best m reduces a competitor's error, for every panel."""
        return 1 - rows["segmented"] / self.errors(rows, competitor)

    def said(self, method: str) -> str:
        """Name a method, and mark another reading of balls into bins than ours."""
        name = "the strongest" if method == "strongest" else method
        reading = {key: self._option(BALLS_INTO_BINS, key, ours) for key, ours in READING.items()}
        marked = {each.name for each in every().values() if each.file == BALLS_INTO_BINS} | {"strongest"}
        if method not in marked or reading == READING:
            return name
        return f"{name} (balls into bins with {', '.join(f'{key} {value}' for key, value in reading.items())})"

    def _option(self, section: str, name: str, default: Any) -> Any:
        """Return an option of competitors; the configuration may leave out what has its default."""
        return self._config["competitors"].get(section, {}).get(name, default)


#: How the readable table begins.
HEAD = """# Statements of the paper, and what came out

All errors are expected values in closed form (column `mse_expected` of `mse.csv`): of the paper's protocol at the m
of least error on the grid, and of its competitors. Means of simulations and the paper's bound are not used. Messages
per user are those of the plans.

An m is a *best m* if its error is at most 2 % above the least on the grid: less than the means of two times 200
simulations tell apart. So a best m is a range; if it reaches an end of the grid, there may be a better m beyond. A
best m *falls* if both ends of its range do. It is *significantly* larger than another if every m of its range is at
least 1.5 times every m of the other: more than a step of the grid (at most a factor 1.25), less than in the paper's
own examples (from 2 to 4 and from 0.3 to 1)."""


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
    for settings, paper in (
        (config, COMMON),
        (config["splits"], {split: SPLITS.get(split)}),
        (curve.iloc[0], population),
    ):
        for key, wanted in paper.items():
            if settings.get(key) != wanted:
                return f"{key} is {settings.get(key)}, the paper's is {wanted}"
    blankets = list(curve["blanket_per_user"])
    widest = max((right / left for left, right in pairwise(blankets)), default=1.0)
    low, high = BLANKETS
    if blankets[0] <= low and blankets[-1] >= high and widest <= WIDEST_STEP:
        return None
    ours = f"goes from {blankets[0]:g} to {blankets[-1]:g} in steps of up to a factor {widest:.3g}"
    return f"the grid of m {ours}; it must go from {low:g} to {high:g}, in steps of at most a factor {WIDEST_STEP:g}"


# --- measures: the first line of each says in the table of verdicts what is measured -------------------------------


def best_m(panels: Panels, *, datasets: list[str], **asked: Any) -> Measured:
    """Take the largest best m of each panel."""
    parts = {}
    for dataset in datasets:
        rows = _with_best_m(panels.every(datasets=[dataset], **asked))
        parts[f"largest best m, {dataset}"] = rows["highest m"]
    return Measured(parts, ".4g")


def excess_at(panels: Panels, *, blanket: float, **panel: Any) -> Measured:
    """Divide the error at the stated m by the least error, and subtract 1."""
    name, curve, _ = panels.get(**panel)
    nearest = curve.loc[np.abs(np.log(curve["blanket_per_user"] / blanket)).idxmin()]
    place = f"{name}: {panels.at_best_m(**panel)['best m']}"
    excess = nearest["mse_expected"] / curve["mse_expected"].min() - 1
    return Measured({f"error at m = {nearest['blanket_per_user']:g} above the least": {place: excess}})


def rise_at_ends(panels: Panels, **asked: Any) -> Measured:
    """Divide the errors at the smallest and at the largest m of the grid by the least error, and subtract 1."""
    rows = _with_best_m(panels.every(**asked))
    ends = {"at the smallest m": "first", "at the largest m": "last"}
    return Measured(
        {f"error {end} above the least": rows[column] / rows["segmented"] - 1 for end, column in ends.items()}
    )


def reduction(panels: Panels, *, against: list[str], **asked: Any) -> Measured:
    """Divide the error of the paper's protocol by a competitor's, and subtract the ratio from 1, for each panel."""
    rows = panels.every(**asked)
    return Measured({f"reduction against {panels.said(name)}": panels.reductions(rows, name) for name in against})


def mean_reduction(panels: Panels, *, datasets: list[str], against: Iterable[str] = (), **asked: Any) -> Measured:
    """Take the mean reduction of the error over the panels of each dataset, against each competitor."""
    parts: dict[str, dict[Any, float]] = {}
    for name in against or sorted(paper_competitors()):
        part = parts[f"mean reduction against {panels.said(name)}"] = {}
        for dataset in datasets:
            reductions = panels.reductions(panels.every(datasets=[dataset], **asked), name)
            part[f"{dataset}, {len(reductions)} panels"] = reductions.mean()
    return Measured(parts)


def reduction_of_strongest(panels: Panels, **asked: Any) -> Measured:
    """Take the mean reduction of the error over the panels of each dataset, against each panel's best competitor."""
    return mean_reduction(panels, against=["strongest"], **asked)


def apart(panels: Panels, *, pairs: list[list[dict[str, Any]]]) -> Measured:
    """Divide the lowest best m of one panel by the highest best m of another."""
    ratios = {}
    for pair in pairs:
        first, second = (panels.at_best_m(**panel) for panel in pair)
        ratios[_compared(first, second)] = first["lowest m"] / second["highest m"]
    return Measured({"ratio of best m": ratios}, ".3g")


def fall_with_users(panels: Panels, **asked: Any) -> Measured:
    """Divide the lowest best m of the fewest users by that of the most, and likewise the highest; take the less."""
    falls = {}
    for first, second in _by_users(panels, **asked):
        ratios = [first[end] / second[end] for end in ("lowest m", "highest m")]
        falls[_compared(first, second)] = min(ratios)
    return Measured({"ratio of best m": falls}, ".3g")


def error_ratio(panels: Panels, **asked: Any) -> Measured:
    """Divide the least error of the most users by that of the fewest."""
    ratios = {}
    for first, second in _by_users(panels, **asked):
        less, more = second["segmented"], first["segmented"]
        ratios[f"{second.name}: {less:.4g} against {first.name}: {more:.4g}"] = less / more
    return Measured({"ratio of least error": ratios}, ".3g")


def change(panels: Panels, *, method: str, **asked: Any) -> Measured:
    """Divide a method's error under the second split by that under the first, and subtract 1, for each population."""
    before, after = (panels.errors(rows, method) for rows in panels.both(**asked))
    relative = after / before - 1
    return Measured({f"error of {panels.said(method)}, {asked['before']} to {asked['after']}": relative}, "+.1%")


def growth_of_gap(panels: Panels, *, methods: list[str], **asked: Any) -> Measured:
    """Divide a method's error by the paper's protocol's, and this ratio in the second split by that in the first."""
    parts = {}
    for method in methods:
        before, after = (panels.errors(rows, method) / rows["segmented"] for rows in panels.both(**asked))
        names = [f"{name}: {before[name]:.2f}x to {after[name]:.2f}x" for name in before.index]
        title = f"error of {panels.said(method)} divided by segmented's, {asked['before']} to {asked['after']}"
        parts[title] = (after / before).set_axis(names)
    return Measured(parts, ".2f")


def messages(panels: Panels, **asked: Any) -> Measured:
    """Count the messages per user, dummies included, at the best m of each panel."""
    rows = _with_best_m(panels.every(**asked))
    return Measured({f"{each} messages per user": rows[each] for each in ("fewest", "most")}, ".1f")


def _with_best_m(rows: pd.DataFrame) -> pd.DataFrame:
    """Add its best m to the name of every panel."""
    return rows.set_axis(rows.index + ": " + rows["best m"])


def _by_users(panels: Panels, **asked: Any) -> Iterator[tuple[pd.Series, pd.Series]]:
    """Yield the rows of the fewest and of the most users, for every other setting."""
    few, many = (panels.every(n_users=[users], **asked) for users in ("smallest", "largest"))
    for (_, first), (_, second) in zip(few.iterrows(), many.iterrows(), strict=True):
        yield first, second


def _compared(first: pd.Series, second: pd.Series) -> str:
    """Name two panels with their best m, of which the first is expected to be larger.

    Raises
    ------
    NotRunError
        If the grid ends where it does not show whether it is. A larger best m beyond the end is no such case.
    """
    if first["starts"] or second["ends"]:
        row = first if first["starts"] else second
        raise NotRunError(f"{row.name}: {row['best m']}, so that the best m may lie outside")
    return f"{first.name}: {first['best m']}, against {second.name}: {second['best m']}"


MEASURES = (
    best_m,
    excess_at,
    rise_at_ends,
    reduction,
    mean_reduction,
    reduction_of_strongest,
    apart,
    fall_with_users,
    error_ratio,
    change,
    growth_of_gap,
    messages,
)


def evaluate(table: pd.DataFrame, reference: Statements, config: Config) -> pd.DataFrame:
    """Judge every statement on rows of results/mse.csv; see `Panels` for the configuration, and `verdicts.judge`."""
    return judge(Panels(table, config), MEASURES, reference)
