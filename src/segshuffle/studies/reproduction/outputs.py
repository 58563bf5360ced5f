"""What this study makes, and how. Standard library only: the Snakefile imports it."""

from dataclasses import replace
from typing import Any

from segshuffle.datasets.registry import dataset_label
from segshuffle.pipeline.dependencies import digest
from segshuffle.pipeline.design import (
    ACCOUNTINGS,
    FIGURES,
    Config,
    Panels,
    figures_of,
    least_delta,
    level_deltas,
    output_folder,
)
from segshuffle.pipeline.frame import paper_first
from segshuffle.pipeline.manifest import NOTHING, OVERVIEW, Group, Output, Rule, Step, Target, part
from segshuffle.protocols.listed import listed

GROUPS = {
    "published": Group(
        "figures",
        "The paper's figures",
        "Figures 2–6 of the paper",
        "Open a panel below a figure for its interactive chart and its numbers.",
        rank=1,
    ),
    "proven": Group(
        "proven",
        "Proven protocol",
        "The proven protocol",
        "The same panels at the same (ε, δ), with proven accounting.",
        rank=3,
    ),
}
#: Group of the published figures if no panel is the paper's.
_OWN = replace(
    GROUPS["published"], short="Published protocol", title="The published protocol and its competitors, panel by panel"
)
_OVER_M = "Error over blanket messages per user m, with bands of two standard errors. "
_ERRORS = {
    "published": f"{_OVER_M}Privacy numbers of the segmented protocol are as published (Theorem 3, whose proof has a "
    "gap); for its competitors, see the table of each panel.",
    "proven": f"{_OVER_M}Privacy numbers are exact for balls into bins, most curators and (if d ≥ 3s) the Poisson "
    "blanket without group privacy, and upper bounds for the other proven methods. Those of the paper's own curve "
    "(black), which is drawn for comparison, are not proven.",
}
_WORDS = {
    "messages": (
        "Error over messages per user",
        "Error, divided by that of the Gaussian curator with a weight per level; closed forms, proven accounting.",
    ),
    "summary": (
        "All panels at a glance",
        "Mean error of every competitor, divided by the least mean error of the segmented protocol, each at its best "
        "m.",
    ),
}
MSE = Output(
    "mse.csv",
    "one row per (accounting, panel, method, role, max_messages, blanket_per_user): the numbers of the figures of the "
    "panels, with published and with proven accounting",
    group=OVERVIEW,
    on_page=True,
)
SUMMARY = tuple(
    Output(
        f"proven-summary.{suffix}",
        "errors with proven accounting, and with copies, a row per panel",
        "Closed-form errors of the published protocol, the proven ones, their best competitor and trusted curators, "
        "each at its best m and the same (ε, δ); also errors with copies within budgets of messages. All guarantees "
        "are proven except that of the published protocol. The page shows this table.",
        GROUPS["proven"],
        on_page=suffix == "csv",
    )
    for suffix in ("csv", "md")
)
PARTS = {
    "errors/, panels/": "squared error of every repetition, a file per method, and the parts of mse.csv, by accounting "
    "and panel",
    "plans/": "every parameter of every method, by accounting and population; made before any data is looked at",
}
#: Columns of results/mse.csv, in order, and what each means; results/README.md is made of them.
_MSE_COLUMNS = {
    "accounting": "published = privacy numbers as the papers state them; proven = what is proven (docs/proof.md)",
    "dataset": "where the users' items come from",
    "n_users": "number of users n of the panel",
    "set_size": "items s that each user holds",
    "domain_size": "number of items d",
    "split": "how the users are split over the levels",
    "method": "segmented is the paper's protocol, poisson* are ours, curator* are trusted; the others are competitors",
    "role": "grid = at an m of the grid; best = at the m that the method chose (segmented: by optimizeParameter, "
    "which minimises the error bound); budget = at the best m within max_messages; recentred = best, shifted to sum to "
    "s; projected = best, projected onto possible frequencies",
    "max_messages": "budget of expected messages per user; empty without one",
    "blanket_per_user": "m, expected blanket messages per user, 0 without a blanket",
    "messages_per_user": "expected messages per user, blanket and data together",
    "mse_mean": "mean over repetitions of sum_j (estimate_j - w_j)^2, w the sample's own frequencies (Monte Carlo)",
    "mse_stderr": "standard error of mse_mean",
    "mse_expected": "exact expectation of mse_mean in closed form, with levels assigned at random; empty after "
    "projection, and after recentring if items are hashed",
    "mse_bound": "the bound that the method optimises (segmented: the paper's bound of section 5.2)",
    "repetitions": "number of repetitions behind the mean",
    "kind": "kind of the privacy numbers behind the row: published = as a paper states it, not proven; upper = proven; "
    "exact = proven, and no smaller number holds",
    "source": "real, stand-in or synthetic data",
    "parameters": "what the plan chose, JSON: what users send by collection, and a competitor's own values",
}
COLUMNS = {MSE.path: _MSE_COLUMNS}
#: Copied to docs/ from a full run.
DOCS = {
    **{f"figures/{name}.png": f"figures/{name}.png" for name in (*FIGURES, "summary")},
    "figures/fig2-proven.png": "figures/fig2-proven.png",
    "figures/messages-proven.png": "figures/messages-proven.png",
    "proven-summary.md": "proven-summary.md",
}


def figures(config: Config, panels: Panels) -> dict[str, tuple[Output, dict[str, Any]]]:
    """Return name -> declaration of every figure of the panels, the paper's first, and what `report.draw` is asked."""
    of_paper = figures_of(panels)
    drawn = (
        *((name, "errors", "published", shown) for name, shown in of_paper.items()),
        ("summary", "summary", "published", list(panels)),
        *((f"{name}-proven", "errors", "proven", shown) for name, shown in of_paper.items()),
        ("messages-proven", "messages", "proven", list(panels)),
    )
    groups = GROUPS if set(of_paper) & set(FIGURES) else GROUPS | {"published": _OWN}
    found = {}
    for name, drawing, accounting, shown in drawn:
        title, caption = _WORDS.get(drawing) or (_panels_title(name, shown), _ERRORS[accounting])
        honest = config["proven"]["honest_fraction"]
        if accounting == "proven" and honest < 1:
            caption += f" The proven guarantees rely on {honest:.0%} of the users, the published ones on all."
        # the delta of every level if plans use it, else the least one
        deltas = level_deltas(config, 1) if accounting == "proven" else ()
        delta = ", ".join(map(str, deltas or [least_delta(config, 1)]))
        caption += f" Levels ε = {', '.join(map(str, config['levels']))}; δ = {delta}/n."
        output = Output(f"figures/{name}", title, caption, groups[accounting])
        found[name] = output, {"drawing": drawing, "accounting": accounting, "panels": shown}
    return found


def _panels_title(name: str, panels: Panels) -> str:
    paper = name.removesuffix("-proven")
    number = f"Figure {paper.removeprefix('fig')}: " if paper in FIGURES else ""
    datasets = dict.fromkeys(dataset_label(panel.setting.dataset, "real") for panel in panels)
    splits = dict.fromkeys(panel.split for panel in panels)
    proven = ", with proven accounting" if name != paper else ""
    return f"{number}{' and '.join(datasets)}, split {' and '.join(splits)}{proven}"


def targets(config: Config, panels: Panels) -> list[Target]:
    """Declare the figures of each accounting together, the proven ones with a summary, and every figure alone."""
    every = figures(config, panels)
    published, proven = (
        tuple(output for output, shown in every.values() if shown["accounting"] == side) for side in ACCOUNTINGS
    )
    what = "The panels of `figures` with proven accounting, error over messages per user, and a summary of all panels."
    return [
        Target("figures", "Figures 2-6 and the summary.", published),
        Target("proven", what, (*SUMMARY, *proven)),
        *(
            Target(name.replace("-", "_"), f"{output.title}.", (output,), in_all=False)
            for name, (output, _) in every.items()
        ),
    ]


def _files(accounting: str, *wanted: str) -> frozenset[str]:
    """Name the files with a method of one accounting whose role or name is wanted."""
    return frozenset(
        file
        for file, declared in listed().items()
        for each, *method in declared.methods
        if each == accounting and not set(wanted).isdisjoint(method)
    )


def rules(config: Config, panels: Panels) -> list[Rule]:
    """Make plans of every population, a table per panel, one of all panels, their summary, and figures."""
    folder = output_folder(config)
    settings = {panel.setting.id: panel.setting for panel in panels}
    scenarios = {panel.id: panel for panel in panels}
    drawn = {name: shown for name, (_, shown) in figures(config, panels).items()}
    sides = {
        # the audit looks at the paper's own protocol alone
        "published": {"competitors": {"methods": []}},
        "competitors": part(config, "competitors"),
        "proven": part(config, "proven"),
    }
    files = {
        "published": _files("published", "curve"),
        "competitors": _files("published", *config["competitors"]["methods"]),
        "proven": _files("proven", "curve", "competitor", "reference", *config["proven"]["variants"]),
    }
    simulated_files = {"published": files["published"] | files["competitors"], "proven": files["proven"]}
    public = ("delta_times_n", "levels", "splits")

    def code(module: str, of: frozenset[str]) -> dict[str, str]:
        """Map the file of a method to a digest of the code that a module runs for its methods."""
        return {file: digest([module], {"protocols": {file}, "datasets": ()}) for file in sorted(of)}

    def planned(case: str) -> dict[str, Any]:
        side, setting = case.split("/")
        return {
            "config": part(config, *public, "blanket_per_user") | sides[side],
            "setting": settings[setting],
            "accounting": "proven" if side == "proven" else "published",
            "left_out": ["segmented"] if side == "competitors" else [],
            "code": code("studies.planning", files[side]),
            "folder": f"{folder}/plans/{case}",
        }

    def simulated(case: str) -> dict[str, Any]:
        side, scenario = case.split("/")
        options = sides["competitors" if side == "published" else side]
        return {
            "config": part(config, *public, "seed", "repetitions", "repetition_block", "recentring") | options,
            "scenario": scenarios[scenario],
            "accounting": side,
            "code": code("studies.reproduction.compute", simulated_files[side]),
            "folder": f"{folder}/errors/{case}",
        }

    def read(case: str) -> dict[str, str]:
        side, scenario = case.split("/")
        setting = scenarios[scenario].setting.id
        rivals = {"competitors": f"plans/competitors/{setting}.json"} if side == "published" else {}
        return {"population": f"populations/{setting}.npz", "plans": f"plans/{side}/{setting}.json", **rivals}

    def tables(name: str) -> dict[str, list[str]]:
        """Name what a figure is drawn from; proven figures also have the paper's curve."""
        beside = ACCOUNTINGS[: ACCOUNTINGS.index(drawn[name]["accounting"]) + 1]
        return {"table": [f"panels/{side}/{panel.id}.csv" for side in beside for panel in drawn[name]["panels"]]}

    cases = tuple(f"{side}/{name}" for side in ACCOUNTINGS for name in scenarios)
    summary, text = (output.path for output in SUMMARY)
    budgets = {"budgets": [float(budget) for budget in config["proven"]["max_messages"]]}
    compute, report = "studies.reproduction.compute", "studies.reproduction.report"
    return [
        Rule(
            "plan",
            "All parameters of one setting under one accounting. Reads no data.",
            (Step("plans/{case}.json", "studies.planning:plan_setting", arguments=planned),),
            tuple(f"{side}/{setting}" for side in sides for setting in settings),
            seconds=26,
            priority=paper_first(panels),
            follows=lambda case: {"protocols": files[case.split("/")[0]], "datasets": ()},
        ),
        Rule(
            "simulate",
            "Every method, m and repetition of one panel: squared errors, and rows of the tidy table.",
            (Step("panels/{case}.csv", f"{compute}:panel_table", read, simulated),),
            cases,
            seconds=13,
            priority=paper_first(panels),
            follows=lambda case: {"protocols": simulated_files[case.split("/")[0]], "datasets": ()},
        ),
        Rule(
            "aggregate",
            "The tidy table of all panels: mean, standard error, closed form and plan of every curve point.",
            (Step(MSE.path, f"{compute}:checked", {"table": [f"panels/{case}.csv" for case in cases]}),),
            follows=NOTHING,
        ),
        Rule(
            "proven_summary",
            "How much error proven accounting and copies save, one row per panel.",
            (
                Step(summary, f"{compute}:proven_summary", {"table": MSE.path}, budgets),
                Step(text, f"{report}:readable", {"summary": summary, "table": MSE.path}),
            ),
            follows=NOTHING,
        ),
        Rule(
            "figure",
            "One figure of the panels, under one accounting. It needs only its own panels.",
            (
                Step(
                    "figures/{case}", f"{report}:draw", tables, lambda name: part(drawn[name], "accounting", "drawing")
                ),
            ),
            tuple(drawn),
            priority=paper_first(panels),
            follows=lambda name: {"datasets": {panel.setting.dataset for panel in drawn[name]["panels"]}},
        ),
    ]
