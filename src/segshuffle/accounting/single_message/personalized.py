r"""The personalised shuffle bound: as published, and the exact divergence of the reduction behind it.

Source: "Enhanced Privacy Bound for Shuffle Model with Personalized Privacy", section 3.3. User i >= 2 makes a clone of
the victim's output with probability p_i, of either of the two inputs with equal probability (`personalized_confusion`):

    C ~ Poisson-binomial(p_2, ..., p_n),  A ~ Binomial(C, 1/2),  P_0 = (A + 1, C - A),  Q_0 = (A, C - A + 1),
    P = (1 - p_1) P_0 + p_1 Q_0,  Q = p_1 P_0 + (1 - p_1) Q_0.

Two numbers are offered, both of kind "published":

* `reduction_*`: the exact divergence of (P, Q), plus the victim's failure probability, delta_1 + (1 - delta_1) D.
* `theorem_*`: Theorems 1 and 2, whose formulas are not in our copy; read as the published code evaluates them. The
  trade-off function of P_0 and Q_0 given C is mixed with the identity, 2 p_1 Id + (1 - 2 p_1) f_0, and the failure
  probability is mixed into the identity, too. The conjugate of that function is

      delta = s D_{e^{eps'}}(P_0 || Q_0),  s = (1 - delta_1)(1 - 2 p_1),  e^{eps'} = 1 + (e^eps - 1)/s,

  which is never below the exact divergence of (P, Q) with delta_1 = 0, and lacks an additive delta_1. The published
  code puts Binomial(n, mean/n) in the place of C; here the law of C is the one that the paper names.

Status: not sound. The clone argument needs a pointwise ratio of densities; p_1 and p_i are averages. What exactly
fails:

* one Laplace user: the reduction claims (log(2 e^{epsilon_1/2} - 1), 0)-DP, less than the epsilon_1 that the mechanism
  has;
* every n: it claims delta = 0 from that epsilon on, while the reports that all fall left of the range have probability
  at least (e^{-epsilon_1}/2)^n and ratio e^{epsilon_1};
* many users: both numbers lie below proven lower bounds, e.g. 1000 Laplace users with budget 4 at delta = 1e-5, all
  others at 0: Theorem 2 claims epsilon = 0.568, the true one is above 0.857 (the tests hold these numbers).

What is not shown: in the paper's own settings (budgets spread over a range) the datasets tried here, all others at 0,
need less than Theorem 2 claims, so they do not refute it there; nor is it proven there.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from segshuffle.accounting.numerics.hockey_stick import (
    CountPair,
    DeltaInterval,
    hockey_stick,
)
from segshuffle.accounting.numerics.poisson_binomial import PoissonBinomialLaw
from segshuffle.accounting.numerics.ranges import LARGEST_EPSILON, check_epsilon, check_target
from segshuffle.accounting.numerics.search import least_epsilon
from segshuffle.accounting.single_message.personalized_confusion import PersonalizedUsers
from segshuffle.accounting.single_message.ratio_pair import ratio_pair
from segshuffle.errors import ParameterError

_ROUND = 1e-14
"""Relative margin for the factor s and the shifted epsilon."""
#: Relative accuracy in delta.
_RTOL = 1e-4


class ReductionPair:
    """The law of C and p_1 of a group of users: made once, asked for many epsilons.

    Parameters
    ----------
    users : PersonalizedUsers
        Budgets and mechanism; at most 200,000 users.
    """

    def __init__(self, users: PersonalizedUsers) -> None:
        self.users = users
        self.confusion = users.victim_confusion()
        self.contrast = users.victim_contrast()
        self.clones = PoissonBinomialLaw(users.other_confusions())

    def theorem_delta(self, *, epsilon: float, rtol: float = _RTOL) -> DeltaInterval:
        """Delta of Theorem 2 (kind: published) at epsilon in [0, 300]; the interval is certified for that formula."""
        check_epsilon(epsilon)
        weight = (1 - self.users.local_delta) * self.contrast
        shifted = math.log1p(math.expm1(epsilon) / weight)
        if shifted * (1 + _ROUND) > LARGEST_EPSILON:
            raise ParameterError("epsilon", epsilon, f"so small that epsilon' = {shifted:.4g} is at most 300")
        pair = CountPair(1.0, 0.0, self.clones)
        upper = self._divergence(pair, max(shifted * (1 - _ROUND), 0.0), rtol).upper
        lower = self._divergence(pair, shifted * (1 + _ROUND), rtol).lower
        return DeltaInterval(weight * (1 - _ROUND) * min(lower, upper), min(weight * (1 + _ROUND) * upper, 1.0))

    def reduction_delta(self, *, epsilon: float, rtol: float = _RTOL) -> DeltaInterval:
        """Delta of the pair (P, Q) (kind: published) at epsilon in [0, 300], with the victim's failure probability."""
        check_epsilon(epsilon)
        inside = DeltaInterval(0.0, 0.0)
        if self.contrast > 0.0 and epsilon < self._log_ratio * (1 + _ROUND):
            pair = ratio_pair(log_ratio=self._log_ratio, difference=self.contrast, blanket=self.clones)
            inside = self._divergence(pair, epsilon, rtol)
        fail = self.users.local_delta
        return DeltaInterval(*(min(fail + (1 - fail) * end, 1.0) for end in inside))

    def theorem_epsilon(self, *, delta: float) -> float:
        """Least epsilon that Theorem 2 claims at `delta` (kind: published), rounded up."""
        return self._epsilon(lambda e, width: self.theorem_delta(epsilon=e, rtol=width).upper, delta)

    def reduction_epsilon(self, *, delta: float) -> float:
        """Least epsilon that the pair (P, Q) has at `delta` (kind: published), rounded up.

        Raises
        ------
        ParameterError
            If delta is not above the victim's failure probability, which no epsilon removes.
        """
        fail = self.users.local_delta
        if 0 < delta <= fail:
            raise ParameterError("delta", delta, f"above local_delta = {fail:g}, which no epsilon removes")
        return self._epsilon(lambda e, width: self.reduction_delta(epsilon=e, rtol=width).upper, delta)

    @property
    def _log_ratio(self) -> float:
        """log((1 - p_1)/p_1), from which on the divergence is 0."""
        # p_1 and 1 - 2 p_1 both have all their digits: this holds near either end
        return math.log1p(self.contrast / self.confusion) if self.confusion > 0.0 else math.inf

    def _divergence(self, pair: CountPair, epsilon: float, rtol: float) -> DeltaInterval:
        """Divergence of a pair of counts, with the law's own error added."""
        return self.clones.widened(hockey_stick(pair=pair, epsilon=epsilon, rtol=rtol))

    def _epsilon(self, bound: Callable[[float, float], float], delta: float) -> float:
        check_target(delta)
        # the largest budget is a guarantee without shuffling, whatever the bound says
        ceiling = self.users.largest_budget
        if delta < self.users.local_delta:
            raise ParameterError("delta", delta, f"at least local_delta = {self.users.local_delta:g}")
        return least_epsilon(bound=bound, ceiling=ceiling, delta=delta, rtol=_RTOL)
