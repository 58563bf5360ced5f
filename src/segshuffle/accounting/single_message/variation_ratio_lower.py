r"""Lower bound of the variation-ratio paper, Theorem 5.1, of the divergence of two datasets.

The outputs that x1 favours, S1, and those that x0 favours, S0, are counted; everything else is forgotten, and all
other users hold one input x*. With sums of probabilities over S0 and S1,

    p0 = R1(x1)(S1)/R1(x0)(S1),   q1 = R1(x1)(S1)/R2(x*)(S1),   q0 = R1(x0)(S0)/R2(x*)(S0),
    alpha = beta/(p0 - 1),  r_i = alpha p0/q_i,  C ~ Binomial(n - 1, r0 + r1),  A ~ Binomial(C, r0/(r0 + r1)),

x* the input with the largest min(q0, q1) (printed is alpha = beta'/(p - 1), which the theorem leaves undefined). The
pair of counts is (A + D1, C - A + D2) against (A + D2, C - A + D1).

What it bounds from below: the divergence of two *particular* neighbouring datasets (x0 or x1, all others x*), hence the
least delta that any analysis can prove for the shuffled messages. What holds of this statement:

* For randomizers with R1(x0)(S0) = R1(x1)(S1) the two counts are a function of the shuffled
  messages, so by data processing the bound is proven. Every randomizer with an output symmetry that swaps x0 and x1
  is of this kind, as most of Table 2 are.
* Otherwise R1(x0) would need its own ratio: the published pair is not that of the counts, and the stated direction
  fails. Two outputs, R1(x0) = (9/10, 1/10), R1(x1) = (7/10, 3/10), n = 1, e^eps = 5/4: D(R1(x0) || R1(x1)) is 1/40,
  the published lower bound 7/40 (which is D(R1(x1) || R1(x0))). Nothing is claimed for such randomizers.
* It is not "exactly tight" where the upper bound of Theorem 4.1 equals it: the histogram shows more than the two
  counts when left-overs differ, so the true divergence is larger (counterexample in `variation_ratio`). Equality of
  the two published bounds shows that Theorem 4.1 is no more than this lower bound for such randomizers.
"""

import math
from dataclasses import dataclass

from segshuffle.accounting.numerics.hockey_stick import ZERO, CountPair, DeltaInterval, hockey_stick
from segshuffle.accounting.numerics.laws import clone_law
from segshuffle.accounting.numerics.ranges import LARGEST_EPSILON, check_target, check_users, check_within
from segshuffle.accounting.numerics.search import Bound, edge_epsilon
from segshuffle.errors import ParameterError

_ROUNDING = 1e-12
#: Relative error of log p0 = log1p(beta/mass) and of the speaking probability: seven and fifteen roundings.
_LOG_RATIO_ERROR, _SPEAK_ERROR = 1e-15, 4e-15
_LARGEST_SHARE = 1.0 + 1e-12


@dataclass(frozen=True, kw_only=True)
class LowerBound:
    """Parameters (p0, beta, q0, q1) of Theorem 5.1.

    Parameters
    ----------
    log_p0 : float
        log p0 > 0, may be +inf.
    beta : float
        Total variation, in (0, (p0 - 1)/(p0 + 1)].
    q0, q1 : float
        Positive and finite; may be below 1.
    """

    log_p0: float
    beta: float
    q0: float
    q1: float

    def __post_init__(self) -> None:
        check_within("log_p0", self.log_p0, 0, math.inf, "(]", allowed="positive (or +inf)")
        largest = math.tanh(0.5 * self.log_p0) * (1 + _ROUNDING)
        check_within("beta", self.beta, 0, largest, "(]", allowed="in (0, (p0 - 1)/(p0 + 1)]")
        check_within("q0", self.q0, 0, math.inf, "()", allowed="positive and finite")
        check_within("q1", self.q1, 0, math.inf, "()", allowed="positive and finite")
        if sum(self.shares) > _LARGEST_SHARE:
            raise ParameterError("q0", self.q0, "large enough for r0 + r1 <= 1")

    @property
    def shares(self) -> tuple[float, float]:
        """r0 and r1: probabilities that another user's message is in S0, in S1."""
        heads = min(self.beta / -math.expm1(-self.log_p0), 1.0)
        return heads / self.q0, heads / self.q1


class LowerVariationBound(Bound):
    """The lower bound of Theorem 5.1 (kind: lower; proven for symmetric randomizers): report `delta(...).lower`.

    A lower bound of the delta of two neighbouring datasets in which all other users hold x*; the larger of the two
    directions D(P || Q) and D(Q || P), which differ if q0 and q1 do. The cost does not grow with n_users.

    Parameters
    ----------
    lower : LowerBound
        Its (p0, beta, q0, q1).
    n_users : int
        The victim included, in [1, 1e15].

    Raises
    ------
    ParameterError
        If a parameter is outside its range.
    """

    def __init__(self, *, lower: LowerBound, n_users: int) -> None:
        check_users(n_users)
        self.lower, self.n_users, self.ceiling = lower, n_users, lower.log_p0

    def interval(self, epsilon: float, rtol: float) -> DeltaInterval:
        """Enclose the published value; [0, 0] from epsilon = log p0 on."""
        if self.ceiling <= epsilon:
            return ZERO
        pairs = self._pairs(self.ceiling, self.lower.beta)
        upper = max(hockey_stick(pair, epsilon, rtol).upper for pair in pairs)
        return DeltaInterval(min(self._lower_end(epsilon, rtol), upper), upper)

    def epsilon(self, *, delta: float) -> float:
        """Return the largest epsilon that Theorem 5.1 excludes at `delta` in [1e-280, 1), rounded down.

        No smaller epsilon is possible at `delta`; 0 if none is excluded. The ratio p0 must be finite.
        """
        if not math.isfinite(self.ceiling):
            raise ParameterError("lower.log_p0", self.ceiling, "finite")
        check_target(delta)
        # beyond the largest epsilon nothing is computed: what is excluded there is excluded up to it at least
        ceiling = min(self.ceiling, LARGEST_EPSILON)
        return edge_epsilon(self._lower_end, ceiling=ceiling, delta=delta, rtol=self.rtol, lower=True)

    def _lower_end(self, epsilon: float, rtol: float) -> float:
        """Lower end that holds for every (log p0, beta, q0, q1) that rounds to the parameters.

        A victim with less contrast or more silence is the victim with its message swapped or dropped at random, so its
        pair is a mixture of (P, Q) with (Q, P) or with equal laws: by convexity no larger than the larger of the two
        directions. Moving both by more than their round-off bounds the lower end; the shares r0, r1 act smoothly (see
        `clone_law`).
        """
        log_p0 = self.ceiling * (1.0 - _LOG_RATIO_ERROR)
        if log_p0 <= epsilon:
            return 0.0
        speak = min(self.lower.beta / math.tanh(0.5 * self.ceiling), 1.0) * (1.0 - _SPEAK_ERROR)
        pairs = self._pairs(log_p0, speak * math.tanh(0.5 * log_p0))
        return max(hockey_stick(pair, epsilon, rtol).lower for pair in pairs)

    def _pairs(self, log_ratio: float, difference: float) -> list[CountPair]:
        """Make the pair of a victim and the others in both directions (one if they agree)."""
        one, other = self.lower.shares
        blanket = clone_law(self.n_users - 1, min(one + other, 1.0))
        # equal up to round-off is equal: the even split is faster, and both directions agree
        even = math.isclose(one, other, rel_tol=_ROUNDING)
        splits = (0.5,) if even else (one / (one + other), other / (one + other))
        return [CountPair(difference, log_ratio, blanket, each) for each in splits]
