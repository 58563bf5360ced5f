"""What this study makes, and how. Standard library only: the Snakefile imports it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from segshuffle.datasets.registry import dataset_label
from segshuffle.pipeline.dependencies import digest
from segshuffle.pipeline.design import (
    ACCOUNTINGS,
    FIGURES,
    Config,
    Scenario,
    figures_of,
    least_delta,
    level_deltas,
    output_folder,
)
from segshuffle.pipeline.frame import dataset_files, is_paper
from segshuffle.pipeline.manifest import OVERVIEW, Group, Output, Rule, Step, Target, part
from segshuffle.protocols.listed import listed

GROUPS = {
    "published": Group(
        "figures",
        "The paper's figures",
        "Figures 2–6 of the paper",
        "Shaded bands are two standard errors. Open a panel below a figure for its interactive chart and its numbers.",
        rank=1,
    ),
    "proven": Group(
        "proven",
        "Proven protocol",
        "The proven protocol",
        "The same panels, the same (ε, δ), proven accounting for everybody.",
        rank=3,
    ),
}
#: Where no panel is the paper's.
_OWN = replace(
    GROUPS["published"], short="Published protocol", title="The published protocol and its competitors, panel by panel"
)
_ERRORS = {
    "published": "Error over blanket messages per user m. The segmented protocol's privacy numbers are as published; "
    "its competitors' are as the table of a panel says.",
    "proven": "Error over blanket messages per user m. All privacy numbers are proven but the paper's own curve "
    "(black), which is drawn for comparison.",
}
_KINDS = {
    "published": "kind of the segmented protocol's privacy numbers: published (Theorem 3; its proof has a gap); the "
    "competitors' kinds are in mse.csv, column kind",
    "proven": "kind of the privacy numbers: exact for the Poisson blanket, for balls into bins and for the curators; "
    "upper with group privacy and for the subset mechanism",
}
MSE = Output(
    "mse.csv",
    "one row per (accounting, panel, method, role, max_messages, blanket_per_user): the numbers of the figures of the "
    "panels, with published and with proven accounting",
    group=OVERVIEW,
    on_page=True,
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
    "role": "grid = at an m of the grid; best = at the m that the method chose (segmented: optimizeParameter, least "
    "error bound); budget = at the best m within max_messages; recentred = best, moved to sum to s; projected = best, "
    "projected onto possible frequencies",
    "max_messages": "budget of expected messages per user; empty without one",
    "blanket_per_user": "m, expected blanket messages per user, 0 without a blanket",
    "messages_per_user": "expected messages per user, blanket and data together",
    "mse_mean": "mean over repetitions of sum_j (estimate_j - w_j)^2, w the sample's own frequencies (Monte Carlo)",
    "mse_stderr": "its standard error",
    "mse_expected": "closed form of the same expectation, levels assigned at random (exact); none after projection, "
    "nor after recentring where items are hashed",
    "mse_bound": "the bound that the method optimises (segmented: the paper's bound of section 5.2)",
    "repetitions": "number of repetitions behind the mean",
    "kind": "kind of the privacy numbers behind the row: published = as a paper states it, not proven; upper = proven; "
    "exact = proven, and no smaller number holds",
    "source": "real, stand-in or synthetic data",
    "parameters": "the plan's own parameters, JSON",
}
COLUMNS = {MSE.path: _MSE_COLUMNS}
#: Copied to docs/ from a full run.
DOCS = {
    **{f"figures/{name}.png": f"figures/{name}.png" for name in ("fig2", "fig3", "fig4", "fig5", "fig6", "summary")},
    "figures/fig2-proven.png": "figures/fig2-proven.png",
    "figures/messages-proven.png": "figures/messages-proven.png",
}


class PanelFigure(NamedTuple):
    """A figure made of panels: what draws it (`figure.draw`), whose methods it shows, and which panels."""

    drawing: str
    accounting: str
    panels: list[Scenario]


def panel_figures(every: Sequence[Scenario]) -> dict[str, PanelFigure]:
    """Name every figure of the panels, the paper's first."""
    return {
        **{name: PanelFigure("errors", "published", panels) for name, panels in figures_of(every).items()},
        "summary": PanelFigure("summary", "published", list(every)),
        **{f"{name}-proven": PanelFigure("errors", "proven", panels) for name, panels in figures_of(every).items()},
        "messages-proven": PanelFigure("messages", "proven", list(every)),
    }


def figures(config: Config, panels: Sequence[Scenario]) -> dict[str, Output]:
    """Declare every figure of the panels, by name."""
    drawn = panel_figures(panels)
    found = {name: _output(name, each, config) for name, each in drawn.items()}
    if set(drawn) & set(FIGURES):
        return found
    # no panel is the paper's
    return {
        name: replace(each, group=_OWN) if each.group == GROUPS["published"] else each for name, each in found.items()
    }


def targets(config: Config, panels: Sequence[Scenario]) -> list[Target]:
    """Declare the published figures together, and every figure one by one."""
    every = figures(config, panels)
    published = tuple(every[name] for name, each in panel_figures(panels).items() if each.accounting == "published")
    single = (Target(name.replace("-", "_"), f"{each.title}.", (each,), in_all=False) for name, each in every.items())
    return [Target("figures", "Figures 2-6 and the summary.", published), *single]


def _output(name: str, figure: PanelFigure, config: Config) -> Output:
    """Declare one figure, with its words."""
    if figure.drawing == "messages":
        title = "What each message buys"
        caption = "Error over that of the Gaussian curator with a weight per level; closed forms, proven accounting."
    elif figure.drawing == "summary":
        title = "All panels at a glance"
        caption = (
            "Every competitor's error over the least error of the segmented protocol; closed forms, each at its best m."
        )
    else:
        title, caption = _panels_title(name, figure), _ERRORS[figure.accounting]
    honest = config["proven"]["honest_fraction"]
    if figure.accounting == "proven" and honest < 1:
        caption += f" The proven guarantees rely on {honest:.0%} of the users, the published ones on all."
    shares = config["splits"]
    measured = f"; means of {config['repetitions']} repetitions, bands of two standard errors"
    details = (
        *(
            f"{dataset_label(panel.setting.dataset, 'real')}, n = {panel.setting.n_users}, "
            f"d = {panel.setting.domain_size}, s = {panel.setting.set_size}, split {panel.split} "
            f"({' : '.join(map(str, shares[panel.split]))})"
            for panel in figure.panels
        ),
        f"levels ε = {', '.join(map(str, config['levels']))}; δ = {_deltas(config, figure.accounting)}/n"
        f"{measured if figure.drawing == 'errors' else ''}",
        _KINDS[figure.accounting],
    )
    return Output(f"figures/{name}", title, caption, GROUPS[figure.accounting], details)


def _deltas(config: Config, accounting: str) -> str:
    """Write delta times n: of every level where plans keep each, else the least."""
    given = level_deltas(config, 1) if accounting == "proven" else ()
    return ", ".join(map(str, given)) or str(least_delta(config, 1))


def _panels_title(name: str, figure: PanelFigure) -> str:
    paper = name.removesuffix("-proven")
    number = f"Figure {paper.removeprefix('fig')}: " if paper in FIGURES else ""
    datasets = dict.fromkeys(dataset_label(panel.setting.dataset, "real") for panel in figure.panels)
    splits = dict.fromkeys(panel.split for panel in figure.panels)
    proven = ", with proven accounting for everybody" if figure.accounting == "proven" else ""
    return f"{number}{' and '.join(datasets)}, split {' and '.join(splits)}{proven}"


def _files(config: Config, side: str) -> frozenset[str]:
    """Name the files of the methods that run: the paper's own protocol, its competitors, or all proven ones."""
    roles, named = {
        "published": (("curve",), ()),
        "competitors": ((), config["competitors"]["methods"]),
        "proven": (("curve", "competitor", "reference"), config["proven"]["variants"]),
    }[side]
    accounting = "proven" if side == "proven" else "published"
    return frozenset(
        file
        for file, declared in listed().items()
        for each, role, name in declared.methods
        if each == accounting and (role in roles or name in named)
    )


def _code(module: str, files: frozenset[str]) -> dict[str, str]:
    """Map the file of a method to a digest of the code behind what a module finds out about its methods."""
    return {file: digest([module], {"protocols": {file}, "datasets": ()}) for file in sorted(files)}


def rules(config: Config, panels: Sequence[Scenario]) -> list[Rule]:
    """Make plans of every population, a table per panel, one of all panels, and figures."""
    folder, edition = output_folder(config), {"edition": config["edition"]}
    settings = {panel.setting.id: panel.setting for panel in panels}
    scenarios = {panel.id: panel for panel in panels}
    drawn = panel_figures(panels)
    sides = {
        # the audit looks at the paper's own protocol alone
        "published": {"competitors": {"methods": []}},
        "competitors": part(config, "competitors"),
        "proven": part(config, "proven"),
    }
    public = part(config, "delta_times_n", "levels", "splits")

    def planned(case: str) -> dict[str, Any]:
        side, setting = case.split("/")
        return {
            "config": {**public, **part(config, "blanket_per_user"), **sides[side]},
            "setting": settings[setting],
            "accounting": "proven" if side == "proven" else "published",
            "left_out": ["segmented"] if side == "competitors" else [],
            "code": _code("studies.planning", _files(config, side)),
            "folder": f"{folder}/plans/{case}",
        }

    def simulated(case: str) -> dict[str, Any]:
        side, scenario = case.split("/")
        options = sides["competitors" if side == "published" else side]
        return {
            "config": {**public, **part(config, "seed", "repetitions", "repetition_block", "recentring"), **options},
            "scenario": scenarios[scenario],
            "accounting": side,
            "code": _code("studies.reproduction.compute", panel_files(side)),
            "folder": f"{folder}/errors/{case}",
        }

    def panel_files(side: str) -> frozenset[str]:
        return _files(config, side) | (_files(config, "competitors") if side == "published" else frozenset())

    def read(case: str) -> dict[str, str]:
        side, scenario = case.split("/")
        setting = scenarios[scenario].setting.id
        rivals = {"competitors": f"plans/competitors/{setting}.json"} if side == "published" else {}
        return {"population": f"populations/{setting}.npz", "plans": f"plans/{side}/{setting}.json", **rivals}

    def tables(name: str) -> dict[str, list[str]]:
        """Name what a figure is drawn from; on the proven side the paper's curve is drawn beside."""
        shown = drawn[name]
        beside = ACCOUNTINGS[: ACCOUNTINGS.index(shown.accounting) + 1]
        return {"table": [f"panels/{side}/{panel.id}.csv" for side in beside for panel in shown.panels]}

    def of_paper(case: str) -> bool:
        side, name = case.split("/")
        return side != "proven" and any(is_paper(panel) for panel in panels if name in (panel.id, panel.setting.id))

    plan = Step("plans/{case}.json", "studies.planning:plan_setting", arguments=planned)
    panel = Step("panels/{case}.csv", "studies.reproduction.compute:panel_table", read, simulated)
    every = [f"panels/{side}/{name}.csv" for side in ACCOUNTINGS for name in scenarios]
    return [
        Rule(
            "plan",
            "All parameters of one setting under one accounting. Sees no data.",
            (plan,),
            tuple(f"{side}/{setting}" for side in sides for setting in settings),
            seconds=26,
            first=of_paper,
            follows=lambda case: {"protocols": _files(config, case.split("/")[0]), "datasets": frozenset()},
        ),
        Rule(
            "simulate",
            "Every method, m and repetition of one panel: squared errors, and rows of the tidy table.",
            (panel,),
            tuple(f"{side}/{name}" for side in ACCOUNTINGS for name in scenarios),
            seconds=13,
            first=of_paper,
            follows=lambda case: {"protocols": panel_files(case.split("/")[0]), "datasets": frozenset()},
        ),
        Rule(
            "aggregate",
            "The tidy table of all panels: mean, standard error, closed form and plan of every curve point.",
            (Step(MSE.path, "studies.reproduction.compute:checked", {"table": every}),),
            follows=lambda _: {"protocols": frozenset(), "datasets": frozenset()},
        ),
        Rule(
            "figure",
            "One figure of the panels, under one accounting; it needs its own panels only.",
            (
                Step(
                    "figures/{case}",
                    "studies.reproduction.report:draw",
                    tables,
                    lambda name: drawn[name]._asdict() | edition,
                ),
            ),
            tuple(drawn),
            first=FIGURES.__contains__,
            follows=lambda name: dataset_files([panel.setting.dataset for panel in drawn[name].panels]),
        ),
    ]
