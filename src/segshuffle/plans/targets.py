"""What a plan must meet: the guarantee of every level, certified, and the error that counts."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from segshuffle.accounting.collections.blanket_cap import cap_overflow, capped_delta, uncapped_target
from segshuffle.accounting.collections.guides import FINE, guided_log_delta
from segshuffle.accounting.collections.product import SMALLEST_DELTA, closest_interval, log_delta_bound, rounded_delta
from segshuffle.accounting.collections.published import item_target
from segshuffle.arrays import FloatArray
from segshuffle.blankets.base import Blanket
from segshuffle.digits import rounded_down
from segshuffle.errors import ParameterError
from segshuffle.numerics.gaussian import gaussian_ratio
from segshuffle.plans.plan import Problem, assignment_spread
from segshuffle.plans.scheme import Scheme
from segshuffle.plans.weights import ErrorTerms

#: Relative widths of a certificate that are tried after `FINE`, until one is reached or the target is met or missed.
_WIDTHS = (10 * FINE, 100 * FINE, 1.0)
#: Plans keep this relative distance in epsilon from jumps of delta.
_JUMP = 0.2 * FINE
#: Relative width of the intervals that tell whether there is a jump: narrower ones take longer and tell no more.
_WIDE = 0.5
#: Significant digits of announced copies.
_DIGITS = 6


@dataclass(frozen=True)
class Target:
    """The guarantee that one level must meet. It does not depend on the users, so equal targets share a calibration."""

    pairs: int
    epsilon: float
    delta: float

    @classmethod
    def of(cls, problem: Problem, level: float, group_privacy: bool = False) -> Target:
        """Take the target for the product of all pairs, or, with group privacy, for one item."""
        pairs, delta = problem.pairs, problem.deltas[problem.levels.index(level)]
        if not group_privacy or pairs == 0:
            return cls(pairs, level, delta)
        epsilon, delta = item_target(epsilon=level, delta=delta, set_size=pairs)
        return cls(1, epsilon, delta)

    @property
    def gaussian_copies(self) -> float:
        """Copies that Gaussian noise with variance 1 would allow; they grow with the root of the variance."""
        return gaussian_ratio(epsilon=self.epsilon, delta=self.delta) / math.sqrt(2 * self.pairs)


def error_of_all(problem: Problem) -> ErrorTerms:
    """Return coefficients of the squared error of all items, if these are equally frequent and noise has variance 1."""
    d, s, n = problem.sizes
    return ErrorTerms(d, s, assignment_spread(np.array([n * s / d]), n) * d)


def error_of_item(share: float, n_users: int) -> ErrorTerms:
    """Return the coefficients of the variance of the estimate of one item, held by this share of the users."""
    return ErrorTerms(1.0, share, share * (1 - share) * n_users / max(n_users - 1, 1))


def checked_mean(problem: Problem, law: Blanket, blanket_per_user: float) -> float:
    """Return how many dummies per item honest users send, if the law allows as many; else raise an error."""
    mean, (least, most) = problem.honest_mean(blanket_per_user), law.means
    if not least <= mean <= most:
        allowed = f"such that honest users send {least:g} to {most:g} dummies per item (they send {mean:g})"
        raise ParameterError("blanket_per_user", blanket_per_user, allowed)
    return mean


def has_large_tables(law: Blanket) -> bool:
    """Return whether certificates take long, so that the law has a rough form for searches."""
    return law.rough() is not law


def is_certified(law: Blanket, mean: float, target: Target, copies: float) -> bool:
    """Return whether copies, rounded down, are certified to meet the target, and not next to a jump of delta."""
    if copies == 0 or target.pairs == 0:
        return True
    sent = announced(copies)
    return certified_delta(law, mean, target, sent)[1] <= target.delta and not _is_at_jump(law, mean, target, sent)


@functools.lru_cache(maxsize=65536)
def _is_at_jump(law: Blanket, mean: float, target: Target, copies: float) -> bool:
    """Return whether delta more than doubles, and is above the target, at a slightly smaller epsilon.

    If there are few dummies, delta may grow by orders of magnitude within a millionth of epsilon, or of the copies.
    Next to such a jump, already a somewhat wider bound of delta, as a verifier computes, is above the target.
    """
    smaller = Target(target.pairs, (1 - _JUMP) * target.epsilon, target.delta)
    here = certified_delta(law, mean, target, copies)[1]
    if has_large_tables(law):
        # not an interval: the counts that a rough law samples hang on its tails, so bounds from two tables may cross
        there = math.exp(guided_log_delta(law.rough().pair(mean, copies), **asdict(smaller), rtol=FINE))
    else:
        there = certified_delta(law, mean, smaller, copies, _WIDE)[0]
    return there > max(2 * here, target.delta)


def announced(copies: float) -> float:
    """Round copies down to the digits that a plan announces."""
    return rounded_down(copies, _DIGITS)


@functools.lru_cache(maxsize=65536)
def certified_delta(
    law: Blanket, mean: float, target: Target, copies: float, rtol: float = FINE
) -> tuple[float, float]:
    """Return a certified interval of delta (lower, upper), narrow enough to compare it with the target if possible.

    Intervals of relative width `rtol` are tried first.
    """
    if target.pairs == 0 or copies == 0:
        return 0.0, 0.0
    pair, lower, upper = law.pair(mean, copies), 0.0, 1.0
    far_below = max(FINE * target.delta, SMALLEST_DELTA)
    # far below the target, large tables and wide intervals need not tell delta from 0, which would take long
    smallest = far_below if rtol > FINE or has_large_tables(law) else SMALLEST_DELTA
    tried = [(rtol, smallest), (FINE, far_below), *((each, smallest) for each in _WIDTHS)]
    for width, least in dict.fromkeys(tried):
        interval, failure = closest_interval(
            pair, pairs=target.pairs, epsilon=target.epsilon, rtol=width, smallest=least, expected=target.delta
        )
        lower, upper = max(lower, interval.lower), min(upper, interval.upper)
        if not failure or (lower > 0 and upper <= target.delta) or lower > target.delta:
            return lower, upper
    return lower, min(upper, rounded_delta(log_delta_bound([(pair, target.pairs)], target.epsilon)))


def cap_of(scheme: Scheme, problem: Problem) -> dict[str, Any] | None:
    """Return the parameters of `cap_overflow` for a scheme, except epsilon and delta; None without a cap."""
    if scheme.blanket_cap is None:
        return None
    sent = {"blanket_per_user": scheme.blanket_per_user, "cap": scheme.blanket_cap}
    return {**sent, "honest_users": problem.honest_users, "rounds": problem.assumptions.rounds}


def delta_with_cap(law: Blanket, mean: float, target: Target, copies: float, **dummies: Any) -> float:
    """Bound delta if the dummies of a user have a cap; `dummies` are parameters of `cap_overflow` (kind: upper)."""
    overflow = cap_overflow(**dummies, epsilon=target.epsilon, delta=target.delta)
    epsilon, delta = uncapped_target(epsilon=target.epsilon, delta=target.delta, overflow=overflow)
    if epsilon < 0.0:
        return 1.0
    uncapped = certified_delta(law, mean, Target(target.pairs, epsilon, delta), copies)[1]
    return capped_delta(uncapped=uncapped, delta=target.delta, overflow=overflow)


def attained(problem: Problem, copies: Sequence[float] | FloatArray) -> bool:
    """Return whether some neighbours attain the bound with `Problem.pairs` pairs, so that no smaller delta is valid.

    This needs two sets that differ in all these pairs, and other users who shift those counters by a known number, or
    not at all (docs/proof.md, step 6).
    """
    d, s, n_users = problem.sizes
    if problem.assumptions.sets == "at-most":
        return d >= 2 * s  # the others may hold nothing
    if problem.assumptions.private_levels and d < 2 * s:
        return False
    others_are_known = all(a == math.floor(a) for a, n in zip(copies, problem.level_counts, strict=True) if n)
    return d >= 3 * s or d == s or n_users == 1 or others_are_known
