"""What this study makes, and how. Standard library only: the Snakefile imports it."""

from segshuffle.pipeline.design import Config, Panels
from segshuffle.pipeline.manifest import NOTHING, Group, Output, Rule, Step, Target, honest, part

GROUP = Group(
    "levels",
    "Private levels",
    "Private privacy levels",
    "A privacy level can itself be sensitive. Users send it in a first round. This study measures the cost of "
    "protecting it there.",
    rank=5,
)
FIGURE = Output(
    "figures/levels",
    "Error over the privacy of the levels",
    "Users send their level in round 1 with guarantee ε_p (horizontal axis), and their items in round 2. Round 2 "
    "reveals more about the level. Dashed: the number of users at each level is known. Bars: two standard errors "
    "(docs/levels.md).",
    GROUP,
)
DOCS = {"figures/levels.png": "figures/levels.png"}


def targets(_config: Config, panels: Panels) -> list[Target]:
    """Declare a table per population, and the figure."""
    what = "what protecting the levels themselves costs, a table per population (docs/levels.md)"
    files = dict.fromkeys(f"levels/{panel.setting.id}.csv" for panel in panels)
    tables = (Output(file, what, group=GROUP, on_page=True) for file in files)
    return [Target("fig_levels", "Error over the epsilon that protects the levels themselves.", (*tables, FIGURE))]


def rules(config: Config, panels: Panels) -> list[Rule]:
    """Make a job per population, and one that draws the figure."""
    settings = {panel.setting.id: panel.setting for panel in panels}
    read = part(
        config, "seed", "repetitions", "repetition_block", "delta_times_n", "levels", "splits", "private_levels"
    )
    table = Step(
        "levels/{case}.csv",
        "studies.levels.compute:levels_table",
        {"population": "populations/{case}.npz"},
        lambda case: {"config": read | honest(config), "setting": settings[case]},
    )
    tables = {"table": [f"levels/{case}.csv" for case in settings]}
    figure = Step(FIGURE.path, "studies.levels.report:draw", tables)
    return [
        Rule(
            "levels",
            "Error over the privacy of the levels, for one setting.",
            (table,),
            tuple(settings),
            seconds=13,
            follows=NOTHING,
        ),
        Rule("figure_levels", "Error over the privacy of the levels, all settings.", (figure,), seconds=8),
    ]
