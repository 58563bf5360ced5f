"""What this study makes, and how. Standard library only: the Snakefile imports it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from segshuffle.pipeline.design import Config, Scenario
from segshuffle.pipeline.manifest import VERDICTS, Group, Output, Rule, Step, Target, part

GROUP = Group(
    "pareto",
    "Error and messages",
    "Ours beside the protocols of the literature",
    "The same (ε, δ) for everybody; what is left is error and messages (pareto.md).",
    rank=5,
)
TABLE = Output("pareto.csv", "error over messages per user of every protocol, at equal (ε, δ)", group=GROUP)
WINNERS = Output("pareto-winners.csv", "who has the least error within a number of messages", group=GROUP, on_page=True)
CLAIMS = Output(
    "pareto-claims.csv",
    "statements of the literature about its protocols with a verdict",
    "What was found, and the rule that judges it.",
    VERDICTS,
)
READABLE = Output("pareto.md", "the same to read: who wins where, and the verdicts", group=GROUP)
DOCS = {"pareto.md": "pareto.md"}
PARTS = {"pareto/": "the parts of pareto.csv, a file per size"}


def figures(config: Config) -> list[Output]:
    """A figure per size and split of the section ``pareto``."""
    section = config["pareto"]
    return [_figure(n, d, split) for n, d in section["sizes"] for split in ("one", section["split"])]


def _figure(n_users: int, domain_size: int, split: str) -> Output:
    levels = "everybody at ε" if split == "one" else f"levels ε/2, ε and 2ε in the shares of {split}"
    return Output(
        f"figures/pareto-n{n_users}-d{domain_size}-{split}",
        f"Error over messages, n = {n_users:,}, d = {domain_size:,}, {split}",
        f"Expected squared error over that of the Gaussian curator with a weight per level, against expected messages "
        f"per user; {levels}. A line joins the plans of one protocol that no other of its plans beats. Marks of equal "
        "plans cover each other. Open marks: published accounting, not proven. Augmented shuffling trusts the shuffler "
        "with the noise, and curators are trusted with everything. Kind: closed form for uniform frequencies.",
        GROUP,
    )


def targets(config: Config, _panels: Sequence[Scenario]) -> list[Target]:
    """Everything at once."""
    return [
        Target(
            "pareto",
            "Error over messages of every protocol at equal epsilon and delta, and who wins where.",
            (TABLE, WINNERS, CLAIMS, READABLE, *figures(config)),
        )
    ]


def rules(config: Config, _panels: Sequence[Scenario]) -> list[Rule]:
    """A job per size, one that collects them, and a figure per size and split."""
    section, edition = config["pareto"], {"edition": config["edition"]}
    sizes = {
        f"n{n}-d{d}-s{s}": {"n_users": n, "domain_size": d, "set_size": s}
        for n, d in section["sizes"]
        for s in section["set_sizes"]
    }
    drawn = {
        _figure(n, d, split).name: {"n_users": n, "domain_size": d, "split": split, **edition}
        for n, d in section["sizes"]
        for split in ("one", section["split"])
    }
    case = Step(
        "pareto/{case}.csv",
        "studies.pareto.compute:size_table",
        arguments=lambda case: {"config": part(config, "delta_times_n", "splits", "pareto"), **sizes[case]},
    )
    collected = (
        Step(TABLE.path, "studies.pareto.winners:filled", {"table": [f"pareto/{case}.csv" for case in sizes]}),
        Step(
            WINNERS.path,
            "studies.pareto.winners:winners",
            {"table": TABLE.path},
            {"budgets": section["budgets"]},
        ),
        Step(
            CLAIMS.path,
            "studies.pareto.winners:evaluate",
            {"table": TABLE.path, "reference": Path("config/reference/claims-pareto.yaml")},
        ),
        Step(
            READABLE.path,
            "studies.pareto.winners:readable",
            {"found": WINNERS.path, "claims": CLAIMS.path},
            edition,
        ),
    )
    figure = Step("figures/{case}", "studies.pareto.figure:draw_size", {"table": TABLE.path}, lambda case: drawn[case])
    return [
        Rule(
            "pareto_case",
            "Error over messages of every protocol, for one size of a collection. Sees no data.",
            (case,),
            tuple(sizes),
            seconds=60,
        ),
        Rule(
            "pareto_winners",
            "All sizes in one table, who has the least error within a number of messages, verdicts on the literature.",
            collected,
        ),
        Rule(
            "figure_pareto",
            "Error over messages per user, one size and split, a panel for every set size and epsilon.",
            (figure,),
            tuple(drawn),
        ),
    ]
