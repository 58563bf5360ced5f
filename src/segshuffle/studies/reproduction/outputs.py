"""What this study writes. Standard library only: the Snakefile imports it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from segshuffle.datasets.registry import dataset_label
from segshuffle.pipeline.design import FIGURES, Config, Scenario, figures_of, least_delta, level_deltas
from segshuffle.pipeline.manifest import OVERVIEW, VERDICTS, Group, Output, Target

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
CLAIMS = tuple(
    Output(
        f"claims.{suffix}",
        "every statement of the paper's section 6 with a verdict",
        "What was found, and the rule that judges it; closed-form errors of this run, privacy numbers of the segmented "
        "protocol as published. The page shows this table to read.",
        VERDICTS,
        on_page=suffix == "csv",
    )
    for suffix in ("csv", "md")
)
SUMMARY = tuple(
    Output(
        f"proven-summary.{suffix}",
        "what proven accounting and copies buy, a row per panel",
        "Closed-form errors of the published protocol, the proven ones, their best competitor and trusted curators, "
        "each at its best m and the same (ε, δ), and the error with copies within a budget of messages. The published "
        "protocol's guarantee is published; all others are proven. The page shows this table to read.",
        GROUPS["proven"],
        on_page=suffix == "csv",
    )
    for suffix in ("csv", "md")
)
PARTS = {
    "errors/, panels/": "squared error of every repetition, and the parts of mse.csv, by accounting and panel",
    "plans/": "every parameter of every method, by accounting and population; made before any data is looked at",
}
#: Copied to docs/ from a full run.
DOCS = {
    **{f"figures/{name}.png": f"figures/{name}.png" for name in ("fig2", "fig3", "fig4", "fig5", "fig6", "summary")},
    "figures/fig2-proven.png": "figures/fig2-proven.png",
    "figures/messages-proven.png": "figures/messages-proven.png",
    "claims.md": "claims.md",
    "proven-summary.md": "proven-summary.md",
}


class PanelFigure(NamedTuple):
    """A figure made of panels: what draws it (`figure.DRAWINGS`), whose methods it shows, and which panels."""

    drawing: str
    accounting: str
    panels: list[Scenario]


def panel_figures(every: Sequence[Scenario]) -> dict[str, PanelFigure]:
    """Every figure of the panels by name, the paper's first."""
    return {
        **{name: PanelFigure("errors", "published", panels) for name, panels in figures_of(every).items()},
        "summary": PanelFigure("summary", "published", list(every)),
        **{f"{name}-proven": PanelFigure("errors", "proven", panels) for name, panels in figures_of(every).items()},
        "messages-proven": PanelFigure("messages", "proven", list(every)),
    }


def targets(config: Config, panels: Sequence[Scenario]) -> list[Target]:
    """Figures under both accountings, together and one by one, and the verdicts."""
    drawn = panel_figures(panels)
    figures = {name: _output(name, each, config) for name, each in drawn.items()}
    if not set(drawn) & set(FIGURES):
        published = GROUPS["published"]
        figures = {
            name: replace(each, group=_OWN) if each.group == published else each for name, each in figures.items()
        }
    sides = {
        side: tuple(figures[name] for name, each in drawn.items() if each.accounting == side)
        for side in ("published", "proven")
    }
    single = [
        Target(name.replace("-", "_"), f"{figure.title}.", (figure,), in_all=False) for name, figure in figures.items()
    ]
    return [
        Target("figures", "Figures 2-6 and the summary.", sides["published"]),
        Target("claims", "Verdicts on the statements of the paper.", (MSE, *CLAIMS)),
        Target(
            "proven",
            "The same panels with proven accounting, error against messages per user, and a summary of all panels.",
            (*SUMMARY, *sides["proven"]),
        ),
        *single,
    ]


def _output(name: str, figure: PanelFigure, config: Config) -> Output:
    """One figure with its words."""
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
        caption += f" What is proven relies on {honest:.0%} of the users only, what is published on all."
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
    """Delta times n: of every level where plans keep each, else the least."""
    given = level_deltas(config, 1) if accounting == "proven" else ()
    return ", ".join(map(str, given)) or str(least_delta(config, 1))


def _panels_title(name: str, figure: PanelFigure) -> str:
    paper = name.removesuffix("-proven")
    number = f"Figure {paper.removeprefix('fig')}: " if paper in FIGURES else ""
    datasets = dict.fromkeys(dataset_label(panel.setting.dataset, "real") for panel in figure.panels)
    splits = dict.fromkeys(panel.split for panel in figure.panels)
    proven = ", with proven accounting for everybody" if figure.accounting == "proven" else ""
    return f"{number}{' and '.join(datasets)}, split {' and '.join(splits)}{proven}"
