"""What this study makes, and how. Standard library only: the Snakefile imports it."""

from segshuffle.pipeline.design import Config, Panels
from segshuffle.pipeline.manifest import Group, Output, Rule, Step, Target, honest, part

GROUP = Group(
    "assumptions",
    "Assumptions",
    "What a guarantee relies on",
    "Users who drop out, lie, or pick levels that depend on their items; repeated collections; and the cost of "
    "weaker assumptions (docs/assumptions.md). Accounting is proven, except in a part of 'What liars can do'.",
    rank=6,
)
PARTICIPATION = (
    Output("participation.csv", "epsilon of every level over the share of users who really are honest", group=GROUP),
    Output("participation-error.csv", "error over the share of users that a plan assumes to be honest", group=GROUP),
    Output(
        "figures/participation",
        "Fewer honest users",
        "Left: the ε that holds at δ if fewer users are honest than the plan assumes. Grey lines: the promised ε. "
        "Levels that send equally many messages share a line. Right: expected error, divided by that of a plan that "
        "assumes that all users are honest. An honest user sends its dummies and keeps secret which they are. The ε is "
        "an upper bound; the error is a closed form for uniform frequencies.",
        GROUP,
    ),
)
INFLUENCE = (
    Output("influence.csv", "how far 1 % of the users can shift the estimates of every protocol", group=GROUP),
    Output(
        "figures/influence",
        "What liars can do",
        "How far 1 % of the users can shift the expected estimates by sending arbitrary messages. The number beside a "
        "name is the largest number of messages that the shuffler accepts from one user. Here every user has a cap on "
        "dummies, because a Poisson number has no upper limit. Bar: standard error if nobody lies, for uniform "
        "frequencies. Kind: exact for one frequency, upper for all together.",
        GROUP,
    ),
)
DEPENDENCE = (
    Output("dependence.csv", "bias and error if the levels that users pick depend on their items", group=GROUP),
    Output(
        "figures/dependence",
        "Levels that depend on items",
        "The more the levels that users pick depend on whether they hold the most frequent item, the larger the bias "
        "of its estimate, however many users there are. Equal copies for all levels have no bias, and more error. "
        "Lines: exact, given the users' levels. Marks: simulated, with bars of two standard errors.",
        GROUP,
    ),
)
ROUNDS = (
    Output("rounds.csv", "error of each of several collections that share one (ε, δ)", group=GROUP),
    Output(
        "figures/rounds",
        "Asking the same users again",
        "Expected error of each of T collections that share one (ε, δ), in closed form for uniform frequencies. Kind: "
        "exact if all rounds are accounted for together and d ≥ 3s, upper if ε and δ are divided among them.",
        GROUP,
    ),
)
DOCS = {f"{figure.path}.png": f"{figure.path}.png" for *_, figure in (PARTICIPATION, INFLUENCE, DEPENDENCE, ROUNDS)}


def targets(_config: Config, _panels: Panels) -> list[Target]:
    """Declare a target for every question."""
    return [
        Target("fig_participation", "Epsilon and error over the share of honest users.", PARTICIPATION),
        Target("fig_influence", "How far 1 % of the users can shift the estimates of every protocol.", INFLUENCE),
        Target("fig_dependence", "Bias and error if the levels that users pick depend on their items.", DEPENDENCE),
        Target("fig_rounds", "Error over the number of collections that share one epsilon and delta.", ROUNDS),
    ]


def rules(config: Config, panels: Panels) -> list[Rule]:
    """Make a job for every question, on the first population of every dataset and the first split."""
    firsts = [next(panel for panel in panels if panel.setting.dataset == name) for name in config["datasets"]]
    ids = [panel.setting.id for panel in firsts]
    public, folder = ("delta_times_n", "levels", "splits"), "studies.assumptions"

    def asked(*keys: str) -> dict[str, object]:
        return {"config": part(config, *public, *keys), "panels": firsts}

    def rule(name: str, what: str, *tables: Step, **inputs: str) -> Rule:
        figure = Step(f"figures/{name}", f"{folder}.report:draw_{name}", inputs or {"table": f"{name}.csv"})
        # influence and dependence alone use registered protocols or their looks
        plain = {"protocols": ()} if name in ("participation", "rounds") else {}
        return Rule(name, what, (*tables, figure), follows=plain)

    epsilons, errors, _ = (output.path for output in PARTICIPATION)
    relied = asked("proven", "assumptions")
    return [
        rule(
            "participation",
            "Epsilon over the share of users who really are honest, and error over the share that a plan assumes.",
            Step(epsilons, f"{folder}.compute:epsilon_table", arguments=relied, upper=("epsilon",)),
            Step(errors, f"{folder}.compute:error_table", arguments=relied),
            epsilons=epsilons,
            errors=errors,
        ),
        rule(
            "influence",
            "How far 1 % of the users can shift the estimates of every protocol if they lie.",
            Step(
                "influence.csv",
                f"{folder}.compute:influence_table",
                {side: [f"plans/{side}/{setting}.json" for setting in ids] for side in ("published", "competitors")},
                asked("competitors", "proven"),
                upper=("item", "all_items"),
            ),
        ),
        rule(
            "dependence",
            "Bias and error over how strongly levels depend on items, with and without equal copies.",
            Step(
                "dependence.csv",
                f"{folder}.compute:dependence_table",
                {"populations": [f"populations/{setting}.npz" for setting in ids]},
                {"config": part(config, "seed", "repetitions", *public) | honest(config), "panels": firsts},
            ),
        ),
        rule(
            "rounds",
            "Error over the number of collections that share one epsilon and delta.",
            Step("rounds.csv", f"{folder}.compute:rounds_table", arguments=relied),
        ),
    ]
