"""What this study makes, and how. Standard library only: the Snakefile imports it."""

from segshuffle.pipeline.design import Config, Panels
from segshuffle.pipeline.manifest import Group, Output, Rule, Step, Target, part

GROUP = Group(
    "audit",
    "Audit",
    "What the published guarantee is worth",
    "Theorem 3 bounds what the counts of two items reveal; the server sees the counts of all items and their sum.",
    rank=2,
)
_READING = (
    "Of the item-level δ, blanket-only is a proven upper bound for every dataset; others-spread, others-concentrated "
    "and worst-split are proven lower bounds for particular datasets; published is Theorem 3 of the paper. The "
    "guarantee itself is broken where proven_user_delta, a proven lower bound, exceeds target_delta."
)
TABLE = Output(
    "audit.csv",
    "what the published guarantee is worth in the server's full view (docs/audit.md)",
    f"A row per population, split, m, level and view. {_READING}",
    GROUP,
    on_page=True,
)
FIGURE = Output(
    "figures/audit",
    "Claimed and actual ε",
    "Lines: claimed ε. Marks: the user-level ε at δ that the paper's group privacy gives for all that the server sees, "
    "the largest over the splits. If the number m of dummies per user is whole, the server knows their total. Then the "
    "item-level δ can be larger than published, and group privacy multiplies it. 'Blanket alone' is a proven upper "
    "bound. The other marks say what the paper's method would have to claim, not what the protocol provably leaks. "
    "Marks of higher levels are shifted to the right, so that fewer are hidden. A level that sends every item has no "
    "marks, because the total then reveals nothing.",
    GROUP,
)
PARTS = {"audit/": "the parts of audit.csv, a file per population"}
DOCS = {"figures/audit.png": "figures/audit.png"}


def targets(_config: Config, _panels: Panels) -> list[Target]:
    """Declare the table and the figure."""
    what = "The published guarantee, compared with the guarantee if the server sees everything: table and figure."
    return [Target("audit", what, (TABLE, FIGURE))]


def rules(config: Config, panels: Panels) -> list[Rule]:
    """Make a job per population, and one that collects and draws the results."""
    settings = {panel.setting.id: panel.setting for panel in panels}
    setting = Step(
        "audit/{case}.csv",
        "studies.audit.compute:audit_setting",
        {"plans": "plans/published/{case}.json"},
        lambda case: {"config": part(config, "delta_times_n", "levels", "splits"), "setting": settings[case]},
        lower=("item_delta_lower", "proven_user_delta"),
        upper=("item_delta", "user_delta", "actual_user_epsilon"),
    )
    figure = (
        Step(TABLE.path, "pipeline.jobs:same", {"table": [f"audit/{case}.csv" for case in settings]}),
        Step(FIGURE.path, "studies.audit.report:draw", {"table": TABLE.path}),
    )
    return [
        Rule(
            "audit_setting",
            "Claimed and actual guarantee of every split, m and level of one setting. Reads no data.",
            (setting,),
            tuple(settings),
            seconds=66,
            follows={"protocols": ()},
        ),
        Rule("figure_audit", "Claimed epsilon against the epsilon that the full view gives, over m.", figure),
    ]
