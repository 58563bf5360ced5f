"""The Poisson blanket with a cap on the dummy messages of a user, which bounds what a liar can do (docs/proof.md)."""

import bisect
import functools
from dataclasses import dataclass, replace

from segshuffle.accounting.collections.blanket_cap import cap_overflow, capped_delta, uncapped_target
from segshuffle.accounting.numerics.ranges import check_integer
from segshuffle.digits import rounded_down, rounded_up
from segshuffle.errors import ParameterError
from segshuffle.protocols.base import Plan, Problem
from segshuffle.protocols.method import Collected
from segshuffle.protocols.proven import ProvenSegmented

#: kappa over the smallest epsilon, or over 1 if that is larger: every epsilon is lower by about this share at most.
OVERFLOW_SHARE = 1e-3
_BISECTIONS = 60
#: No cap need be larger: blankets are below it.
_MOST_CAP = 2**40


@dataclass(frozen=True)
class Capped(Collected):
    """A method whose users send at most so many blanket messages each.

    Counters are simulated as if there were no cap: it changes them with a probability below kappa only.

    Parameters
    ----------
    method : ProvenSegmented
        What is planned, for slightly smaller epsilons and delta.
    cap : int or None
        Most blanket messages of a user c; None takes the least number that costs a thousandth of the smallest epsilon.
    """

    method: ProvenSegmented
    cap: int | None = None

    def __post_init__(self) -> None:
        if self.cap is not None:
            check_integer("blanket_cap", self.cap, 0)

    @property
    def name(self) -> str:
        """Identifier of the variant."""
        return self.method.name

    def plan(self, problem: Problem) -> Plan:
        """Plan within what the cap leaves of every epsilon and delta (kind: upper).

        Raises
        ------
        ParameterError
            If the cap is too small for the blanket that was asked for.
        """
        largest = OVERFLOW_SHARE * min(1.0, problem.levels[0])

        def suffices(blanket_per_user: float, cap: int) -> bool:
            """Whether kappa is small enough for all levels: it grows with epsilon."""
            overflow = cap_overflow(
                blanket_per_user=blanket_per_user,
                cap=cap,
                honest_users=problem.honest_users,
                epsilon=problem.levels[-1],
                delta=problem.delta,
                rounds=problem.assumptions.rounds,
            )
            return overflow <= largest

        targets = [uncapped_target(epsilon=e, delta=problem.delta, overflow=largest) for e in problem.levels]
        # of several deltas the least holds for all
        inner = replace(problem, levels=tuple(epsilon for epsilon, _ in targets), delta=targets[0][1], level_deltas=())
        plan = self.method.plan(inner)
        if not plan.scheme.law.can_be_capped:
            raise ParameterError("blanket_cap", self.cap, "left out: a cap is proven for single dummies alone")
        free = plan.blanket_per_user
        cap = bisect.bisect_left(range(_MOST_CAP), True, lo=1, key=functools.partial(suffices, free))
        if self.cap is not None and self.cap < cap:
            if self.method.blanket_per_user is not None:
                raise ParameterError("blanket_cap", self.cap, f"at least {cap} for a blanket of {free:g}")
            low, high = 0.0, free
            for _ in range(_BISECTIONS):
                middle = 0.5 * (low + high)
                low, high = (middle, high) if suffices(middle, self.cap) else (low, middle)
            if low == 0.0:
                raise ParameterError(
                    "blanket_cap", self.cap, "large enough for some blanket: raise it, or leave it out"
                )
            plan = replace(self.method, blanket_per_user=rounded_down(low)).plan(inner)
        cap = cap if self.cap is None else self.cap
        certificate = []
        for level, found in zip(problem.levels, plan.certificate, strict=True):
            delta = capped_delta(uncapped=found["delta_upper"], delta=problem.delta, overflow=largest)
            # what a cap costs is bounded from above only
            certificate.append({"epsilon": level, "delta_lower": 0.0, "delta_upper": rounded_up(delta)})
        collection = replace(plan.collections[0], announcement=replace(plan.scheme, blanket_cap=cap))
        return replace(plan, problem=problem, kind="upper", collections=(collection,), certificate=tuple(certificate))
