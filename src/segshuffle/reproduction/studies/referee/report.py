"""What readers see of the referee: a verdict per accountant and case, the same as Markdown, and the figure."""

from collections.abc import Mapping
from itertools import product
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from segshuffle.drawing.looks import ACCOUNTANTS, PALETTE, TINTS, Look, looks_of, stroke
from segshuffle.drawing.style import finished, panel_grid
from segshuffle.reproduction.rows import table_of
from segshuffle.reproduction.studies.referee.compute import LABELS, MARGIN

#: Deltas below this are left out where the largest ratio of deltas is named: in the far tails it has no limit.
LEAST_DELTA = 1e-6


def tally(table: pd.DataFrame) -> pd.DataFrame:
    """Sum up the trials.

    Parameters
    ----------
    table : DataFrame
        As `compute.trials` returns it.

    Returns
    -------
    DataFrame
        One row per accountant and case, in the table's order. ``few_delta_ratio``: largest ratio of the proven delta
        to the claimed one among points that ask for a delta (few users), if the proven delta is at least
        `LEAST_DELTA`. ``many_delta_ratio`` and ``many_epsilon_ratio``: the same at delta = delta_times_n/n, for the
        delta at the claimed epsilon and for the epsilon; ``worst_*`` is the point of the largest ratio of epsilons.
        ``smallest_*`` is the violation with the fewest users that ``command`` shows; among several, that with the
        widest gap. Values that do not exist are nan.
    """
    table = pd.DataFrame(
        {"accountant": who, "case": case, **_verdict(rows)}
        for who, own in table.groupby("accountant", sort=False)
        for case, rows in own.groupby("case", sort=False)
    )
    return table.astype({"worst_n_users": "Int64", "smallest_n_users": "Int64"})


def _verdict(rows: pd.DataFrame) -> dict[str, Any]:
    tried = rows[rows["outcome"] != "not applicable"]
    broken = tried[tried["outcome"] == "violated"]
    few = tried[(tried["asked"] == "delta") & (tried["proven"] >= LEAST_DELTA)]
    many = tried[tried["asked"] == "epsilon"]
    word = "not applicable" if tried.empty else "vacuous" if tried["vacuous"].all() else "sound so far"
    worst = many.nlargest(1, "ratio")
    shown = broken[broken["by_equal_others"]].assign(gap=broken["proven"] - broken["claimed"])
    smallest = shown.sort_values(["n_users", "gap"], ascending=[True, False]).head(1)
    # the maximum of one row is its value, that of no row is nan
    return {
        "kind": rows["kind"].iloc[0],
        "verdict": "violated" if len(broken) else word,
        "cells": len(tried),
        "violated": len(broken),
        "vacuous": tried["vacuous"].sum(),
        "few_delta_ratio": few["ratio"].max(),
        "many_delta_ratio": many["delta_ratio"].max(),
        "many_epsilon_ratio": many["ratio"].max(),
        **{f"worst_{name}": worst[name].max() for name in ("local_epsilon", "n_users", "claimed", "proven")},
        **{f"smallest_{name}": smallest[name].max() for name in ("n_users", "claimed", "proven")},
        "command": smallest["command"].max(),
    }


_INTRO = f"""Every upper bound is compared with a proven lower bound for the same mechanism, n, epsilon and
delta: the divergence of two neighbouring datasets, rounded down. A bound is called violated only if, rounded up, it
lies below the proven number by more than a relative {MARGIN:g}. A case is a mechanism, and a cell is one point of its
grid: n, the local epsilon, and an epsilon or a delta. "Sound so far" only means that nothing on this grid refutes the
bound. "Vacuous" means that the bound is nowhere on the grid better than the local guarantee."""
_READING = f"""The columns for *few users* and *many users* have the proven number divided by the claimed one. For few
users, deltas below {LEAST_DELTA:g} are left out. For many users delta is the configuration's delta_times_n, divided by
n; ratios of deltas are at the claimed epsilon. *Largest at* is the point with the largest ratio of epsilons."""
_COUNTEREXAMPLES = """Each example has the fewest users for which the command's output shows the violation: compare the
accountant's number with the proven one (`blanket-lower` or `proven`). The numbers are deltas if the command gives an
epsilon, and epsilons if it gives a delta."""
#: Verdict -> its heading in the table of accountants.
_VERDICTS = {
    "violated": "violated for",
    "sound so far": "sound so far for",
    "vacuous": "vacuous for",
    "not applicable": "not applicable to",
}


def report(cases: pd.DataFrame) -> str:
    """Write the verdicts as Markdown.

    Parameters
    ----------
    cases : DataFrame
        As `tally` returns it.
    """
    broken = cases[cases["verdict"] == "violated"]
    wrong = ", ".join(f"{row.accountant} for {row.case}" for row in broken.itertuples() if row.kind == "upper")
    upper = f"**Proven upper bounds fail here, so their code or their proof is wrong: {wrong}.**"
    counts = pd.crosstab(cases["accountant"], cases["verdict"]).reindex(cases["accountant"].unique())
    accountants = counts.reindex(columns=list(_VERDICTS), fill_value=0).rename(columns=_VERDICTS).reset_index()
    place = "eps0 = " + broken["worst_local_epsilon"].map("{:.4g}".format) + ", n = " + broken["worst_n_users"].map(str)
    violations = {
        **broken[["accountant", "case", "kind"]],
        "cells violated": broken["violated"].map(str) + " of " + broken["cells"].map(str),
        "delta, few users": broken["few_delta_ratio"],
        "delta, many users": broken["many_delta_ratio"],
        "epsilon, many users": broken["many_epsilon_ratio"],
        "largest at": place.where(broken["worst_n_users"].notna(), ""),
        "claimed epsilon": broken["worst_claimed"],
        "proven epsilon": broken["worst_proven"],
    }
    every = cases.loc[:, "accountant":"vacuous"].assign(
        **{"largest proven/claimed epsilon": cases["many_epsilon_ratio"]}
    )
    examples = "".join(map(_counterexample, broken.to_dict("records")))
    return f"""# The referee

{_INTRO}

{upper if wrong else "No proven upper bound fails on the grid."}

## Accountants

{_table(accountants)}

## Violations

{_READING}

{_table(pd.DataFrame(violations))}

## Counterexamples

{_COUNTEREXAMPLES}

{examples}## Every accountant and mechanism

{_table(every)}
"""


def _table(rows: pd.DataFrame) -> str:
    """Write numbers with six digits, so that 1.00002 does not become 1."""
    return table_of(rows.columns, (map(_cell, row) for row in rows.itertuples(index=False)))


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return "" if pd.isna(value) else f"{value:.6g}"
    return str(value)


def _counterexample(row: Mapping[Any, Any]) -> str:
    """Return the heading, numbers and command of one violation."""
    head = f"**{row['accountant']}, {row['case']}**"
    if not isinstance(row["command"], str):
        return f"{head}: shown only by delta at the claimed epsilon, or if others' inputs differ; see referee.csv.\n\n"
    claimed, proven = row["smallest_claimed"], row["smallest_proven"]
    numbers = f"n = {row['smallest_n_users']}: claimed {claimed!r}, proven at least {proven!r}"
    return f"{head}, {numbers}.\n\n```bash\n{row['command']}\n```\n\n"


#: Proven bounds that are drawn for comparison. Other proven bounds are drawn only if violated, which would be a defect.
_REFERENCES = ("blanket", "standard-clone")
#: Inches between panels, and size of tick labels in points.
_PADS, _SMALL = {"w_pad": 0.02, "h_pad": 0.02, "hspace": 0.02, "wspace": 0.02}, 6.5
#: Deviations below the first number, in percent, are drawn on a linear scale; the second is its length in decades.
_LINEAR, _LINEAR_PART = 0.01, 0.4
_LOW, _HIGH = -150.0, 300.0
#: Room above the largest deviation.
_MARGIN = 3.0
_TICKS = {-10.0: "−10 %", -0.1: "−0.1 %", 0.0: "0", 0.1: "0.1 %", 10.0: "10 %", 1000.0: "1000 %"}
_POWERS = [10.0**power for power in range(16)]


def draw(table: pd.DataFrame) -> Figure:
    """Draw a panel per case (rows) and local epsilon (columns), a curve per accountant.

    Parameters
    ----------
    table : DataFrame
        Rows of results/referee.csv. Cases without any violation at many users are left out, unless no case has one.
    """
    asked = table[(table["asked"] == "epsilon") & (table["outcome"] != "not applicable")]
    violated = asked["outcome"] == "violated"
    claims = set(asked[violated | (asked["kind"] != "upper")]["accountant"])
    asked = asked.assign(percent=100 * (1 / asked["ratio"] - 1))
    asked = asked[asked["case"].isin(asked[violated]["case"]) | (not violated.any())]
    drawn = asked[~asked["vacuous"] & asked["accountant"].isin([*claims, *_REFERENCES])]
    looks = looks_of(drawn["accountant"], ACCOUNTANTS)
    # proven references have no marker
    looks |= {name: look._replace(marker="") for name, look in looks.items() if name not in claims}
    highest = max(_HIGH, _MARGIN * float(drawn["percent"].max()))
    cases, locals_, sizes = asked["case"].unique(), sorted(asked["local_epsilon"].unique()), asked["n_users"]
    # axes that share their scales would ask each other for their ticks, which takes seconds with so many panels
    figure, axes = panel_grid(len(cases) * len(locals_), len(locals_), height=1.02, width=7.2, foot=1.2)
    figure.set_layout_engine("constrained", **_PADS)
    for axis, (case, local) in zip(axes, product(cases, locals_), strict=True):
        _panel(axis, drawn[(drawn["case"] == case) & (drawn["local_epsilon"] == local)], looks)
        axis.set(ylim=(_LOW, highest), xlim=(sizes.min() / 1.8, sizes.max() * 1.8))
        axis.set_ylabel(LABELS.get(case, case), fontsize=7.5)
        axis.label_outer()
    for axis, local in zip(axes, locals_, strict=False):
        axis.set_title(f"$\\varepsilon_0$ = {local:g}")
    share = float((asked["target"] * sizes).iloc[0])
    # in the middle of the last line: a label of the whole figure would lie under the legend
    axes[-1 - len(locals_) // 2].set_xlabel(f"number of users $n$, at $\\delta$ = {share:g}/$n$")
    figure.supylabel("claimed $\\varepsilon$ above (+) or below (−) the proven lower bound", fontsize=8)
    entries = [Line2D([], [], **_style(look, ms=4)) for look in looks.values()]
    plain = Line2D([], [], color=PALETTE["dark-grey"], lw=1.0, label="without marks: proven")
    filled = Line2D([], [], color=PALETTE["dark-grey"], marker="o", ls="none", ms=4.2, label="filled: violated")
    return finished(figure, [*entries, plain, filled, Patch(color=TINTS["refuted"], label="below what is proven")])


def _panel(axis: Axes, rows: pd.DataFrame, looks: Mapping[str, Look]) -> None:
    """Draw all accountants of one case and local epsilon; claims as weak as the local guarantee are not drawn."""
    axis.axhspan(_LOW, 0.0, color=TINTS["refuted"], lw=0, zorder=0)
    axis.axhline(0.0, color=PALETTE["black"], lw=0.8, zorder=1)
    rows = rows.sort_values("n_users")
    for name, look in looks.items():
        mine = rows[rows["accountant"] == name]
        broken = mine[mine["outcome"] == "violated"]
        # also what its legend calls published may be proven for this mechanism
        proven = not look.marker or (broken.empty and set(mine["kind"]) == {"upper"})
        # one number of users makes no line: a dash stands for it
        unmarked: dict[str, Any] = {"marker": "_", "ms": 8.0} if len(mine) == 1 else {"marker": "None"}
        style = _style(look, zorder=2 + bool(look.marker), **(unmarked if proven else {}))
        axis.plot(mine["n_users"], mine["percent"], **style)
        axis.plot(broken["n_users"], broken["percent"], **_style(look, ls="none", ms=4.2, mfc=look.color, zorder=5))
    axis.set_xscale("log")
    axis.set_yscale("symlog", linthresh=_LINEAR, linscale=_LINEAR_PART)
    axis.set(xticks=_POWERS, yticks=list(_TICKS), yticklabels=_TICKS.values())
    axis.minorticks_off()
    axis.tick_params(labelsize=_SMALL)


def _style(look: Look, **changed: Any) -> dict[str, Any]:
    """Return how an accountant's line with open marks is drawn."""
    style = {"marker": look.marker or "None", "lw": 1.0, "ms": 3.6, "mfc": "white", "mew": 0.8}
    return stroke(look, **style | changed)
