"""What this study writes. Standard library only: the Snakefile imports it."""

from __future__ import annotations

from collections.abc import Sequence

from segshuffle.pipeline.design import Config, Scenario
from segshuffle.pipeline.manifest import VERDICTS, Group, Output, Target

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
