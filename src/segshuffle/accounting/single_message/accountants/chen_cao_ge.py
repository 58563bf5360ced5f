r"""Chen, Cao and Ge: shuffled personalised reports as approximate Gaussian differential privacy.

Source: "A generalized shuffle framework for privacy amplification" (AAAI 2024): the shuffled reports of users with
(epsilon_i, delta_i) "approximately preserve" mu-GDP with

    mu^2 = 2/(sum_i w_i - max_i w_i),   w_i = (1 - delta_i)/(1 + e^{epsilon_i}).

Kind: asymptotic. It is a central-limit statement without an error term, and its clone counts come from the stronger
clone, whose reduction is flawed (section 3.3 of "Decomposition-Based Optimal Bounds for Privacy Amplification via
Shuffling" names it). No number from here is a guarantee at finite n. The conversion of mu-GDP to (epsilon, delta) is
exact.

The code published with "Enhanced Privacy Bound for Shuffle Model with Personalized Privacy" draws this baseline with
2/(1 + e^{epsilon_i}) in the sum and w_1 subtracted; its mu is about sqrt(2) smaller than the formula above.
"""

import math

from segshuffle.accounting.numerics.gaussian import gaussian_log_delta
from segshuffle.accounting.numerics.hockey_stick import SMALLEST_DELTA, ZERO, DeltaInterval
from segshuffle.accounting.numerics.ranges import LARGEST_USERS, check_integer, check_local
from segshuffle.accounting.numerics.search import Bound
from segshuffle.accounting.single_message.accountants.declared import Accountant, look, of_bound

_MARGIN = 1e-9
"""Relative margin on delta: what `gaussian_log_delta` is held to."""


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
    """Make the guarantee of at least two users who all have the same budget (other users: `personalized`)."""
    check_local(local_epsilon)
    allowed = f"an integer in [2, {LARGEST_USERS:g}] (with one user the formula divides by zero)"
    check_integer("n_users", n_users, 2, allowed, most=LARGEST_USERS)
    return Gaussian(math.sqrt(2 * (1 + math.exp(local_epsilon)) / (n_users - 1)), local_epsilon)


ACCOUNTANTS = (
    Accountant(
        "chen-cao-ge",
        "asymptotic",
        "a central limit theorem for the stronger clone's reduction, without an error term",
        "Chen, Cao, Ge 2024",
        look("Chen, Cao, Ge (asymptotic)", "teal", "p", "dashed"),
        order=60,
        part="local_epsilon",
        **of_bound(gaussian_of_equals),
    ),
)
