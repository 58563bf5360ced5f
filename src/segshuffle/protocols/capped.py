"""The Poisson blanket with a cap on the dummy messages of a user, which bounds what a liar can do (docs/proof.md).

*kappa* bounds the probability that the cap changes anything (`cap_overflow`).
"""

import bisect
import functools
from dataclasses import dataclass, replace

from segshuffle.accounting.collections.blanket_cap import cap_overflow, uncapped_target
from segshuffle.digits import rounded_down, rounded_up
from segshuffle.errors import ParameterError
from segshuffle.numerics.ranges import check_integer
from segshuffle.plans.method import CopiesAndDummies
from segshuffle.plans.plan import Plan, Problem
from segshuffle.plans.targets import Target, delta_with_cap
from segshuffle.protocols.proven import ProvenSegmented

#: Largest kappa, as a share of the smallest epsilon (or of 1, if that is less). The inner plan without the cap has
#: epsilons that are lower by about this share at most.
OVERFLOW_SHARE = 1e-3
_BISECTIONS = 60
#: Largest cap; no blanket needs a larger one.
_MOST_CAP = 2**40


@dataclass(frozen=True)
class Capped(CopiesAndDummies):
    """A method with a cap on the blanket messages of each user.

    Counters are simulated without the cap, which changes them with a probability below kappa.

    Parameters
    ----------
    method : ProvenSegmented
        The method without the cap. It plans for slightly smaller epsilons and delta.
    cap : int or None
        Largest number c of blanket messages of a user. None takes the smallest c whose kappa is small enough
        (`OVERFLOW_SHARE`).
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
        """Plan with the epsilon and delta that the cap leaves for every level (kind: upper).

        kappa falls with delta, so the smallest delta of all levels bounds it for all.

        Raises
        ------
        ParameterError
            If the cap is too small for the blanket that was asked for.
        """
        largest = OVERFLOW_SHARE * min(1.0, problem.levels[0])

        def suffices(blanket_per_user: float, cap: int) -> bool:
            """Return whether kappa is small enough for all levels: it grows with epsilon."""
            overflow = cap_overflow(
                blanket_per_user=blanket_per_user,
                cap=cap,
                honest_users=problem.honest_users,
                epsilon=problem.levels[-1],
                delta=problem.delta,
                rounds=problem.assumptions.rounds,
            )
            return overflow <= largest

        targets = [
            uncapped_target(epsilon=epsilon, delta=delta, overflow=largest)
            for epsilon, delta in zip(problem.levels, problem.deltas, strict=True)
        ]
        epsilons, deltas = zip(*targets, strict=True)
        own = deltas if problem.level_deltas else ()
        inner = replace(problem, levels=epsilons, delta=min(deltas), level_deltas=own)
        plan = self.method.plan(inner)
        if not plan.scheme.law.can_be_capped:
            raise ParameterError(
                "dummies", plan.scheme.law.name, "left out with a cap, which is proven for single dummies alone"
            )
        free = plan.blanket_per_user
        cap = bisect.bisect_left(range(_MOST_CAP), True, lo=1, key=functools.partial(suffices, free))
        if self.cap is not None and self.cap < cap:
            if self.method.blanket_per_user is not None or self.method.target_error is not None:
                raise ParameterError("blanket_cap", self.cap, f"at least {cap} for {free:.4g} dummies per user")
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
        certificate, mean = [], problem.honest_mean(plan.blanket_per_user)
        for level, asked, copies in zip(problem.levels, problem.deltas, plan.scheme.copies, strict=True):
            target = Target(problem.pairs, level, asked)
            sent = {"blanket_per_user": plan.blanket_per_user, "cap": cap, "rounds": problem.assumptions.rounds}
            delta = delta_with_cap(plan.scheme.law, mean, target, copies, honest_users=problem.honest_users, **sent)
            # the cost of a cap has only an upper bound
            certificate.append({"epsilon": level, "delta_lower": 0.0, "delta_upper": rounded_up(delta)})
        collection = replace(plan.collections[0], announcement=replace(plan.scheme, blanket_cap=cap))
        return replace(plan, problem=problem, kind="upper", collections=(collection,), certificate=tuple(certificate))
