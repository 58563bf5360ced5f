"""The figures of a run in groups: which file, which caption, and in words what is shown. A group is one entry here."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from segshuffle.datasets.registry import dataset_label
from segshuffle.page.numbers import at_most, nearest
from segshuffle.page.results import Panel, Results
from segshuffle.page.tables import audited, budgets_of, worst_over_splits
from segshuffle.pipeline.design import ACCOUNTINGS, FIGURES, Scenario, figures_of
from segshuffle.studies.amplification import design as amplification

Words = Callable[[Results], str]


@dataclass(frozen=True)
class Picture:
    """A figure of the run.

    Parameters
    ----------
    name : str
        File name below figures/, without suffix.
    title : str
        Heading.
    caption : str
        How to read it, and the kind of its numbers.
    alternative : callable
        Results -> what is shown, in words and numbers, for readers who do not see the figure.
    panels : str, optional
        Figure whose panels have interactive charts below this picture.
    """

    name: str
    title: str
    caption: str
    alternative: Words
    panels: str = ""


@dataclass(frozen=True)
class Group:
    """Figures under one heading of the page."""

    id: str
    short: str
    title: str
    introduction: str
    pictures: tuple[Picture, ...]


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


_KIND = "The segmented protocol's privacy numbers are as published; its competitors' are as the table of a panel says."
_PROVEN = "All privacy numbers are proven but the paper's own curve (black), which is drawn for comparison."


def _shows(panels: Sequence[Scenario]) -> str:
    """Datasets and splits of a figure, in words."""
    datasets = dict.fromkeys(dataset_label(panel.setting.dataset, "real") for panel in panels)
    splits = dict.fromkeys(panel.split for panel in panels)
    return f"{' and '.join(datasets)}, split {' and '.join(splits)}"


def _number(name: str) -> str:
    """Number of a figure of the paper; nothing for what the paper does not show."""
    return f"Figure {name.removeprefix('fig')}: " if name in FIGURES else ""


def _paper_figure(name: str, panels: Sequence[Scenario]) -> Picture:
    title = f"{_number(name)}{_shows(panels)}"
    return Picture(name, title, f"Error over blanket messages per user m. {_KIND}", _of_panels(name, _least), name)


def _proven_figure(name: str, panels: Sequence[Scenario]) -> Picture:
    title = f"{_number(name)}{_shows(panels)}, with proven accounting for everybody"
    return Picture(f"{name}-proven", title, _PROVEN, _of_panels(name, _least_proven))


def _amplification_group(paper: str) -> Group:
    items = [item for item in amplification.ITEMS.values() if item.paper == paper and not item.table]
    pictures = (
        Picture(
            item.id,
            f"Figure {item.number}: {item.shows}",
            "The legend says which numbers are proven and which are as published.",
            lambda _, item=item: (
                f"Charts of the paper's Figure {item.number}: {item.shows}. The numbers are in "  # type: ignore[misc]
                f"amplification/{item.id}.csv."
            ),
        )
        for item in items
    )
    return Group(
        f"amplification-{paper}",
        f"{paper.capitalize()} paper",
        amplification.PAPERS[paper],
        "The evaluation of this paper, computed from its settings; no data are used.",
        tuple(pictures),
    )


def groups(every: Sequence[Scenario]) -> tuple[Group, ...]:
    """All groups of a run with these panels, in the order of the page."""
    figures = figures_of(every)
    return (
        _paper_group(figures),
        *_AUDIT,
        _proven_group(figures),
        *_OTHERS,
    )


def _paper_group(figures: Mapping[str, Sequence[Scenario]]) -> Group:
    return Group(
        "figures",
        "The paper's figures",
        "Figures 2–6 of the paper",
        "Shaded bands are two standard errors. Open a panel below a figure for its interactive chart and its numbers.",
        (
            *(_paper_figure(name, panels) for name, panels in figures.items()),
            Picture("summary", "All panels at a glance", "Ratios of closed-form errors, each at its best m.", _summary),
        ),
    )


_AUDIT = (
    Group(
        "audit",
        "Audit",
        "What the published guarantee is worth",
        "The server sees all counters and their sum; Theorem 3 bounds what two of them tell.",
        (
            Picture(
                "audit",
                "Claimed and actual ε over m",
                "Blanket alone: a proven upper bound. The other two views are lower views.",
                _audit,
            ),
        ),
    ),
)


def _proven_group(figures: Mapping[str, Sequence[Scenario]]) -> Group:
    return Group(
        "proven",
        "Proven protocol",
        "The proven protocol",
        "The same panels, the same (ε, δ), proven accounting for everybody.",
        (
            *(_proven_figure(name, panels) for name, panels in figures.items()),
            Picture(
                "messages-proven",
                "What each message buys",
                "Error over that of the trusted curator with one weight per level; closed forms, proven accounting.",
                _messages,
            ),
            Picture(
                "limit",
                "How close to a trusted curator",
                "One level, every item sent once; exact accounting on both sides.",
                _limit,
            ),
        ),
    )


_OTHERS = (
    Group(
        "levels",
        "Private levels",
        "Private privacy levels",
        "A privacy level can itself be worth hiding; this is what protecting it in the first round costs.",
        (
            Picture(
                "levels",
                "Error over the privacy of the levels",
                "Bars are two standard errors; the levels' guarantee is exact.",
                _levels,
            ),
        ),
    ),
    *map(_amplification_group, amplification.PAPERS),
    Group(
        "referee",
        "Referee",
        "The referee: published bounds against proven ones",
        "A published upper bound that lies below a proven lower bound is wrong.",
        (
            Picture(
                "referee",
                "Claimed ε above or below the proven lower bound",
                "Below zero a claim is refuted. Lower bounds are proven; the legend says which claims are.",
                _referee,
            ),
        ),
    ),
)


def groups_of(names: Iterable[str], every: Sequence[Scenario]) -> list[Group]:
    """The groups with the pictures that are at hand; a file that no group knows is an error.

    Raises
    ------
    KeyError
        Names the unknown files.
    """
    given = set(names)
    listed = groups(every)
    known = {picture.name for group in listed for picture in group.pictures}
    if given - known:
        raise KeyError(f"no group of segshuffle.page.pictures has the figures {sorted(given - known)}")
    kept = (
        Group(
            group.id, group.short, group.title, group.introduction, tuple(p for p in group.pictures if p.name in given)
        )
        for group in listed
    )
    return [group for group in kept if group.pictures]


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
