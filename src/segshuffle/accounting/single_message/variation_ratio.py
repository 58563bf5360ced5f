r"""Variation-ratio reduction: its parameters, and delta and epsilon of the pair of counts they lead to.

Source: "Privacy Amplification via Shuffling: Unified, Simplified, and Tightened", Theorems 4.1, 4.7, 4.8, 5.1 and
Algorithm 1. The *victim* is the user whose input changes. For randomizers R_1 (the victim's) and R_i (n - 1 others, or
blanket messages)

    p     bounds R_1(x)/R_1(x'),   beta  bounds the total variation of R_1(x) and R_1(x'),   q  bounds R_1(x)/R_i(x_i),

the reduction is a pair of counts (`numerics.hockey_stick`) with alpha = beta/(p - 1), r = alpha p/q,
C ~ Binomial(n - 1, 2 r), heads = p alpha, tails = alpha. The tables of randomizers are in `variation_ratio_tables`.

Status: published. The victim's *left-over*, of weight 1 - alpha - p alpha, is what it sends for both inputs alike. The
reduction mixes it with the left-overs of the other users. Where they differ, the histogram shows this. For
single-message randomizers the number is *refuted* as an upper bound: k-ary randomized response with p = 3, k = 4,
n = 5, e^eps = 8/5 has delta = 0.0585648 against the published 0.0560185. If the victim has no left-over
(`VariationRatio.left_over` = 0), nothing is mixed, and the number is an upper bound. This must hold for the parameters
of the randomizer itself, not for looser ones, such as those of `variation_ratio_tables.general`.

The closed forms, Theorem 4.2 (analytic) and Theorem 4.3 (asymptotic), share this status. Where a theorem's
conditions fail it says nothing, and the answer is the trivial one: log p, the local guarantee (+inf for p = +inf).
Where they hold, the formula's value is returned as it is, even above log p: take the smaller of the two.

Our copy of the paper prints the formula of Theorem 4.2 as two quotients. They are one: the second summand of the first
numerator and the last numerator belong to the denominator. Read literally, the value would tend to log(1 + (p - 1)/2)
instead of 0. Read as in `VariationBound.analytic_epsilon`, it is slightly above the pair's log-ratio at c = Omega and
a = Omega/2 + sqrt(Omega log(4/delta)/2), which is what the theorem's proof bounds.

Theorem 5.1 bounds the divergence of two datasets from below. It counts the outputs that are likelier under x1 (the set
S1) and those that are likelier under x0 (S0), and forgets everything else. All other users hold one input x*. With sums
of probabilities over S0 and S1,

    p = R1(x1)(S1)/R1(x0)(S1),   q = R1(x1)(S1)/R2(x*)(S1),   q' = R1(x0)(S0)/R2(x*)(S0),
    r = alpha p/q,  r' = alpha p/q',  C ~ Binomial(n - 1, r + r'),  A ~ Binomial(C, r'/(r + r')),

where x* is the input with the largest min(q, q'). (The paper prints alpha = beta'/(p - 1), and does not define beta'.)
The pair of counts is (A + D1, C - A + D2) against (A + D2, C - A + D1), with D1 ~ Bernoulli(heads) and
D2 ~ Bernoulli(tails), of which at most one is 1. The theorem says that its divergence is at most that of two
*particular* neighbouring datasets (x0 or x1, all others x*), and so at most the least delta that any analysis can prove
for the shuffled messages. What is true of this statement:

* For randomizers with R1(x0)(S0) = R1(x1)(S1) the two counts are a function of the shuffled messages, so by data
  processing the bound is proven. Every randomizer with an output symmetry that swaps x0 and x1 is of this kind, as most
  of Table 2 are.
* Otherwise R1(x0) would need its own ratio: the published pair is not that of the counts, and its divergence need not
  be a lower bound. An example has two outputs, R1(x0) = (9/10, 1/10), R1(x1) = (7/10, 3/10), n = 1 and e^eps = 5/4:
  D(R1(x0) || R1(x1)) is 1/40, but the published lower bound is 7/40, which is D(R1(x1) || R1(x0)). Nothing is claimed
  for such randomizers.
* The paper calls the bound "exactly tight" where it equals the upper bound of Theorem 4.1. If left-overs differ, this
  is false: the histogram shows more than the two counts, so the true divergence is larger (counterexample above).
  Equality only shows that, for such randomizers, Theorem 4.1 is no more than a lower bound.
"""

import math
from dataclasses import dataclass

from segshuffle.errors import ParameterError
from segshuffle.numerics.gaussian import gaussian_log_delta
from segshuffle.numerics.hockey_stick import CountPair, hockey_stick
from segshuffle.numerics.intervals import ZERO, DeltaInterval
from segshuffle.numerics.laws import BinomialLaw
from segshuffle.numerics.ranges import (
    LARGEST_EPSILON,
    SMALLEST_LOG_RATIO,
    check_integer,
    check_target,
    check_users,
    check_within,
)
from segshuffle.numerics.search import Bound, certified_root, edge_epsilon, safe_edge

LARGEST_LOG_RATIO = 600.0
#: Epsilons below this share of the largest possible one are not told apart from 0.
SMALLEST_SHARE = 1e-12
_COARSE = 0.02
_ROUNDING = 1e-14
#: Relative error of log p, and of the probability that the victim adds to a count: seven and fifteen roundings.
_LOG_RATIO_ERROR, _SPEAK_ERROR = 1e-15, 4e-15


@dataclass(frozen=True, kw_only=True)
class VariationRatio:
    """The parameters (p, beta, q) of the reduction, the two ratios as logarithms.

    Parameters
    ----------
    log_p : float
        log of the largest ratio of the victim's two laws, at least 1e-12; +inf: no local guarantee, and alpha = 0.
    beta : float
        Total variation of the victim's two laws, in [0, (p - 1)/(p + 1)].
    log_q : float
        log of the largest ratio of the victim's law to another user's (or to a blanket message's), in [0, 600].
    log_q_other : float, optional
        The same for the victim's other law (q' of Theorem 5.1), if it is not q.

    Raises
    ------
    ParameterError
        If a parameter is outside its range, or if the two clone probabilities, r + r', exceed 1.
    """

    log_p: float
    beta: float
    log_q: float
    log_q_other: float | None = None

    def __post_init__(self) -> None:
        check_within("log_p", self.log_p, SMALLEST_LOG_RATIO, math.inf)
        largest = math.tanh(0.5 * self.log_p)
        allowed = f"in [0, (p - 1)/(p + 1)] = [0, {largest!r}]"
        check_within("beta", self.beta, 0, largest * (1 + _ROUNDING), allowed=allowed)
        check_within("log_q", self.log_q, 0, LARGEST_LOG_RATIO)
        if self.log_q_other is not None:
            check_within("log_q_other", self.log_q_other, 0, LARGEST_LOG_RATIO)
        if sum(self.clones) > 1 + _ROUNDING:
            raise ParameterError(
                "log_q", self.log_q, f"so large that p alpha/q + p alpha/q' <= 1; p alpha is {self.heads:g}"
            )

    @property
    def heads(self) -> float:
        """Weight p alpha of the component that tells the victim's true input."""
        return min(self.beta / -math.expm1(-self.log_p), 1.0)

    @property
    def tails(self) -> float:
        """Weight alpha of the component that tells the other input."""
        return self.heads * math.exp(-self.log_p)

    @property
    def clones(self) -> tuple[float, float]:
        """Probabilities r and r' that another user imitates the one component or the other."""
        other = self.log_q if self.log_q_other is None else self.log_q_other
        return self.heads * math.exp(-self.log_q), self.heads * math.exp(-other)

    @property
    def clone(self) -> float:
        """Probability r of either component if both are equally likely, in [0, 1/2]."""
        return min(self.clones[0], 0.5)

    @property
    def left_over(self) -> float:
        """Weight 1 - alpha - p alpha of what the victim sends for both inputs alike."""
        return max(1.0 - self.beta / math.tanh(0.5 * self.log_p), 0.0)


class VariationBound(Bound):
    """The variation-ratio reduction of Theorem 4.1 (kind: published; refuted as an upper bound: see the module's text).

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
        blanket = BinomialLaw(self.n_users - 1, 2.0 * self.variation.clone)
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
            Relative accuracy asked of epsilon, in [1e-9, 0.1]. Round-off prevents it where delta hardly depends on
            epsilon (delta close to its value at epsilon = 0).

        Returns
        -------
        float
            Rounded up: the certified upper end of delta there is at most `delta`. 0 if that holds at 0; log p, which
            may be +inf, if epsilon is within rtol of it, or if no epsilon up to 300 will do.
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
        """Return what Algorithm 1 finds by bisection: `iterations` halvings of [0, log p], upper end.

        That is `epsilon` with rtol = 0.1 * 2^-iterations (kept within [1e-9, 1e-6]), rounded up to a multiple of
        log p/2^iterations.

        Parameters
        ----------
        delta : float
            In [1e-280, 1); p must be finite.
        iterations : int
            The paper's T, in [0, 60].
        """
        check_integer("iterations", iterations, 0, most=60)
        if self.ceiling > LARGEST_EPSILON:
            raise ParameterError("log_p", self.ceiling, f"at most {LARGEST_EPSILON:g} to bisect [0, log p]")
        share = 2.0**-iterations
        step, epsilon = share * self.ceiling, self.epsilon(delta=delta, rtol=min(max(0.1 * share, 1e-9), 1e-6))
        return max(math.ceil(epsilon / step), 1) * step

    def _gaussian_guess(self, delta: float, first: float, last: float) -> tuple[float, float]:
        """Guess epsilon and d log(delta)/d log(epsilon), as if the difference of the counts were normal."""
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
            In [1e-280, 1). For p = +inf the formula and its conditions are taken in the limit.

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
        # with 2 r = 1 no user has a left-over, the victim included
        mixed = left_over * clone / (1.0 - 2.0 * clone) if left_over > 0 else 0.0
        # Omega >= (2p(beta+1+(beta-1)p)(n-1) + beta)/(q + p(beta-1+(beta+1)p) - pq), above and below over p(p - 1)
        above = alpha * math.exp(-self.ceiling) - 2.0 * left_over * others
        below = 2.0 - left_over - math.exp(self.variation.log_q - self.ceiling)
        enough = expected >= above / below if below else above <= 0
        if expected <= 0 or 0.5 * (1.0 - left_over) < mixed or not enough:
            return self.ceiling
        deviation = math.sqrt(0.5 * expected * log_term)
        base = alpha * expected + beta * (0.5 * expected - deviation) + mixed * (others - expected)
        return math.log1p(beta * (2.0 * deviation + 1.0) / base) if base > 0 else self.ceiling

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


class LowerVariationBound(Bound):
    """The lower bound of Theorem 5.1 (kind: lower; proven for symmetric randomizers): report `delta(...).lower`.

    Parameters
    ----------
    lower : VariationRatio
        The randomizer's (p, beta, q, q').
    n_users : int
        The victim included, in [1, 1e15].

    Raises
    ------
    ParameterError
        If a parameter is outside its range.
    """

    def __init__(self, *, lower: VariationRatio, n_users: int) -> None:
        check_users(n_users)
        self.variation, self.n_users, self.ceiling = lower, n_users, lower.log_p

    def interval(self, epsilon: float, rtol: float) -> DeltaInterval:
        """Enclose the larger of D(P || Q) and D(Q || P), which differ if q and q' do, parameters rounded down.

        The lower end holds for every (log p, beta, q, q') that rounds to the parameters. A victim with a smaller p, or
        a smaller probability to add to a count, is the victim with its message swapped or dropped at random. So its
        pair is a mixture of (P, Q) with (Q, P) or with equal laws, whose divergence is by convexity no larger than the
        larger of the two directions. Therefore both parameters are lowered by more than their round-off. Round-off of
        the probabilities r and r' only moves the log of delta by about 1e-15 log(1/delta).
        """
        log_p, (one, other) = self.ceiling * (1.0 - _LOG_RATIO_ERROR), self.variation.clones
        if log_p <= epsilon or self.variation.beta == 0.0:
            return ZERO
        speak = min(self.variation.beta / math.tanh(0.5 * self.ceiling), 1.0) * (1.0 - _SPEAK_ERROR)
        blanket = BinomialLaw(self.n_users - 1, min(one + other, 1.0))
        pairs = (
            CountPair(speak * math.tanh(0.5 * log_p), log_p, blanket, split)
            for split in {one / (one + other), other / (one + other)}
        )
        return max(hockey_stick(pair, epsilon, rtol) for pair in pairs)

    def epsilon(self, *, delta: float) -> float:
        """Return the largest epsilon up to 300 that Theorem 5.1 excludes at `delta` in [1e-280, 1), rounded down.

        No smaller epsilon is possible at `delta`; 0 if none is excluded.
        """
        check_target(delta)
        return edge_epsilon(self.lower, ceiling=self.ceiling, delta=delta, rtol=self.rtol, lower=True)
