"""Verdicts on the statements of the paper's section 6, from the tidy table and nothing else.

Every statement is an entry of config/reference/claims.yaml: where it stands, what it says, the rule that evaluates it
and the rule's arguments. A rule compares closed-form expected errors (the tests hold the simulations against them), so
a verdict does not hang on Monte Carlo noise. "smallest" and "largest" name the numbers of users of the configuration.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from segshuffle.pipeline import judging
from segshuffle.pipeline.design import Config
from segshuffle.pipeline.judging import NOT, PARTLY, REPRODUCED, Finding, NotRunError
from segshuffle.protocols.registry import paper_competitors
from segshuffle.studies.reproduction.paper import POPULATIONS, departure, other_options


@dataclass(frozen=True)
class Panel:
    """One panel: our curve over the grid of m, and one number per competitor.

    `altered` says which options of the competitors are not the reproduction's, if any, and `missing` which of the
    paper's competitors did not run: what is said of all of them can then not be judged.
    """

    name: str
    blanket: np.ndarray[Any, Any]
    error: np.ndarray[Any, Any]
    messages: np.ndarray[Any, Any]
    competitors: Mapping[str, float]
    altered: str = ""
    missing: tuple[str, ...] = ()

    @property
    def best_blanket(self) -> float:
        """The m of least error on the grid."""
        return float(self.blanket[self.error.argmin()])

    @property
    def best_error(self) -> float:
        """Least error on the grid."""
        return float(self.error.min())

    def error_at(self, blanket: float) -> float:
        """Error at the grid point nearest to `blanket` (log scale)."""
        return float(self.error[np.abs(np.log(self.blanket / blanket)).argmin()])

    def reduction(self, competitor: str) -> float:
        """1 - ours/theirs at our best m."""
        return 1.0 - self.best_error / self.error_of(competitor)

    def error_of(self, competitor: str) -> float:
        """Error of a competitor."""
        if self.altered:
            raise NotRunError(self.altered)
        if competitor not in self.competitors:
            ran = ", ".join(self.competitors) or "none"
            raise NotRunError(f"method {competitor} did not run on {self.name}; competitors that ran: {ran}")
        return self.competitors[competitor]

    @property
    def strongest(self) -> str:
        """Competitor of least error."""
        if self.missing:
            raise NotRunError(f"{', '.join(self.missing)} did not run on {self.name}: the strongest may be among them")
        if not self.competitors:
            raise NotRunError(f"no competitor ran on {self.name}; see competitors.methods in the configuration")
        return min(self.competitors, key=lambda name: self.competitors[name])


class Panels:
    """All panels of a table, looked up by dataset, number of users, set size and split.

    With a configuration only the paper's panels are found: a statement about any other one stays unevaluated. Without
    one, the panels are whatever the table has.
    """

    def __init__(self, table: pd.DataFrame, config: Config | None = None) -> None:
        self._table, self._config = table[table["accounting"] == "published"], config

    def users(self, dataset: str) -> list[int]:
        """Numbers of users of a dataset, ascending."""
        return list(POPULATIONS[dataset].n_users) if self._config else self._values(dataset, "n_users")

    def set_sizes(self, dataset: str) -> list[int]:
        """Set sizes of a dataset, ascending."""
        return list(POPULATIONS[dataset].set_sizes) if self._config else self._values(dataset, "set_size")

    def _values(self, dataset: str, column: str) -> list[int]:
        found = sorted(int(value) for value in self._table.loc[self._table["dataset"] == dataset, column].unique())
        if not found:
            known = ", ".join(sorted(self._table["dataset"].unique()))
            raise NotRunError(f"dataset {dataset} did not run; the table has {known}")
        return found

    def get(self, *, dataset: str, n_users: int | str, set_size: int, split: str) -> Panel:
        """One panel; n_users may be "smallest" or "largest"."""
        n = {"smallest": self.users(dataset)[0], "largest": self.users(dataset)[-1]}.get(str(n_users), n_users)
        t = self._table
        rows = t[(t["dataset"] == dataset) & (t["n_users"] == n) & (t["set_size"] == set_size) & (t["split"] == split)]
        if rows.empty:
            raise NotRunError(f"panel {dataset}, n = {n}, s = {set_size}, {split} did not run")
        place = {"dataset": dataset, "n_users": n, "set_size": set_size, "split": split}
        if self._config and (reason := departure(self._config, place, rows)):
            raise NotRunError(f"{dataset}, n = {n}, s = {set_size}, {split}: {reason}")
        curve = rows[(rows["method"] == "segmented") & (rows["role"] == "grid")].sort_values("blanket_per_user")
        others = rows[rows["method"].isin(paper_competitors()) & (rows["role"] == "best")]
        return Panel(
            name=f"{dataset} n={n} s={set_size} {split}",
            blanket=curve["blanket_per_user"].to_numpy(),
            error=curve["mse_expected"].to_numpy(),
            messages=curve["messages_per_user"].to_numpy(),
            competitors=dict(zip(others["method"], others["mse_expected"], strict=True)),
            altered=other_options(self._config) if self._config else "",
            missing=tuple(sorted(set(paper_competitors()) - set(others["method"]))) if self._config else (),
        )

    def every(self, *, datasets: list[str], splits: list[str]) -> Iterator[Panel]:
        """All panels of some datasets and splits, in the order of the figures."""
        for dataset in datasets:
            for split in splits:
                for set_size in self.set_sizes(dataset):
                    for n_users in self.users(dataset):
                        yield self.get(dataset=dataset, n_users=n_users, set_size=set_size, split=split)


def _by_share(held: list[bool]) -> str:
    return REPRODUCED if all(held) else (PARTLY if any(held) else NOT)


def best_blanket(panels: Panels, *, panel: dict[str, Any], stated: float, factor: float, slack: float) -> Finding:
    """Least error near the stated m, within a factor, or (partly) an error there within the slack of the least."""
    found = panels.get(**panel)
    best, loss = found.best_blanket, found.error_at(stated) / found.best_error - 1
    close = 1 / factor <= best / stated <= factor
    verdict = REPRODUCED if close else (PARTLY if loss <= slack else NOT)
    return Finding(f"least error at m = {best:g}; at m = {stated:g} the error is {loss:+.1%} above the least", verdict)


def reduction(
    panels: Panels,
    *,
    datasets: list[str],
    splits: list[str],
    stated: float,
    tolerance: float,
    only: list[str] | None = None,
) -> Finding:
    """Mean reduction near the stated one: against the strongest competitor of each panel, or (partly) another one."""
    chosen = list(panels.every(datasets=datasets, splits=splits))
    strongest = [panel.reduction(_strongest(panel, only)) for panel in chosen]
    names = sorted(set(chosen[0].competitors) if only is None else set(only) & set(chosen[0].competitors))
    means = {name: float(np.mean([panel.reduction(name) for panel in chosen])) for name in names}
    mean = float(np.mean(strongest))
    near = [name for name, value in means.items() if abs(value - stated) <= tolerance]
    verdict = REPRODUCED if abs(mean - stated) <= tolerance else (PARTLY if near else NOT)
    listed = ", ".join(f"{name} {value:.0%}" for name, value in means.items())
    return Finding(
        f"against the strongest competitor of each panel {mean:.0%} on average ({min(strongest):.0%} to "
        f"{max(strongest):.0%}); mean reduction against each: {listed}",
        verdict,
    )


def _strongest(panel: Panel, only: list[str] | None) -> str:
    return panel.strongest if only is None else min(only, key=panel.error_of)


def reduction_at_least(
    panels: Panels, *, datasets: list[str], splits: list[str], stated: float, against: list[str]
) -> Finding:
    """The reduction reaches the stated one in every panel, against every named competitor."""
    values = {
        f"{panel.name}, {name}": panel.reduction(name)
        for panel in panels.every(datasets=datasets, splits=splits)
        for name in against
    }
    least = min(values, key=lambda key: values[key])
    held = [value >= stated for value in values.values()]
    return Finding(
        f"{sum(held)} of {len(held)} comparisons; least {values[least]:.0%} ({least}), "
        f"median {np.median(list(values.values())):.0%}",
        _by_share(held),
    )


def ratio_of_minima(
    panels: Panels, *, numerator: dict[str, Any], denominator: dict[str, Any], stated: float, factor: float
) -> Finding:
    """Ratio of two least errors within a factor of the stated one, or (partly) between its tenfold and its third."""
    above, below = _two(panels, numerator, denominator)
    ratio = above.best_error / below.best_error
    close = 1 / factor <= ratio / stated <= factor
    verdict = REPRODUCED if close else (PARTLY if 0.01 <= ratio <= 0.1 else NOT)
    return Finding(f"1/{1 / ratio:.1f}", verdict)


def _two(panels: Panels, one: dict[str, Any], other: dict[str, Any]) -> tuple[Panel, Panel]:
    """Two panels; with one number of users "smallest" and "largest" are the same, and nothing can be compared."""
    first, second = panels.get(**one), panels.get(**other)
    if first.name == second.name:
        raise NotRunError(f"only {first.name} ran, nothing to compare it with")
    return first, second


def blanket_order(panels: Panels, *, pairs: list[dict[str, dict[str, Any]]]) -> Finding:
    """The best m of the first panel is above that of the second, for every pair."""
    held, said = [], []
    for pair in pairs:
        more, less = _two(panels, pair["more"], pair["less"])
        held.append(more.best_blanket > less.best_blanket)
        said.append(f"{more.name}: {more.best_blanket:g} against {less.name}: {less.best_blanket:g}")
    return Finding("best m, " + "; ".join(said), _by_share(held))


def split_change(
    panels: Panels, *, datasets: list[str], method: str, before: str, after: str, direction: str
) -> Finding:
    """The error of a method rises or falls from one split to another, on every population."""
    changes = {}
    for one, two in _split_pairs(panels, datasets, before, after):
        first, second = (p.best_error if method == "segmented" else p.error_of(method) for p in (one, two))
        changes[one.name.removesuffix(f" {before}")] = second / first - 1
    held = [(change > 0) == (direction == "rises") and change != 0 for change in changes.values()]
    listed = "; ".join(f"{name}: {change:+.1%}" for name, change in changes.items())
    return Finding(f"{method}, {before} to {after}: {listed}", _by_share(held))


def gap_grows(panels: Panels, *, datasets: list[str], method: str, before: str, after: str) -> Finding:
    """The ratio of a competitor's error to ours grows from one split to another ("strongest": of each panel)."""
    held, said = [], []
    for one, two in _split_pairs(panels, datasets, before, after):
        first, second = (
            p.error_of(p.strongest if method == "strongest" else method) / p.best_error for p in (one, two)
        )
        held.append(second > first)
        said.append(f"{one.name.removesuffix(f' {before}')}: {first:.2f}x to {second:.2f}x")
    return Finding(f"error of {method} over ours, {before} to {after}: " + "; ".join(said), _by_share(held))


def _split_pairs(panels: Panels, datasets: list[str], before: str, after: str) -> list[tuple[Panel, Panel]]:
    ones = panels.every(datasets=datasets, splits=[before])
    twos = panels.every(datasets=datasets, splits=[after])
    return list(zip(ones, twos, strict=True))


def blanket_below(panels: Panels, *, datasets: list[str], splits: list[str], stated: float) -> Finding:
    """The best m is below the stated number in most panels."""
    chosen = list(panels.every(datasets=datasets, splits=splits))
    below = [panel.best_blanket < stated for panel in chosen]
    at_end = sum(panel.best_blanket == panel.blanket[-1] for panel in chosen)
    verdict = REPRODUCED if np.mean(below) > 0.5 else (PARTLY if any(below) else NOT)
    end = f"; {at_end} panels have their least error at the end of the grid" if at_end else ""
    return Finding(f"{sum(below)} of {len(below)} panels{end}", verdict)


def messages_near(panels: Panels, *, datasets: list[str], splits: list[str], stated: float, factor: float) -> Finding:
    """Messages per user at the best m, blanket and data, within a factor of the stated number in most panels."""
    values = [float(p.messages[p.error.argmin()]) for p in panels.every(datasets=datasets, splits=splits)]
    close = [1 / factor <= value / stated <= factor for value in values]
    verdict = REPRODUCED if np.mean(close) > 0.5 else (PARTLY if any(close) else NOT)
    return Finding(
        f"median {np.median(values):.1f} messages (from {min(values):.1f} to {max(values):.1f}); "
        f"{sum(close)} of {len(close)} panels within a factor {factor:g}",
        verdict,
    )


RULES: dict[str, Callable[..., Finding]] = {
    rule.__name__: rule
    for rule in (
        best_blanket,
        reduction,
        reduction_at_least,
        ratio_of_minima,
        blanket_order,
        split_change,
        gap_grows,
        blanket_below,
        messages_near,
    )
}


def evaluate(table: pd.DataFrame, reference: list[dict[str, Any]], config: Config | None = None) -> pd.DataFrame:
    """Evaluate every statement on rows of results/mse.csv; see `Panels` for the configuration, and `judging.judge`."""
    return judging.judge(Panels(table, config), RULES, reference, keys=("id", "section", "statement"))


def to_markdown(claims: pd.DataFrame, *, edition: str, sources: Mapping[str, str]) -> str:
    """Readable table of the verdicts, with what the data were and how often each verdict fell."""
    lines = ["# Statements of section 6, and what came out", "", judging.count_of(claims), ""]
    if edition != "full":
        lines += [
            f"This is the **{edition}** configuration: what it sets otherwise than the paper is not evaluated.",
            "",
        ]
    lines += ["Data: " + ", ".join(f"{name} ({source})" for name, source in sources.items()) + ".", ""]
    return "\n".join([*lines, *judging.table_of(claims), "", *judging.rules_of(claims)]) + "\n"


def readable(claims: pd.DataFrame, table: pd.DataFrame, *, edition: str) -> str:
    """Markdown text of the verdicts, given the table of all panels."""
    return to_markdown(claims, edition=edition, sources=dict(zip(table["dataset"], table["source"], strict=True)))
