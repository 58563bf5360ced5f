"""What this study makes, and how. Standard library only: the Snakefile imports it."""

from segshuffle.pipeline.design import Config, Panels, least_delta
from segshuffle.pipeline.manifest import Group, Output, Rule, Step, Target

GROUP = Group(
    "limit",
    "Gaussian curator",
    "The proven protocol and a Gaussian curator",
    "Both have the same (ε, δ). A curator is trusted with all items; the server of the protocol is not.",
    rank=4,
)
TABLE = Output(
    "limit.csv", "one level: error divided by a Gaussian curator's, at the same (ε, δ)", group=GROUP, on_page=True
)
FIGURE = Output(
    "figures/limit",
    "How close to a Gaussian curator",
    "Error with the Poisson blanket, divided by a Gaussian curator's, over dummies per item. There is one level, "
    "and every item is sent once. Both guarantees are exact.",
    GROUP,
)
DOCS = {"figures/limit.png": "figures/limit.png"}


def targets(_config: Config, _panels: Panels) -> list[Target]:
    """Declare the table and the figure."""
    what = "Error of a plan with one level, divided by a Gaussian curator's, over the size of the blanket."
    return [Target("fig_limit", what, (TABLE, FIGURE))]


def rules(config: Config, panels: Panels) -> list[Rule]:
    """Make table and figure in one job."""
    settings = {panel.setting for panel in panels}
    sizes = {
        "set_sizes": sorted({min(each.set_size, each.domain_size - each.set_size) for each in settings}),
        "deltas": sorted({least_delta(config, each.n_users) for each in settings}),
    }
    steps = (
        Step(TABLE.path, "studies.limit.compute:limit_table", arguments=sizes, upper=("epsilon",)),
        Step(FIGURE.path, "studies.limit.report:draw", {"table": TABLE.path}),
    )
    return [
        Rule("limit", "Error with one level, divided by a Gaussian curator's, over the size of the blanket.", steps)
    ]
