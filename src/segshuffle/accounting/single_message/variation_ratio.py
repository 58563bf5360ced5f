r"""Variation-ratio reduction: its three parameters, and delta and epsilon of the pair of counts they lead to.

Source: "Privacy Amplification via Shuffling: Unified, Simplified, and Tightened", Theorems 4.1, 4.7, 4.8 and
Algorithm 1. For randomizers R_1 (the victim's) and R_i (n - 1 others, or blanket messages)

    p     bounds R_1(x)/R_1(x'),   beta  bounds the total variation of R_1(x) and R_1(x'),   q  bounds R_1(x)/R_i(x_i),

the reduction is a pair of counts with alpha = beta/(p - 1), r = alpha p/q, C ~ Binomial(n - 1, 2 r), heads = p alpha,
tails = alpha. The tables of randomizers are in `variation_ratio_tables`, the lower
bound of Theorem 5.1 in `variation_ratio_lower`.

Status: published. The reduction mixes the victim's left-over, of weight 1 - alpha - p alpha, with the left-over of the
other users; where they differ, the histogram shows it, and for single-message randomizers the number is *refuted* as
an upper bound: k-ary randomized response with p = 3, k = 4, n = 5, e^eps = 8/5 has delta = 0.0585648 against the
published 0.0560185. Nothing is mixed where the victim has no left-over (`VariationRatio.left_over` = 0) in its own
decomposition (not in that of a bound on it, such as "general mechanisms"): there the number is an upper bound.

The closed forms, Theorem 4.2 (analytic) and Theorem 4.3 (asymptotic), share this status. Where a theorem's
conditions fail it says nothing, and the answer is the trivial one: log p, the local guarantee (+inf for p = +inf).
Where they hold, the formula's value is returned as it is, even above log p: take the smaller of the two.

The two quotients that the printed formula of Theorem 4.2 shows in our copy of the paper are one: the second summand
of the first numerator and the last numerator belong to the denominator. Read literally the value would tend to
log(1 + (p - 1)/2) instead of 0; read as below it is the largest log-ratio of the pair at c = Omega and
a = Omega/2 + sqrt(Omega log(4/delta)/2), which is what the theorem's proof bounds.
"""

import math
from dataclasses import dataclass

from segshuffle.accounting.numerics.gaussian import gaussian_log_delta
from segshuffle.accounting.numerics.hockey_stick import ZERO, CountPair, DeltaInterval, hockey_stick
from segshuffle.accounting.numerics.laws import clone_law
from segshuffle.accounting.numerics.ranges import (
    LARGEST_EPSILON,
    SMALLEST_LOG_RATIO,
    check_integer,
    check_target,
    check_users,
    check_within,
)
from segshuffle.accounting.numerics.search import Bound, certified_root, safe_edge
from segshuffle.errors import ParameterError

LARGEST_LOG_RATIO = 600.0
#: Epsilons below this share of the largest possible one are not told apart from 0.
SMALLEST_SHARE = 1e-12
_COARSE = 0.02
#: Widths at which the bisection compares delta(epsilon) with delta, until the intervals decide.
_DECISION_WIDTHS = (_COARSE, 1e-4, 1e-6, 1e-9)
_ROUNDING = 1e-14


@dataclass(frozen=True, kw_only=True)
class VariationRatio:
    """The parameters (p, beta, q) of the reduction, the two ratios as logarithms.

    Parameters
    ----------
    log_p : float
        log of the largest ratio of the victim's two laws; in [1e-12, 600], or +inf (no local guarantee: alpha = 0).
    beta : float
        Total variation of the victim's two laws, in [0, (p - 1)/(p + 1)].
    log_q : float
        log of the largest ratio of the victim's law to another user's (or to a blanket message's), in [0, 600].

    Raises
    ------
    ParameterError
        If a parameter is outside its range, or if the two clone probabilities 2 r = 2 p alpha/q exceed 1.
    """

    log_p: float
    beta: float
    log_q: float

    def __post_init__(self) -> None:
        largest = math.inf if isinstance(self.log_p, float) and self.log_p == math.inf else LARGEST_LOG_RATIO
        allowed = f"in [{SMALLEST_LOG_RATIO:g}, {LARGEST_LOG_RATIO:g}], or +inf"
        check_within("log_p", self.log_p, SMALLEST_LOG_RATIO, largest, allowed=allowed)
        largest = math.tanh(0.5 * self.log_p)
        allowed = f"in [0, (p - 1)/(p + 1)] = [0, {largest!r}]"
        check_within("beta", self.beta, 0, largest * (1 + _ROUNDING), allowed=allowed)
        check_within("log_q", self.log_q, 0, LARGEST_LOG_RATIO)
        if self.heads * math.exp(-self.log_q) > 0.5 * (1 + _ROUNDING):
            raise ParameterError("log_q", self.log_q, f"at least log(2 p alpha) = {math.log(2 * self.heads):g}")

    @property
    def heads(self) -> float:
        """Weight p alpha of the component that tells the victim's true input."""
        return min(self.beta / -math.expm1(-self.log_p), 1.0)

    @property
    def tails(self) -> float:
        """Weight alpha of the component that tells the other input."""
        return self.heads * math.exp(-self.log_p)

    @property
    def clone(self) -> float:
        """Probability r that another user imitates one given component of the two, in [0, 1/2]."""
        return min(self.heads * math.exp(-self.log_q), 0.5)

    @property
    def left_over(self) -> float:
        """Weight 1 - alpha - p alpha of what the victim sends for both inputs alike."""
        return max(1.0 - self.beta / math.tanh(0.5 * self.log_p), 0.0)


class VariationBound(Bound):
    """The variation-ratio reduction of Theorem 4.1 (kind: published; refuted as an upper bound: see above).

    Parameters
    ----------
    variation : VariationRatio
        The randomizer's (p, beta, q).
    n_users : int
        The paper's n, the victim included, in [1, 1e15]. Multi-message protocols: 1 + the number of *all* blanket
        messages, the victim's own included (the paper's n - 1 is what the victim's message hides among).

    Raises
    ------
    ParameterError
        If a parameter is outside its range.
    """

    def __init__(self, *, variation: VariationRatio, n_users: int) -> None:
        check_users(n_users)
        self.variation, self.n_users, self.ceiling = variation, n_users, variation.log_p

    def interval(self, epsilon: float, rtol: float) -> DeltaInterval:
        """Enclose the published delta, round-off included; [0, 0] from epsilon = log p on.

        Values below 1e-290 come back as [0, 1e-290].
        """
        if self.variation.beta == 0.0 or self.ceiling <= epsilon:
            return ZERO
        blanket = clone_law(self.n_users - 1, 2.0 * self.variation.clone)
        # a total variation that is rounded may be above 1
        return hockey_stick(CountPair(min(self.variation.beta, 1.0), self.ceiling, blanket), epsilon, rtol)

    def epsilon(self, *, delta: float, rtol: float = 1e-6) -> float:
        """Return the epsilon of Algorithm 1 without its bisection error.

        The smallest epsilon at which the delta of Theorem 4.1 is at most `delta`.

        Parameters
        ----------
        delta : float
            In [1e-280, 1).
        rtol : float
            Relative accuracy asked of epsilon, in [1e-9, 0.1]. It is met while round-off leaves delta its digits: not
            where delta hardly depends on epsilon (delta close to its value at epsilon = 0).

        Returns
        -------
        float
            Rounded up: the certified upper end of delta there is at most `delta`. 0 if that holds at 0; log p if
            epsilon is within rtol of it; +inf if p = +inf and no epsilon up to 300 will do.
        """
        check_target(delta)
        check_within("rtol", rtol, 1e-9, 0.1)
        if self.variation.beta <= delta or self.upper(0.0, _COARSE) <= delta:
            return 0.0
        top = min(self.ceiling, LARGEST_EPSILON)
        last = LARGEST_EPSILON if self.ceiling > top else top * (1 - 0.5 * rtol)
        if self.upper(last, _COARSE) > delta:
            return self.ceiling
        first = SMALLEST_SHARE * top
        guess, slope = self._gaussian_guess(delta, first, last)
        return certified_root(self.interval, target=delta, first=first, last=last, guess=guess, slope=slope, rtol=rtol)

    def bisected_epsilon(self, *, delta: float, iterations: int) -> float:
        """Bisect for epsilon as Algorithm 1 is printed: `iterations` halvings of [0, log p], upper end.

        Above `epsilon` by at most log p/2^iterations. Each comparison of delta(epsilon) with `delta` is decided by
        certified intervals; one that stays open at a width of 1e-9 counts as "larger", upwards.

        Parameters
        ----------
        delta : float
            In [1e-280, 1); p must be finite.
        iterations : int
            The paper's T, in [0, 60].
        """
        check_target(delta)
        check_integer("iterations", iterations, 0, most=60)
        if self.ceiling > LARGEST_EPSILON:
            raise ParameterError("log_p", self.ceiling, f"at most {LARGEST_EPSILON:g} to bisect [0, log p]")
        low, high = 0.0, self.ceiling
        for _ in range(iterations):
            middle = 0.5 * (low + high)
            for width in _DECISION_WIDTHS:
                found = self.interval(middle, width)
                if found.upper <= delta or found.lower > delta:
                    break
            low, high = (low, middle) if found.upper <= delta else (middle, high)
        return high

    def _gaussian_guess(self, delta: float, first: float, last: float) -> tuple[float, float]:
        """Return epsilon and d log(delta)/d log(epsilon), were the difference of the counts normal: where to start."""
        ratio = 2.0 * self.variation.beta / math.sqrt(2.0 * self.variation.clone * (self.n_users - 1) + 1.0)

        def excess(epsilon: float) -> float:
            return gaussian_log_delta(ratio=ratio, epsilon=epsilon) - math.log(delta)

        if excess(first) <= 0 or excess(last) > 0:
            return math.sqrt(first * last), -1.0
        guess = safe_edge(excess, safe=last, unsafe=first, tolerance=0.01)
        near = 0.999 * guess
        return guess, min((excess(guess) - excess(near)) / math.log(guess / near), -1e-3)

    def analytic_epsilon(self, *, delta: float) -> float:
        r"""Return the epsilon of Theorem 4.2.

        With L = log(4/delta), Omega = 2 r (n-1) - sqrt(min(6 r, 1/2) (n-1) L), s = sqrt(Omega L/2): epsilon =
        log(1 + beta (2 s + 1) / (alpha Omega + beta (Omega/2 - s) + (1-alpha-alpha p)(n-1-Omega) r/(1-2r))).

        Parameters
        ----------
        delta : float
            In [1e-280, 1); p = +inf is the limit of the formula and of its conditions.

        Returns
        -------
        float
            log p if Omega <= 0, if one of the two published conditions fails, or if the denominator is not positive.
        """
        check_target(delta)
        clone, alpha, beta = self.variation.clone, self.variation.tails, self.variation.beta
        left_over, others = self.variation.left_over, self.n_users - 1
        log_term = math.log(4.0 / delta)
        expected = 2.0 * clone * others - math.sqrt(min(6.0 * clone, 0.5) * others * log_term)
        # with 2 r = 1 nobody has a left-over, and neither has the victim
        mixed = left_over * clone / (1.0 - 2.0 * clone) if left_over > 0 else 0.0
        half_speak = 0.5 * (1.0 - left_over)
        if expected <= 0 or half_speak - mixed < 0 or not _enough_clones(self.variation, others, expected):
            return self.ceiling
        deviation = math.sqrt(0.5 * expected * log_term)
        below = alpha * expected + beta * (0.5 * expected - deviation) + mixed * (others - expected)
        return math.log1p(beta * (2.0 * deviation + 1.0) / below) if below > 0 else self.ceiling

    def asymptotic_epsilon(self, *, delta: float) -> float:
        r"""Return the epsilon of Theorem 4.3.

        With v = max(0, (4/9)(1 - 3r)/(1 - 2r)), if n >= 8 log(2/delta)/r: epsilon =
        log(1 + beta/((1-v)(1+p) beta/(p-1) + v) * (sqrt(32 log(4/delta)/(r(n-1))) + 4/(r n))).

        Parameters
        ----------
        delta : float
            As for `analytic_epsilon`.

        Returns
        -------
        float
            log p if n < 8 log(2/delta)/r (or n = 1).
        """
        check_target(delta)
        clone, beta, n_users = self.variation.clone, self.variation.beta, self.n_users
        if beta == 0.0:
            return 0.0
        if n_users == 1 or n_users * clone < 8.0 * math.log(2.0 / delta):
            return self.ceiling
        v = max(0.0, 4.0 / 9.0 * (1.0 - 3.0 * clone) / (1.0 - 2.0 * clone)) if clone < 0.5 else 0.0
        speak = 1.0 - self.variation.left_over
        shrink = math.sqrt(32.0 * math.log(4.0 / delta) / (clone * (n_users - 1))) + 4.0 / (clone * n_users)
        return math.log1p(beta / ((1.0 - v) * speak + v) * shrink)


def _enough_clones(variation: VariationRatio, others: int, expected: float) -> bool:
    """Check Omega >= (2p(beta+1+(beta-1)p)(n-1) + beta)/(q + p(beta-1+(beta+1)p) - pq), both sides over p^2."""
    inverse, beta = math.exp(-variation.log_p), variation.beta
    q_inverse = math.exp(variation.log_q - variation.log_p) * inverse
    above = 2.0 * ((beta + 1.0) * inverse + beta - 1.0) * others + beta * inverse * inverse
    below = q_inverse + (beta - 1.0) * inverse + beta + 1.0 - math.exp(variation.log_q) * inverse
    if below == 0.0:
        return above <= 0.0
    return expected >= above / below
