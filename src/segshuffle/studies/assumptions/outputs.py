"""What this study writes. Standard library only: the Snakefile imports it."""

from __future__ import annotations

from collections.abc import Sequence

from segshuffle.pipeline.design import Config, Scenario
from segshuffle.pipeline.manifest import Group, Output, Target

GROUP = Group(
    "assumptions",
    "Assumptions",
    "What a guarantee relies on",
    "Who takes part, how levels are picked, how often users are asked, and what it costs to rely on less "
    "(docs/assumptions.md). Proven accounting.",
    rank=6,
)
PARTICIPATION = (
    Output("participation.csv", "epsilon of every level over the users who really are honest", group=GROUP),
    Output("participation-error.csv", "error over the share of users that a plan assumes to be honest", group=GROUP),
    Output(
        "figures/participation",
        "Fewer honest users",
        "Left: the ε that users have at δ if fewer are honest than the plan assumed; grey: the levels that were "
        "promised; levels that send the same share a line. Right: expected error over that of a plan that assumes all "
        "users honest. An honest user sends the blanket and does not tell the server of it. Kind: upper (ε), closed "
        "form for uniform frequencies (error).",
        GROUP,
    ),
)
INFLUENCE = (
    Output("influence.csv", "the most that 1 % of the users can do to the estimates of every protocol", group=GROUP),
    Output(
        "figures/influence",
        "What liars can do",
        "The largest shift of the expected estimates by 1 % of the users, who send what they like. A shuffler that "
        "knows its senders takes no more messages from anybody than an honest user may send: the number beside the "
        "name; the Poisson blanket has a cap here. Beside it the standard error if nobody lies, for uniform "
        "frequencies. Kind: exact for one frequency, upper for all together.",
        GROUP,
    ),
)
DEPENDENCE = (
    Output("dependence.csv", "bias and error where the levels that users pick depend on their items", group=GROUP),
    Output(
        "figures/dependence",
        "Levels that depend on items",
        "The stronger users' levels go with the most frequent item, the more its estimate is off, however many users "
        "there are; equal copies for all levels cost error instead. Lines: exact, given who has which level; marks: "
        "simulated, bars of two standard errors.",
        GROUP,
    ),
)
ROUNDS = (
    Output("rounds.csv", "error of each of several collections within one (ε, δ)", group=GROUP),
    Output(
        "figures/rounds",
        "Asking the same users again",
        "Expected error of each of T collections within one (ε, δ), closed form for uniform frequencies. Kind: exact "
        "for all rounds as one product, upper for a share of ε and δ per round.",
        GROUP,
    ),
)
_FIGURES = ("participation", "influence", "dependence", "rounds")
DOCS = {f"figures/{name}.png": f"figures/{name}.png" for name in _FIGURES}


def targets(_config: Config, _panels: Sequence[Scenario]) -> list[Target]:
    """A target for every question."""
    return [
        Target("fig_participation", "Epsilon and error over the share of honest users.", PARTICIPATION),
        Target("fig_influence", "What 1 % of the users can do to the estimates of every protocol.", INFLUENCE),
        Target("fig_dependence", "Bias and error where the levels that users pick depend on their items.", DEPENDENCE),
        Target("fig_rounds", "Error over the number of collections within one epsilon and delta.", ROUNDS),
    ]
