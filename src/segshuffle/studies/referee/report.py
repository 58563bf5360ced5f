"""The referee's verdicts: one per accountant and case, and the same as Markdown."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from segshuffle.accounting.single_message.accountants import ACCOUNTANT_LOOKS
from segshuffle.looks import PALETTE, TINTS, Look, looks_of
from segshuffle.pipeline.style import fit_legend, mark_edition, use_style
from segshuffle.studies.referee.compute import LABELS, MARGIN

#: Deltas below this are left out where the largest ratio of deltas is named: in the far tails it has no limit.
LEAST_DELTA = 1e-6
_WORDS = ("violated", "sound so far", "vacuous", "not applicable")
#: Columns of results/referee-verdicts.csv, in order.
COLUMNS = (
    *("accountant", "case", "kind", "verdict", "cells", "violated", "vacuous"),
    *("few_delta_ratio", "many_delta_ratio", "many_epsilon_ratio"),
    *("worst_local_epsilon", "worst_n_users", "worst_claimed", "worst_proven"),
    *("smallest_n_users", "smallest_claimed", "smallest_proven", "command"),
)


def tally(table: pd.DataFrame) -> pd.DataFrame:
    """Sum up the trials.

    Parameters
    ----------
    table : DataFrame
        Rows of `trial.COLUMNS`, any number of cases.

    Returns
    -------
    DataFrame
        `COLUMNS`, one row per accountant and case in the table's order. ``few_delta_ratio``: largest true over claimed
        delta among points that ask for a delta (few users) and where the proven delta is at least `LEAST_DELTA`.
        ``many_delta_ratio`` and ``many_epsilon_ratio``: the same at delta = delta_times_n/n, for the delta at the
        claimed epsilon and for the epsilon; ``worst_*`` is the point of the latter. ``smallest_*`` is the violation
        with the fewest users that ``command`` shows, the widest gap among those.
    """
    order = list(dict.fromkeys(table["accountant"]))
    groups = dict(iter(table.groupby(["accountant", "case"], sort=False)))
    names = [(who, case) for who in order for case in dict.fromkeys(table["case"]) if (who, case) in groups]
    found = pd.DataFrame([_verdict(who, case, groups[who, case]) for who, case in names], columns=list(COLUMNS))
    return found.astype({"worst_n_users": "Int64", "smallest_n_users": "Int64"})


def _verdict(accountant: str, case: str, rows: pd.DataFrame) -> dict[str, Any]:
    tried = rows[rows["outcome"] != "not applicable"]
    broken = tried[tried["outcome"] == "violated"]
    few = tried[(tried["asked"] == "delta") & (tried["proven"] >= LEAST_DELTA)]
    many = tried[tried["asked"] == "epsilon"]
    word = "not applicable" if tried.empty else "vacuous" if tried["vacuous"].all() else "sound so far"
    row: dict[str, Any] = dict.fromkeys(COLUMNS[:-1], np.nan) | {
        "accountant": accountant,
        "case": case,
        "kind": rows["kind"].iloc[0],
        "verdict": "violated" if len(broken) else word,
        "cells": len(tried),
        "violated": len(broken),
        "vacuous": int(tried["vacuous"].sum()),
        "few_delta_ratio": few["ratio"].max(),
        "many_delta_ratio": many["delta_ratio"].max(),
        "many_epsilon_ratio": many["ratio"].max(),
        "command": None,
    }
    if len(many):
        worst = many.iloc[int(np.argmax(many["ratio"]))]
        row |= {f"worst_{name}": worst[name] for name in ("local_epsilon", "n_users", "claimed", "proven")}
    shown = broken[broken["by_equal_others"]]
    if len(shown):
        fewest = shown[shown["n_users"] == shown["n_users"].min()]
        smallest = fewest.iloc[int(np.argmax(fewest["proven"] - fewest["claimed"]))]
        row |= {f"smallest_{name}": smallest[name] for name in ("n_users", "claimed", "proven")}
        row["command"] = smallest["command"]
    return row


def overall(found: pd.DataFrame) -> pd.DataFrame:
    """Count, for every accountant, the cases with each verdict."""
    counts = pd.crosstab(found["accountant"], found["verdict"]).reindex(columns=list(_WORDS), fill_value=0)
    return counts.reindex(list(dict.fromkeys(found["accountant"]))).reset_index()


_INTRO = f"""Upper bounds, published and proven, each against a proven lower bound of the same mechanism, n, epsilon and
delta: the divergence of two neighbouring datasets, rounded down. A claim is called violated only if its safe side lies
below the proven number by more than a relative {MARGIN:g}. "Sound so far" means that nothing on this grid refutes it,
no more. "Vacuous": never below the local guarantee on the grid."""
_READING = f"""Ratios are proven over claimed; of deltas below {LEAST_DELTA:g} none is named for few users.
At many users delta = delta_times_n/n (of the configuration); ratios of deltas are at the claimed epsilon."""
_COUNTEREXAMPLES = """Fewest users for which the command's output shows the violation: the accountant's number beside
`blanket-lower`, the proven one."""
_UPPER_BROKEN = "**Proven upper bounds that fail here, so that either their code or their proof is wrong: {}.**"
_UPPER_HOLDS = "No proven upper bound fails on the grid."


def report(found: pd.DataFrame, *, edition: str) -> str:
    """Write the verdicts as Markdown.

    Parameters
    ----------
    found : DataFrame
        As `tally` returns it.
    edition : str
        "full" or "quick".
    """
    every = found.to_dict("records")
    broken = [row for row in every if row["verdict"] == "violated"]
    wrong = ", ".join(f"{row['accountant']} for {row['case']}" for row in broken if row["kind"] == "upper")
    lines = ["# The referee", ""]
    if edition != "full":
        lines += [f"This is a **{edition}** run: a coarse grid over a few mechanisms.", ""]
    lines += [_INTRO, "", _UPPER_BROKEN.format(wrong) if wrong else _UPPER_HOLDS, "", "## Accountants", ""]
    head = ["accountant", "violated for", "sound so far for", "vacuous for", "not applicable to"]
    lines += [*_table(head, overall(found).itertuples(index=False)), "", "## Violations", "", _READING, ""]
    head = ["accountant", "case", "kind", "cells violated", "delta, few users", "delta, many users"]
    head += ["epsilon, many users", "largest at", "claimed epsilon", "proven epsilon"]
    lines += [*_table(head, map(_violation, broken)), "", "## Counterexamples", "", _COUNTEREXAMPLES, ""]
    lines += [line for row in broken for line in _counterexample(row)]
    head = ["accountant", "case", "kind", "verdict", "cells", "violated", "vacuous", "largest proven/claimed epsilon"]
    cells = ([*(row[name] for name in head[:-1]), _number(row["many_epsilon_ratio"])] for row in every)
    return "\n".join([*lines, "## Every accountant and mechanism", "", *_table(head, cells)]) + "\n"


def _violation(row: Mapping[Any, Any]) -> list[str]:
    known = not pd.isna(row["worst_n_users"])
    return [
        *(row[name] for name in ("accountant", "case", "kind")),
        f"{row['violated']} of {row['cells']}",
        *(_number(row[name]) for name in ("few_delta_ratio", "many_delta_ratio", "many_epsilon_ratio")),
        f"eps0 = {row['worst_local_epsilon']:.4g}, n = {row['worst_n_users']}" if known else "",
        *(_number(row[name]) for name in ("worst_claimed", "worst_proven")),
    ]


def _counterexample(row: Mapping[Any, Any]) -> list[str]:
    """Heading, numbers and command of one violation."""
    head = f"**{row['accountant']}, {row['case']}**"
    if not isinstance(row["command"], str):
        return [f"{head}: only at the claimed epsilon, or with other users who differ; see referee.csv.", ""]
    claimed, proven = row["smallest_claimed"], row["smallest_proven"]
    head += f", n = {row['smallest_n_users']}: claimed {claimed!r}, proven at least {proven!r}."
    return [head, "", "```bash", row["command"], "```", ""]


def _number(value: float) -> str:
    """Six digits, so that 1.00002 does not become 1; nothing for a missing number."""
    return "" if value is None or math.isnan(value) else f"{value:.6g}"


def _table(head: list[str], rows: Iterable[Sequence[Any]]) -> list[str]:
    return [f"| {' | '.join(map(str, row))} |" for row in (head, ["---"] * len(head), *rows)]


#: Proven bounds that are drawn for comparison; of the others only what is violated, which would be a defect.
_REFERENCES = ("blanket", "standard-clone")
#: Inches between panels, and labels of their ticks in points.
_PADS, _SMALL = {"w_pad": 0.02, "h_pad": 0.02, "hspace": 0.02, "wspace": 0.02}, 6.5
#: Deviations below this are drawn on a linear scale, in percent, which takes so many powers of ten.
_LINEAR, _LINEAR_PART = 0.01, 0.4
_LOW, _HIGH = -150.0, 300.0
#: Room above the largest deviation.
_MARGIN = 1.3
_TICKS = (-10.0, -1.0, -0.1, 0.0, 0.1, 1.0, 10.0, 100.0, 1000.0)


def draw(table: pd.DataFrame, *, edition: str) -> Figure:
    """Draw a panel per case (rows) and local epsilon (columns), a curve per accountant.

    Parameters
    ----------
    table : DataFrame
        Rows of results/referee.csv. Cases without any violation at many users are left out, unless there is none.
    edition : str
        Which results these are; "quick" is written across the figure.
    """
    use_style()
    asked = table[(table["asked"] == "epsilon") & (table["outcome"] != "not applicable")]
    broken = set(asked[asked["outcome"] == "violated"]["case"])
    cases = [case for case in dict.fromkeys(asked["case"]) if case in broken or not broken]
    asked = asked[asked["case"].isin(cases)]
    looks = _looks(asked)
    drawn = asked[asked["accountant"].isin(list(looks)) & ~asked["vacuous"]]
    highest = max(_HIGH, _MARGIN * float(_percent(drawn).max()))
    columns = sorted(asked["local_epsilon"].unique())
    # axes that share their scales would ask each other for their ticks: seconds, with so many panels
    figure, axes = plt.subplots(len(cases), len(columns), figsize=(7.2, 1.02 * len(cases) + 1.2), squeeze=False)
    figure.set_layout_engine("constrained", **_PADS)
    for line, case in zip(axes, cases, strict=True):
        for axis, local in zip(line, columns, strict=True):
            _panel(axis, asked[(asked["case"] == case) & (asked["local_epsilon"] == local)], looks)
        line[0].set_ylabel(LABELS.get(case, case), fontsize=7.5)
    for axis, local in zip(axes[0], columns, strict=True):
        axis.set_title(f"$\\varepsilon_0$ = {local:g}")
    share = float((asked["target"] * asked["n_users"]).iloc[0])
    # in the middle of the last line: a label of the whole figure would lie under the legend
    axes[-1][(len(columns) - 1) // 2].set_xlabel(f"number of users $n$, at $\\delta$ = {share:g}/$n$")
    for axis in axes.flat:
        axis.set_ylim(_LOW, highest)
        _users_axis(axis, sorted(asked["n_users"].unique()))
        axis.label_outer()
    above = "claimed $\\varepsilon$ above (+) or below (−) the proven lower bound"
    figure.supylabel(above, fontsize=8)
    fit_legend(figure, _handles(asked, looks))
    mark_edition(figure, edition)
    return figure


def _looks(rows: pd.DataFrame) -> dict[str, Look]:
    """Choose what is drawn: every claim, and the proven references, which never have a marker."""
    claims = set(rows[rows["kind"] != "upper"]["accountant"])
    shown = rows[rows["accountant"].isin({*claims, *_REFERENCES}) | (rows["outcome"] == "violated")]
    looks = looks_of(shown["accountant"], ACCOUNTANT_LOOKS)
    broken = set(shown[shown["outcome"] == "violated"]["accountant"])
    return {name: look if name in claims | broken else look._replace(marker="") for name, look in looks.items()}


def _percent(rows: pd.DataFrame) -> pd.Series[float]:
    """How far every claim lies above the proven lower bound, in percent of it."""
    return 100 * (1 / rows["ratio"] - 1)


def _panel(axis: Axes, rows: pd.DataFrame, looks: Mapping[str, Look]) -> None:
    """All accountants of one case and local epsilon; claims as weak as the local guarantee are not drawn."""
    axis.axhspan(_LOW, 0.0, color=TINTS["refuted"], lw=0, zorder=0)
    axis.axhline(0.0, color=PALETTE["black"], lw=0.8, zorder=1)
    for name, look in looks.items():
        mine = rows[(rows["accountant"] == name) & ~rows["vacuous"]].sort_values("n_users")
        if mine.empty:
            continue
        n, percent = mine["n_users"].to_numpy(), _percent(mine).to_numpy()
        axis.plot(n, percent, ls=look.dashes, lw=1.0, color=look.color, zorder=2 + bool(look.marker))
        violated = (mine["outcome"] == "violated").to_numpy()
        for chosen, face, size in ((violated, look.color, 4.2), (~violated, "white", 3.6)):
            if look.marker:
                marks: dict[str, Any] = {"marker": look.marker, "mfc": face, "mec": look.color, "ms": size, "mew": 0.8}
                axis.plot(n[chosen], percent[chosen], ls="none", zorder=5 if face == look.color else 4, **marks)
    axis.set_xscale("log")
    axis.set_yscale("symlog", linthresh=_LINEAR, linscale=_LINEAR_PART)
    axis.yaxis.set_major_locator(FixedLocator(list(_TICKS)))
    axis.yaxis.set_minor_locator(NullLocator())
    axis.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g} %".replace("-", "−") if value else "0"))
    axis.tick_params(labelsize=_SMALL)


def _users_axis(axis: Axes, n_users: list[int]) -> None:
    """Powers of ten from the fewest to the most users of all panels."""
    axis.set_xlim(n_users[0] / 1.8, n_users[-1] * 1.8)
    powers = range(math.ceil(math.log10(n_users[0])), math.floor(math.log10(n_users[-1])) + 1)
    axis.xaxis.set_major_locator(FixedLocator([10.0**power for power in powers]))
    axis.xaxis.set_minor_locator(NullLocator())


def _handles(rows: pd.DataFrame, looks: Mapping[str, Look]) -> list[Artist]:
    """Legend: the accountants that are drawn, and what filled markers mean."""
    present = set(rows[~rows["vacuous"]]["accountant"])
    handles: list[Artist] = [
        Line2D(
            [], [], color=look.color, ls=look.dashes, lw=1.0, marker=look.marker or "None", ms=4, mfc="white",
            label=look.label,
        )
        for name, look in looks.items()
        if name in present
    ]  # fmt: skip
    grey = PALETTE["dark-grey"]
    handles.append(Line2D([], [], color=grey, marker="o", ls="none", ms=4.2, label="filled: violated"))
    handles.append(Patch(color=TINTS["refuted"], label="below what is proven"))
    return handles


def words(figure: str, tables: Mapping[str, pd.DataFrame]) -> str | None:
    """Which claims are refuted."""
    if figure != "referee":
        return None
    head = (
        "Charts of the claimed epsilon over the proven lower bound, in per cent, against the number of users; a row "
        "per mechanism, a column per local epsilon. Points below zero are refuted claims."
    )
    if "referee-verdicts.csv" not in tables:
        return head
    verdicts = tables["referee-verdicts.csv"]
    broken = verdicts[verdicts["verdict"] == "violated"]
    said = ", ".join(f"{row['accountant']} on {row['case']}" for row in broken.to_dict("records"))
    return f"{head} Violated: {said or 'none'}."
