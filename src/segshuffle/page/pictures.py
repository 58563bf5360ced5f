"""The figures of a run in the groups of their declarations, and in words what each shows, for who does not see it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from urllib.parse import quote

from segshuffle.page.numbers import at_most, nearest
from segshuffle.page.results import Panel, Results
from segshuffle.page.tables import audited, budgets_of, worst_over_splits
from segshuffle.pipeline.design import ACCOUNTINGS
from segshuffle.pipeline.manifest import Group, Output

Words = Callable[[Results], str]


def _least(panel: Panel) -> str:
    curve = panel.curve
    best = curve.iloc[int(curve["mse_expected"].argmin())]
    ends = curve.iloc[[0, -1]]["mse_mean"].tolist()
    return (
        f"({panel.letter}) {panel.name}. The segmented protocol's error goes from {nearest(ends[0], digits=2)} at "
        f"m = {curve['blanket_per_user'].min():g} to its least, {nearest(best['mse_mean'], digits=2)} at "
        f"m = {best['blanket_per_user']:g}, and to {nearest(ends[1], digits=2)} at "
        f"m = {curve['blanket_per_user'].max():g}. Level lines, lowest first: {_rivals(panel, 'published')}."
    )


def _rivals(panel: Panel, accounting: str) -> str:
    looks = panel.looks(accounting)
    return ", ".join(
        f"{looks[row['method']].label} {nearest(row['mse_mean'], digits=2)}"
        for row in panel.points(accounting).to_dict("records")
    )


def _least_proven(panel: Panel) -> str:
    parts = []
    for accounting in ACCOUNTINGS:
        for name, rows in panel.curves(accounting).items():
            best = rows.iloc[int(rows["mse_expected"].argmin())]
            label = panel.looks(accounting)[name].label
            parts.append(f"{label}: {nearest(best['mse_mean'], digits=2)} at m = {best['blanket_per_user']:g}")
    said, rivals = "; ".join(parts), _rivals(panel, "proven")
    return f"({panel.letter}) {panel.name}. Least errors: {said}. Level lines, lowest first: {rivals}."


def _of_panels(figure: str, describe: Callable[[Panel], str]) -> Words:
    """Alternative text made of one description per panel."""
    return lambda results: (
        "Line charts of squared error over blanket messages per user m, both axes logarithmic. "
        + " ".join(describe(panel) for panel in results.figures()[figure])
    )


def _summary(results: Results) -> str:
    panels = results.panels()
    ratios = {
        panel.name: float(panel.points("published")["mse_expected"].iloc[0] / panel.curve["mse_expected"].min())
        for panel in panels
    }
    low, high = min(ratios, key=lambda name: ratios[name]), max(ratios, key=lambda name: ratios[name])
    return (
        f"Dot chart with a row for each of {len(panels)} panels: error of every competitor over the least error of the "
        f"segmented protocol, logarithmic. The strongest competitor's ratio is smallest on {low} "
        f"({nearest(ratios[low])}) and largest on {high} ({nearest(ratios[high])})."
    )


def _audit(results: Results) -> str:
    said = []
    for (dataset, n_users, set_size), rows in audited(results.audit).groupby(
        ["dataset", "n_users", "set_size"], sort=False
    ):
        alone = worst_over_splits(rows[rows["view"] == "blanket-only"])
        ratio = alone["actual_user_epsilon"] / alone["claimed_user_epsilon"]
        worst = alone.iloc[int(ratio.where(ratio < float("inf")).argmax())]
        said.append(
            f"{dataset}, n = {n_users:,}, s = {set_size}: at most {at_most(worst['actual_user_epsilon'])} where "
            f"{worst['claimed_user_epsilon']:g} is claimed, at m = {worst['blanket_per_user']:g}."
        )
    return (
        "Charts of user-level epsilon over m, a panel per population, both axes logarithmic. Thin level lines are the "
        "claimed levels. The blanket alone follows them except at whole numbers m, where it lies above. Its largest "
        "finite excess: " + " ".join(said)
    )


def _messages(results: Results) -> str:
    summary, said = results.summary, []
    for budget in budgets_of(summary):
        ratio = summary[f"copies_{budget:g}_over_curator"]
        said.append(f"{budget:g} messages: {nearest(ratio.min())} to {nearest(ratio.max())}")
    return (
        f"Line charts of error over the trusted curator's, against messages per user, {len(summary)} panels. All "
        "curves fall towards 1. With copies, range over the panels: " + "; ".join(said) + "."
    )


def _limit(results: Results) -> str:
    table = results.limit.dropna(subset=["error_ratio"])
    large = table[table["blanket_mean"] >= 100.0]["error_ratio"]
    curves = table.groupby(["set_size", "delta"]).ngroups
    from_100 = f" From 100 messages per item on it is at most {at_most(large.max(), digits=4)}." if len(large) else ""
    return (
        f"Line chart of error over a trusted curator's against blanket messages per item, {curves} curves (set size "
        f"and δ). The ratio falls from {nearest(table['error_ratio'].max())} towards 1.{from_100}"
    )


def _levels(results: Results) -> str:
    table = results.levels
    exact = table[table["epsilon_levels"].isna()].set_index(["dataset", "n_users", "set_size", "split"])["mse_mean"]
    said = []
    for epsilon, rows in table.dropna(subset=["epsilon_levels"]).groupby("epsilon_levels"):
        ratio = rows.set_index(exact.index.names)["mse_mean"] / exact
        said.append(f"{epsilon:g}: {nearest(ratio.min())} to {nearest(ratio.max())}")
    return (
        "Charts of squared error over the privacy of the levels, a panel per population, three splits each. Measured "
        "error over the error with the exact histogram of levels, range over populations and splits, at each ε of the "
        f"levels: {'; '.join(said)}."
    )


def _referee(results: Results) -> str:
    head = (
        "Charts of the claimed epsilon over the proven lower bound, in per cent, against the number of users; a row "
        "per mechanism, a column per local epsilon. Points below zero are refuted claims."
    )
    if results.referee is None:
        return head
    broken = results.referee[results.referee["verdict"] == "violated"]
    said = ", ".join(f"{row['accountant']} on {row['case']}" for row in broken.to_dict("records"))
    return f"{head} Violated: {said or 'none'}."


#: What needs more words than its declaration; figures of panels are described by `words_of`.
_ALTERNATIVES: dict[str, Words] = {
    "summary": _summary,
    "messages-proven": _messages,
    "audit": _audit,
    "limit": _limit,
    "levels": _levels,
    "referee": _referee,
}


def words_of(output: Output, results: Results) -> str:
    """What a figure shows; that of a study nobody has written words for is told by its declaration."""
    if output.name in _ALTERNATIVES:
        return _ALTERNATIVES[output.name](results)
    panels = results.figures()
    if output.name in panels:
        return _of_panels(output.name, _least)(results)
    if (figure := output.name.removesuffix("-proven")) in panels:
        return _of_panels(figure, _least_proven)(results)
    details = f" {'; '.join(output.details)}." if output.details else ""
    return f"{output.title}. {output.caption}{details} The numbers are in the tables of its study."


def groups(declared: Iterable[Output]) -> dict[Group, list[Output]]:
    """All declared figures, by group in the order of the page."""
    found: dict[Group, list[Output]] = {}
    for output in declared:
        if output.is_figure:
            found.setdefault(output.group, []).append(output)
    return dict(sorted(found.items(), key=lambda item: item[0].rank))


def groups_of(names: Iterable[str], declared: Iterable[Output]) -> dict[Group, list[Output]]:
    """The groups with the figures that are at hand.

    Raises
    ------
    KeyError
        Names the unknown files.
    """
    given, listed = set(names), groups(declared)
    if unknown := given - {output.name for outputs in listed.values() for output in outputs}:
        raise KeyError(f"no study declares the figures {sorted(unknown)}")
    kept = {group: [output for output in outputs if output.name in given] for group, outputs in listed.items()}
    return {group: outputs for group, outputs in kept.items() if outputs}


def data_uri(svg: str) -> str:
    """A figure as an address that contains it: nothing is loaded, and its identifiers stay its own.

    Comments, metadata and line breaks are left out; where DejaVu Sans is not installed, fonts of like width stand in.
    """
    start = svg.index("<svg")
    text = re.sub(r"<metadata>.*?</metadata>|<!--.*?-->", "", svg[start:], flags=re.DOTALL)
    text = text.replace("'DejaVu Sans'", "'DejaVu Sans', Verdana, sans-serif")
    # quotes around attributes change their kind, so that they need not be escaped
    text = re.sub(r"<[^>]*>", lambda tag: tag.group().translate(_SWAPPED), text)
    # what an address cannot hold; the page escapes quotes and ampersands as in any attribute
    safe = re.sub(r"[^ -~]+|[%#]", lambda part: quote(part.group()), " ".join(text.split()))
    return f"data:image/svg+xml,{safe}"


_SWAPPED = str.maketrans("\"'", "'\"")
