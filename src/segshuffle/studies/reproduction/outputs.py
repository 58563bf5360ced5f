"""What this study writes. Standard library only: the Snakefile imports it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from segshuffle.pipeline.design import Config, Scenario, figures_of
from segshuffle.pipeline.manifest import Target

#: Columns of results/mse.csv, in order, and what each means; results/README.md is made of them.
COLUMNS = {
    "accounting": "published = privacy numbers as the papers state them; proven = what is proven (docs/proof.md)",
    "dataset": "where the users' items come from",
    "n_users": "number of users n of the panel",
    "set_size": "items s that each user holds",
    "domain_size": "number of items d",
    "split": "how the users are split over the levels",
    "method": "segmented is the paper's protocol, poisson* are ours, curator* are trusted; the others are competitors",
    "role": "grid = at an m of the grid; best = at the m that the method chose (segmented: optimizeParameter, least "
    "error bound); budget = at the best m within max_messages; projected = best, projected onto possible frequencies",
    "max_messages": "budget of expected messages per user; empty without one",
    "blanket_per_user": "m, expected blanket messages per user, 0 without a blanket",
    "messages_per_user": "expected messages per user, blanket and data together",
    "mse_mean": "mean over repetitions of sum_j (estimate_j - w_j)^2, w the sample's own frequencies (Monte Carlo)",
    "mse_stderr": "its standard error",
    "mse_expected": "closed form of the same expectation, levels assigned at random (exact); none after projection",
    "mse_bound": "the bound that the method optimises (segmented: the paper's bound of section 5.2)",
    "repetitions": "number of repetitions behind the mean",
    "kind": "kind of the privacy numbers behind the row: published = as a paper states it, not proven; upper = proven; "
    "exact = proven, and no smaller number holds",
    "source": "real, stand-in or synthetic data",
    "parameters": "the plan's own parameters, JSON",
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


def targets(_config: Config, panels: Sequence[Scenario]) -> list[Target]:
    """Figures under both accountings, together and one by one, and the verdicts."""
    drawn = panel_figures(panels)
    sides = {
        side: tuple(f"figures/{name}" for name, each in drawn.items() if each.accounting == side)
        for side in ("published", "proven")
    }
    single = [
        Target(name.replace("-", "_"), _what(name, each), (f"figures/{name}",), in_all=False)
        for name, each in drawn.items()
    ]
    return [
        Target("figures", "Figures 2-6 and the summary.", sides["published"]),
        Target("claims", "Verdicts on the statements of the paper.", ("mse.csv", "claims.csv", "claims.md")),
        Target(
            "proven",
            "The same panels with proven accounting, error against messages per user, and a summary of all panels.",
            ("proven-summary.csv", "proven-summary.md", *sides["proven"]),
        ),
        *single,
    ]


def _what(name: str, figure: PanelFigure) -> str:
    """What one figure shows, in a sentence."""
    if figure.drawing == "messages":
        return "Error against messages per user, all panels, proven accounting."
    if figure.drawing == "summary":
        return "Every competitor's error over the paper's protocol's, all panels."
    number = name.removesuffix("-proven")
    head = f"Figure {number.removeprefix('fig')}: " if number.startswith("fig") else ""
    datasets = " and ".join(dict.fromkeys(panel.setting.dataset for panel in figure.panels))
    splits = " and ".join(dict.fromkeys(panel.split for panel in figure.panels))
    return f"{head}{datasets}, level split {splits}, {figure.accounting} accounting."


#: Copied to docs/ from a full run.
DOCS = {
    **{f"figures/{name}.png": f"figures/{name}.png" for name in ("fig2", "fig3", "fig4", "fig5", "fig6", "summary")},
    "figures/fig2-proven.png": "figures/fig2-proven.png",
    "figures/messages-proven.png": "figures/messages-proven.png",
    "claims.md": "claims.md",
    "proven-summary.md": "proven-summary.md",
}
