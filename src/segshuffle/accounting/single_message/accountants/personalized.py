r"""Users with budgets of their own, or equal ones: the personalised bound, Liu et al., and Chen, Cao and Ge.

A budget is a local epsilon. User 1 is the *victim*, the user whose input changes.

Source: "Enhanced Privacy Bound for Shuffle Model with Personalized Privacy", section 3.3. With probability p_i (below)
user i >= 2 makes a clone of the victim's output, for either of the two inputs with equal probability:

    C ~ Poisson-binomial(p_2, ..., p_n),  A ~ Binomial(C, 1/2),  P_0 = (A + 1, C - A),  Q_0 = (A, C - A + 1),
    P = (1 - p_1) P_0 + p_1 Q_0,  Q = p_1 P_0 + (1 - p_1) Q_0.

Two numbers are offered, both of kind "published":

* `Reduction`: the exact divergence of (P, Q), plus the victim's failure probability, delta_1 + (1 - delta_1) D.
* `Theorem`: Theorems 1 and 2. Their formulas are not in our copy of the paper, and are read as the published code
  evaluates them. The trade-off function T of P_0 and Q_0 given C is mixed with the identity, 2 p_1 Id +
  (1 - 2 p_1) T, and the failure probability is mixed into the identity, too. The conjugate of this mixture is

      delta = s D_{e^{eps'}}(P_0 || Q_0),  s = (1 - delta_1)(1 - 2 p_1),  e^{eps'} = 1 + (e^eps - 1)/s,

  which is never below the exact divergence of (P, Q) with delta_1 = 0, and lacks an additive delta_1. The published
  code puts Binomial(n, mean/n) in the place of C; here the law of C is the one that the paper names.

The probabilities of confusion (sections 3.2.1 and 3.2.2): values lie in a range of length 1 (the clip range), the
victim's two inputs are its ends 0 and 1, the victim's budget epsilon_1 is the largest. With densities f_0, f_1 of the
victim's report from 0 and from 1, and g_i of user i's report,

    p_1 = Pr_{f_0}[f_1 > f_0],   p_i^k = Pr_{g_i}[f_k is the largest of f_0, f_1, g_i],  k = 0, 1.

Formulas that are not in our copy of the paper are read as in the code published with it: every other user holds 0 (one
of the victim's inputs), p_i = 2 min(p_i^0, p_i^1), and for approximate mechanisms half of the local delta is subtracted
from p_1, p_i^0 and p_i^1. Where user i has the victim's own budget, g_i = f_0. Then f_0 is nowhere *strictly* the
largest, and p_i^0 counts the ties (the published code sets it to 1). One formula of that code is not used: it takes
2 log(1.25/delta) range^2/epsilon^2, the *variance* of the Gaussian mechanism, as its standard deviation.

Status: not sound. The clone argument needs a pointwise ratio of densities; p_1 and p_i are averages. What exactly
fails:

* one Laplace user: the reduction claims (log(2 e^{epsilon_1/2} - 1), 0)-DP, less than the epsilon_1 that the mechanism
  has;
* every n: it claims delta = 0 from that epsilon on. But the event that all reports fall left of the range has
  probability at least (e^{-epsilon_1}/2)^n and ratio e^{epsilon_1};
* many users: both numbers lie below proven lower bounds. For 1000 Laplace users with budget 4 at delta = 1e-5, all
  others at 0, Theorem 2 claims epsilon = 0.568, and the true one is above 0.857 (the tests check these numbers).

Open: in the paper's own settings, with budgets spread over a range, the datasets tried here (all others hold 0) need
less than Theorem 2 claims. So they do not refute it there, but it is not proven there either.

Liu, Zhao, Xiong, Liu, Chen, "Echo of neighbors" (AAAI 2023), in the form evaluated by the code published with "Enhanced
Privacy Bound for Shuffle Model with Personalized Privacy" (whose text does not restate it): user i != 1 makes a clone
with probability

    p_i = (1/n) sum_j (epsilon_i/(1 - e^{-epsilon_i})) ((1 - e^{-epsilon_j})/epsilon_j) e^{-max(epsilon_i, epsilon_j)},

and the victim, of the largest budget, tells the truth with odds e^{epsilon_1}. That code replaces the number of clones
by a normal variable; here it is the Poisson-binomial one. Kind: published.

Chen, Cao, Ge, "A generalized shuffle framework for privacy amplification" (AAAI 2024): the shuffled reports of users
with (epsilon_i, delta_i) "approximately preserve" mu-GDP with

    mu^2 = 2/(sum_i w_i - max_i w_i),   w_i = (1 - delta_i)/(1 + e^{epsilon_i}).

Kind: asymptotic. It is a central-limit statement without an error term, and its clone counts come from the stronger
clone, whose reduction is flawed (section 3.3 of "Decomposition-Based Optimal Bounds for Privacy Amplification via
Shuffling" names the flaw). No number of this kind is a guarantee at finite n. The conversion of mu-GDP to (epsilon,
delta) is exact. The code published with "Enhanced Privacy Bound for Shuffle Model with Personalized Privacy" draws this
baseline with 2/(1 + e^{epsilon_i}) in the sum and w_1 subtracted; its mu is smaller than that of the formula above by a
factor of about sqrt(2).
"""

import math
from collections.abc import Callable
from functools import cached_property, lru_cache, partial

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from segshuffle.accounting.single_message.accountants.interface import Accountant, of_bound
from segshuffle.arrays import BoolArray, FloatArray
from segshuffle.errors import ParameterError
from segshuffle.numerics.gaussian import gaussian_log_delta
from segshuffle.numerics.hockey_stick import CountPair, hockey_stick
from segshuffle.numerics.intervals import SMALLEST_DELTA, ZERO, DeltaInterval
from segshuffle.numerics.poisson_binomial import LARGEST_TRIALS, PoissonBinomialLaw
from segshuffle.numerics.ranges import (
    LARGEST_EPSILON,
    LARGEST_USERS,
    check_integer,
    check_local,
    check_within,
    numbers,
)
from segshuffle.numerics.search import Bound

_Edges = tuple[FloatArray, FloatArray, FloatArray]

SMALLEST_BUDGET, LARGEST_BUDGET = 1e-50, 50.0
_TIE = 1e-12
"""Budgets closer than this, relatively, count as equal."""
_ROUND = 1e-14
"""Relative margin for the factor s and the shifted epsilon."""
_MARGIN = 1e-9
"""Relative margin on delta: the error that tests allow `gaussian_log_delta`."""


class PersonalizedUsers:
    """Users with budgets of their own; the victim has the largest one.

    Parameters
    ----------
    local_epsilons : array_like, shape (n_users,)
        Budgets epsilon_i in [1e-50, 50].
    local_delta : float
        Failure probability of every user, in [0, 1). With 0 the noise is Laplace's, of scale 1/epsilon_i (pure);
        otherwise Gaussian, of deviation sqrt(2 log(1.25/delta))/epsilon_i. Values are in [0, 1].

    Attributes
    ----------
    budgets : ndarray, shape (n_users,)
        In descending order, the victim's first.
    """

    def __init__(self, *, local_epsilons: ArrayLike, local_delta: float = 0.0) -> None:
        budgets = numbers("local_epsilons", local_epsilons)
        if budgets.ndim != 1 or budgets.size == 0:
            raise ParameterError("local_epsilons", local_epsilons, "a list with one number per user")
        for extreme in (budgets.min(), budgets.max()):
            check_within("local_epsilons", float(extreme), SMALLEST_BUDGET, LARGEST_BUDGET, note=" for every user")
        check_within("local_delta", local_delta, 0, 1, "[)")
        self.budgets, self.local_delta = np.sort(budgets)[::-1], local_delta
        self.n_users, self.largest_budget = budgets.size, float(budgets.max())

    @property
    def _scale(self) -> float:
        """Standard deviation of the Gaussian mechanism, times the budget (proven for budgets <= 1 only)."""
        return math.sqrt(2 * math.log(1.25 / self.local_delta))

    def _above(self, budgets: FloatArray, y: FloatArray | float) -> FloatArray:
        """Return Pr[the report of a user who holds 0 is above y >= 0] by budget. Upper tails do not cancel."""
        if self.local_delta == 0.0:
            return 0.5 * np.exp(-budgets * y)
        return special.ndtr(-y * budgets / self._scale)

    @property
    def victim_confusion(self) -> float:
        """p_1, in [0, 1/2]: probability that the victim's report from 0 is more likely under 1.

        Laplace: e^{-epsilon_1/2}/2. Gaussian: Pr[N(0, sigma^2) > 1/2] - delta/2, at least 0.
        """
        return max(float(self._above(self.budgets[:1], 0.5)[0]) - 0.5 * self.local_delta, 0.0)

    @property
    def victim_contrast(self) -> float:
        """1 - 2 p_1, in [0, 1], without the cancellation of the difference at a small budget.

        Laplace: 1 - e^{-epsilon_1/2}. Gaussian: Pr[|N(0, sigma^2)| < 1/2] + delta, at most 1.
        """
        if self.local_delta == 0.0:
            return -math.expm1(-0.5 * self.largest_budget)
        return min(math.erf(0.5 * self.largest_budget / (self._scale * math.sqrt(2))) + self.local_delta, 1.0)

    @cached_property
    def other_confusions(self) -> FloatArray:
        """p_i of all users but the victim, who hold 0, shape (n_users - 1,)."""
        victim, budgets = self.largest_budget, self.budgets[1:]
        tied = budgets >= victim * (1 - _TIE)
        if self.local_delta == 0.0:
            near, low, high = _laplace_edges(victim, budgets, tied)
        else:
            near, low, high = _gaussian_edges(self._scale / victim, self._scale / budgets, tied)
        near, high = np.where(tied, math.inf, near), np.where(tied, math.inf, high)
        first = 1 - self._above(budgets, np.minimum(near, 0.5)) - self._above(budgets, near)
        second = self._above(budgets, np.maximum(low, 0.5)) - self._above(budgets, np.maximum(high, 0.5))
        least = np.maximum(np.minimum(first, second) - 0.5 * self.local_delta, 0.0)
        return np.asarray(np.minimum(2 * least, 1.0))

    @cached_property
    def clones(self) -> PoissonBinomialLaw:
        """Law of the number of clones C; at most 200,000 users."""
        return PoissonBinomialLaw(self.other_confusions)


def _laplace_edges(victim: float, budgets: FloatArray, tied: BoolArray) -> _Edges:
    """Find where f_0 > g_i: |y| < near; and where f_1 > g_i, right of 1/2: low < y < high."""
    # log(victim/budgets), without cancellation when they are close
    log = np.log1p((victim - budgets) / budgets)
    gap = np.where(tied, 1.0, victim - budgets)
    # at 1 f_1 is the larger one, as the victim has the largest budget, and it stays so to the right until high
    return log / gap, (victim - log) / (victim + budgets), (victim + log) / gap


def _gaussian_edges(victim: float, deviations: FloatArray, tied: BoolArray) -> _Edges:
    """Find the edges of `_laplace_edges` for Gaussian densities: `victim` and `deviations` are standard deviations."""
    log = np.log1p((deviations - victim) / victim)
    precision = 1 / victim**2
    # A y^2 - 2 B y + C < 0 with B = precision
    a = (deviations - victim) * (deviations + victim) * precision / deviations**2
    c = precision - 2 * log
    root = np.sqrt(np.maximum(precision**2 - a * c, 0.0))
    safe = np.where(tied, 1.0, a)
    return np.sqrt(2 * log / safe), c / (precision + root), (precision + root) / safe


class BudgetBound(Bound):
    """A bound for users with budgets of their own.

    Parameters
    ----------
    users : PersonalizedUsers
        Budgets and mechanism; at most 200,000 users.
    """

    def __init__(self, users: PersonalizedUsers) -> None:
        self.users, self.ceiling, self.local_delta = users, users.largest_budget, users.local_delta

    @cached_property
    def clones(self) -> PoissonBinomialLaw:
        """Law of the number of clones."""
        return self.users.clones

    def _divergence(self, difference: float, log_ratio: float, epsilon: float, rtol: float) -> DeltaInterval:
        """Enclose the divergence of a pair of counts, with the error of the law of the clones added."""
        pair = CountPair(difference, log_ratio, self.clones)
        return self.clones.widened(hockey_stick(pair, epsilon, rtol))


class Theorem(BudgetBound):
    """Theorems 1 and 2 (kind: published); intervals are certified for that formula."""

    def interval(self, epsilon: float, rtol: float) -> DeltaInterval:
        """Enclose the delta of Theorem 2, s rounded up and epsilon' down."""
        weight = (1 - self.users.local_delta) * self.users.victim_contrast
        shifted = math.log1p(math.expm1(epsilon) / weight)
        if shifted * (1 + _ROUND) > LARGEST_EPSILON:
            allowed = f"so small that epsilon' = log(1 + (e^epsilon - 1)/{weight:.4g}), here {shifted:.4g}, is at most "
            raise ParameterError("epsilon", epsilon, f"{allowed}{LARGEST_EPSILON:g}")
        ends = self._divergence(1.0, math.inf, shifted * (1 - _ROUND), rtol)
        return DeltaInterval(*(min(weight * (1 + _ROUND) * end, 1.0) for end in ends))


class Reduction(BudgetBound):
    """The exact divergence of the pair (P, Q), with the victim's failure probability (kind: published)."""

    def interval(self, epsilon: float, rtol: float) -> DeltaInterval:
        """Enclose the delta of the pair."""
        confusion, contrast, fail = self.users.victim_confusion, self.users.victim_contrast, self.users.local_delta
        # from log_ratio on the divergence is 0; it is accurate, as p_1 and 1 - 2 p_1 both have all their digits
        log_ratio = math.log1p(contrast / confusion) if confusion > 0.0 else math.inf
        inside = ZERO
        if contrast > 0.0 and epsilon < log_ratio * (1 + _ROUND):
            inside = self._divergence(contrast, log_ratio, epsilon, rtol)
        return DeltaInterval(*(min(fail + (1 - fail) * end, 1.0) for end in inside))


def echo_probabilities(budgets: FloatArray) -> FloatArray:
    """Return p_i of all users, whose budgets descend, the victim's first (unused), shape (n_users,)."""
    share = -np.expm1(-budgets) / budgets
    # users with a larger budget contribute e^{-their own}, the others (and i itself) e^{-budget of i}
    larger = np.concatenate([[0.0], np.cumsum(share * np.exp(-budgets))[:-1]])
    smaller = np.cumsum(share[::-1])[::-1]
    return np.minimum((larger + np.exp(-budgets) * smaller) / (share * budgets.size), 1.0)


class Echo(BudgetBound):
    """The pair of counts with the clones of Liu et al. (kind: published); intervals are certified for the formula."""

    @cached_property
    def clones(self) -> PoissonBinomialLaw:
        """Law of the number of clones."""
        return PoissonBinomialLaw(echo_probabilities(self.users.budgets)[1:])

    def interval(self, epsilon: float, rtol: float) -> DeltaInterval:
        """Enclose the delta; 0 from the largest budget on."""
        if epsilon >= self.ceiling:
            return ZERO
        return self._divergence(math.tanh(0.5 * self.ceiling), self.ceiling, epsilon, rtol)


class Gaussian(Bound):
    """The exact delta of mu-GDP up to round-off, mu > 0 (kind: asymptotic); 0 from the ceiling on."""

    rtol = 1e-6

    def __init__(self, mu: float, ceiling: float = math.inf, local_delta: float = 0.0) -> None:
        self.mu, self.ceiling, self.local_delta = mu, ceiling, local_delta

    def interval(self, epsilon: float, rtol: float) -> DeltaInterval:
        """Enclose the delta, whatever width is asked."""
        if epsilon >= self.ceiling:
            return ZERO
        log = gaussian_log_delta(ratio=self.mu, epsilon=epsilon)
        if log < math.log(SMALLEST_DELTA):
            return DeltaInterval(0.0, SMALLEST_DELTA)
        return DeltaInterval(math.exp(log) * (1 - _MARGIN), min(math.exp(log) * (1 + _MARGIN), 1.0))


def gaussian_of_equals(*, local_epsilon: float, n_users: int) -> Gaussian:
    """Make the bound by Gaussian privacy for at least two users who all have the same budget."""
    check_local(local_epsilon)
    allowed = f"an integer in [2, {LARGEST_USERS:g}] (with one user the formula divides by zero)"
    check_integer("n_users", n_users, 2, allowed, most=LARGEST_USERS)
    return Gaussian(math.sqrt(2 * (1 + math.exp(local_epsilon)) / (n_users - 1)), local_epsilon)


def gaussian_of_users(users: PersonalizedUsers) -> Gaussian:
    """Make the approximate Gaussian guarantee of at least two users with budgets of their own."""
    if users.n_users < 2:
        raise ParameterError("local_epsilons", users.budgets.tolist(), "a list of at least two users' budgets")
    weights: FloatArray = (1 - users.local_delta) / (1 + np.exp(users.budgets))
    # the largest weight, that of the least budget, is left out, not subtracted: beside it the others may be lost
    return Gaussian(math.sqrt(2 / math.fsum(weights[:-1])), users.largest_budget, users.local_delta)


#: Bounds for users with budgets of their own, by the names of the accountants that give them for equal budgets.
PERSONAL: dict[str, Callable[[PersonalizedUsers], Bound]] = {
    "chen-cao-ge": gaussian_of_users,
    "personalized": Theorem,
    "personalized-reduction": Reduction,
    "liu-2023": Echo,
}


@lru_cache(maxsize=4)  # the law of the clones is costly, and the same at every epsilon
def _equal(bound: type[BudgetBound], *, local_epsilon: float, n_users: int) -> BudgetBound:
    """Make a bound for users who all have the same budget."""
    allowed = f"an integer in [1, {LARGEST_TRIALS}] for bounds with personal budgets"
    check_integer("n_users", n_users, 1, allowed, most=LARGEST_TRIALS)
    return bound(PersonalizedUsers(local_epsilons=np.full(n_users, local_epsilon)))


_PAPER = "Enhanced Privacy Bound for Shuffle Model with Personalized Privacy"
_AVERAGES = "refuted: it uses averages where the proof needs a ratio for every output"
ACCOUNTANTS = (
    Accountant(
        "chen-cao-ge",
        "asymptotic",
        "a central limit of the stronger clone's reduction, without an error term",
        "Chen, Cao, Ge 2024",
        order=60,
        part="local_epsilon",
        **of_bound(gaussian_of_equals),
    ),
    Accountant(
        "personalized",
        "published",
        _AVERAGES,
        f"{_PAPER}, Theorem 2",
        order=70,
        part="local_epsilon",
        asked=("laplace",),
        **of_bound(partial(_equal, Theorem)),
    ),
    Accountant(
        "personalized-reduction",
        "published",
        _AVERAGES,
        f"{_PAPER}, its pair of counts",
        order=71,
        part="local_epsilon",
        asked=(),
        **of_bound(partial(_equal, Reduction)),
    ),
    Accountant(
        "liu-2023",
        "published",
        "refuted as an upper bound (docs/referee.md)",
        "Liu, Zhao, Xiong, Liu, Chen 2023",
        order=72,
        part="local_epsilon",
        asked=(),
        **of_bound(partial(_equal, Echo)),
    ),
)
