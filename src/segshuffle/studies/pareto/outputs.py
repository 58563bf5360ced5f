"""What this study makes, and how. Standard library only: the Snakefile imports it."""

from pathlib import Path

from segshuffle.pipeline.design import Config, Panels
from segshuffle.pipeline.manifest import VERDICTS, Group, Output, Rule, Step, Target, part

GROUP = Group(
    "pareto",
    "Error and messages",
    "Our protocol compared with those of the literature",
    "All have the same (ε, δ). The figures compare error and messages (pareto.md).",
    rank=5,
)
TABLE = Output("pareto.csv", "error over messages of our protocol and others, at equal (ε, δ)", group=GROUP)
WINNERS = Output("pareto-winners.csv", "which protocol has the least error within a number of messages", group=GROUP)
CLAIMS = Output(
    "pareto-claims.csv",
    "statements of the literature about its protocols with a verdict",
    "What was found, and the rule behind the verdict.",
    VERDICTS,
)
READABLE = Output("pareto.md", "readable table of winners, and verdicts", group=GROUP)
DOCS = {"pareto.md": "pareto.md"}
PARTS = {"pareto/": "the parts of pareto.csv, a file per size"}


def figures(config: Config) -> dict[str, tuple[Output, dict[str, object]]]:
    """Declare a figure per size and split of the section ``pareto``: its name, its words, and what it shows."""
    section = config["pareto"]
    found = {}
    for n_users, domain_size in section["sizes"]:
        for split in ("one", section["split"]):
            name = f"pareto-n{n_users}-d{domain_size}-{split}"
            levels = (
                "everybody at ε" if split == "one" else f"levels that double, ε in the middle, in the shares of {split}"
            )
            output = Output(
                f"figures/{name}",
                f"Error over messages, n = {n_users:,}, d = {domain_size:,}, split {split}",
                "Expected squared error, divided by that of the Gaussian curator with a weight per level, over "
                f"expected messages per user; {levels}. A line joins the best plans of one protocol: no other plan of "
                "that protocol has less error with as few messages. Marks of equal plans overlap. Open marks: "
                "published accounting, not proven. In augmented shuffling users trust the shuffler to add the "
                "noise. Curators are trusted with all items. Kind: closed form for uniform frequencies.",
                GROUP,
            )
            found[name] = output, {"n_users": n_users, "domain_size": domain_size, "split": split}
    return found


def targets(config: Config, _panels: Panels) -> list[Target]:
    """Declare everything at once."""
    what = "Error over messages of our protocol and others at equal epsilon and delta, and the best one in each case."
    drawn = (output for output, _ in figures(config).values())
    return [Target("pareto", what, (TABLE, WINNERS, CLAIMS, READABLE, *drawn))]


def rules(config: Config, _panels: Panels) -> list[Rule]:
    """Make a job per size, one that collects them, and one per figure."""
    section = config["pareto"]
    sizes = {
        f"n{n}-d{d}-s{s}": {"n_users": n, "domain_size": d, "set_size": s}
        for n, d in section["sizes"]
        for s in section["set_sizes"]
    }
    drawn = figures(config)
    reference = Path("config/reference/claims-pareto.yaml")
    case = Step(
        "pareto/{case}.csv",
        "studies.pareto.compute:size_table",
        arguments=lambda case: {"config": part(config, "delta_times_n", "splits", "pareto"), **sizes[case]},
    )
    report = "studies.pareto.report"
    collected = (
        Step(TABLE.path, "pipeline.jobs:same", {"table": [f"pareto/{case}.csv" for case in sizes]}),
        Step(WINNERS.path, f"{report}:winners", {"table": TABLE.path}, {"budgets": section["budgets"]}),
        Step(CLAIMS.path, f"{report}:evaluate", {"table": TABLE.path, "reference": reference}),
        Step(READABLE.path, f"{report}:readable", {"found": WINNERS.path, "claims": CLAIMS.path}),
    )
    figure = Step("figures/{case}", f"{report}:draw", {"table": TABLE.path}, lambda case: drawn[case][1])
    return [
        Rule(
            "pareto_case",
            "Error over messages of our protocol and others, for one size of a collection. Reads no data.",
            (case,),
            tuple(sizes),
            seconds=60,
        ),
        Rule(
            "pareto_winners",
            "All sizes in one table, the protocol with the least error in each case, verdicts on the literature.",
            collected,
        ),
        Rule(
            "figure_pareto",
            "Error over messages per user, one size and split, a panel for every set size and epsilon.",
            (figure,),
            tuple(drawn),
        ),
    ]
