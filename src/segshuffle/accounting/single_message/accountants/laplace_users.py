r"""Bounds for users with budgets of their own, as accountants of equal Laplace users; among them that of Liu et al.

Liu, Zhao, Xiong, Liu, Chen, "Echo of neighbors" (AAAI 2023), in the form evaluated by the code published with "Enhanced
Privacy Bound for Shuffle Model with Personalized Privacy" (whose text does not restate it): user i != 1 makes a clone
with probability

    p_i = (1/n) sum_j (epsilon_i/(1 - e^{-epsilon_i})) ((1 - e^{-epsilon_j})/epsilon_j) e^{-max(epsilon_i, epsilon_j)},

and the victim, of the largest budget, tells the truth with odds e^{epsilon_1}. That code replaces the number of clones
by a normal variable; here it is the Poisson-binomial one. Kind: published.
"""

import math
from collections.abc import Callable
from functools import cached_property, partial

import numpy as np

from segshuffle.accounting.numerics.hockey_stick import DeltaInterval
from segshuffle.accounting.numerics.poisson_binomial import PoissonBinomialLaw
from segshuffle.accounting.numerics.ranges import check_integer
from segshuffle.accounting.numerics.search import Bound
from segshuffle.accounting.single_message.accountants.chen_cao_ge import gaussian_of_users
from segshuffle.accounting.single_message.accountants.declared import Accountant, asks_bound, look, never
from segshuffle.accounting.single_message.personalized import BudgetBound, PersonalizedUsers, Reduction, Theorem
from segshuffle.arrays import FloatArray

#: A Poisson-binomial law of one entry per user is made.
LARGEST_PERSONALIZED_USERS = 200_000


def echo_probabilities(budgets: FloatArray) -> FloatArray:
    """Return p_i of all users, whose budgets descend, the victim's first (unused), shape (n_users,)."""
    share = -np.expm1(-budgets) / budgets
    # users with a larger budget contribute e^{-their own}, the others (and i itself) e^{-budget of i}
    larger = np.concatenate([[0.0], np.cumsum(share * np.exp(-budgets))[:-1]])
    smaller = np.cumsum(share[::-1])[::-1]
    return np.minimum((larger + np.exp(-budgets) * smaller) / (share * budgets.size), 1.0)


class Echo(BudgetBound):
    """The pair of counts with these clones (kind: published); intervals are certified for the formula."""

    @cached_property
    def clones(self) -> PoissonBinomialLaw:
        """Law of the number of clones."""
        return PoissonBinomialLaw(echo_probabilities(self.users.budgets)[1:])

    def interval(self, epsilon: float, rtol: float) -> DeltaInterval:
        """Enclose the delta; 0 from the largest budget on."""
        if epsilon >= self.ceiling:
            return DeltaInterval(0.0, 0.0)
        return self._divergence(math.tanh(0.5 * self.ceiling), self.ceiling, epsilon, rtol)


#: Bounds for users with budgets of their own, by the names of the accountants that they are where budgets are equal.
PERSONAL: dict[str, Callable[[PersonalizedUsers], Bound]] = {
    "chen-cao-ge": gaussian_of_users,
    "personalized": Theorem,
    "personalized-reduction": Reduction,
    "liu-2023": Echo,
}


def _equal(bound: type[BudgetBound], *, local_epsilon: float, n_users: int) -> BudgetBound:
    """Make a bound for users who all have the same budget."""
    allowed = f"in [1, {LARGEST_PERSONALIZED_USERS}] for the personalised bound"
    check_integer("n_users", n_users, 1, allowed, most=LARGEST_PERSONALIZED_USERS)
    return bound(PersonalizedUsers(local_epsilons=np.full(n_users, local_epsilon), mechanism="laplace"))


_PAPER = "Enhanced Privacy Bound for Shuffle Model with Personalized Privacy"
_AVERAGES = "refuted: its clone probabilities are averages where a pointwise ratio is needed"
ACCOUNTANTS = (
    Accountant(
        "personalized",
        "published",
        _AVERAGES,
        f"{_PAPER}, Theorem 2",
        look("Personalised bound (published)", "indigo", "h", "solid"),
        order=70,
        **asks_bound("local_epsilon", partial(_equal, Theorem), applies=lambda m: m.name == "laplace"),
    ),
    Accountant(
        "personalized-reduction",
        "published",
        _AVERAGES,
        f"{_PAPER}, its pair of counts",
        look("Its reduction, exact (published)", "black", "d", "dotted"),
        order=71,
        **asks_bound("local_epsilon", partial(_equal, Reduction), applies=never),
    ),
    Accountant(
        "liu-2023",
        "published",
        "refuted as an upper bound (docs/referee.md)",
        "Liu, Zhao, Xiong, Liu, Chen 2023",
        look("Liu et al. 2023 (published)", "wine", "H", "dash-dotted"),
        order=72,
        **asks_bound("local_epsilon", partial(_equal, Echo), applies=never),
    ),
)
