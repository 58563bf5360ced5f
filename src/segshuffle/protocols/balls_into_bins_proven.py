"""Balls into bins with proven accounting: a Poisson blanket, and the exact product of docs/proof.md (kind: exact)."""

from dataclasses import dataclass

from segshuffle.accounting.collections.calibration import least_blanket_mean
from segshuffle.blankets.base import BLANKET_MEAN_RANGE
from segshuffle.blankets.singles import SINGLES
from segshuffle.digits import rounded_up
from segshuffle.plans.method import MethodEntry
from segshuffle.plans.plan import Problem
from segshuffle.protocols.balls_into_bins import BallsIntoBins


@dataclass(frozen=True)
class ProvenBallsIntoBins(BallsIntoBins):
    """MM or SepMM with the least proven blanket; `analysis` has no meaning here."""

    kind = "exact"
    # the blanket of the honest users is a smaller Poisson blanket
    covered = ("honest_fraction",)
    law = SINGLES

    def least_blanket(self, problem: Problem, epsilon: float, n_users: int) -> float:
        """Return the least expected blanket per user for the product of all pairs, rounded up."""
        mean = BLANKET_MEAN_RANGE[0]
        if problem.pairs:
            mean = least_blanket_mean(copies=1.0, pairs=problem.pairs, epsilon=epsilon, delta=problem.delta)
        return rounded_up(mean * problem.domain_size / n_users)


METHODS = (
    MethodEntry("mm", lambda _: ProvenBallsIntoBins(), accounting="proven"),
    MethodEntry("sepmm", lambda _: ProvenBallsIntoBins(name="sepmm"), accounting="proven"),
    MethodEntry("weighted-sepmm", lambda _: ProvenBallsIntoBins(name="weighted-sepmm"), accounting="proven"),
    MethodEntry(
        "inverse-variance-sepmm", lambda _: ProvenBallsIntoBins(name="inverse-variance-sepmm"), accounting="proven"
    ),
)
