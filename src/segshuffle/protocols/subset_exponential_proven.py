"""The shuffled subset exponential randomizer with proven accounting: the decomposition (kind: upper)."""

from dataclasses import dataclass

from segshuffle.accounting.single_message.decomposition import BlanketBound
from segshuffle.plans.method import MethodEntry
from segshuffle.plans.plan import Problem
from segshuffle.protocols.subset_exponential import SEARCH_RTOL, Report, SubsetExponential


@dataclass(frozen=True)
class ProvenSubsetExponential(SubsetExponential):
    """Subexp, amplified to the lowest level with a proven bound."""

    amplified = "upper"
    # users who drop out or collude leave fewer messages to hide among
    covered = ("honest_fraction",)

    def delta_at(self, report: Report, problem: Problem, epsilon: float) -> float:
        """Return a bound on the delta of a shuffled report at some epsilon."""
        bound = BlanketBound(randomizer=report, n_users=problem.honest_users, rtol=SEARCH_RTOL)
        return bound.upper(epsilon, SEARCH_RTOL)


METHODS = (
    MethodEntry(
        "subexp-shuffle",
        lambda _: ProvenSubsetExponential(),
        accounting="proven",
        # plans for these sizes would take minutes
        compared=(),
    ),
)
