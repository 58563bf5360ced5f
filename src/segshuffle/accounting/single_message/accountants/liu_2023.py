r"""Liu, Zhao, Xiong, Liu, Chen 2023: clones from users with budgets of their own ("echoes of neighbours").

Source: "Echo of neighbors" (AAAI 2023), in the form evaluated by the code published with "Enhanced Privacy Bound for
Shuffle Model with Personalized Privacy" (whose text does not restate it): user i != 1 makes a clone with probability

    p_i = (1/n) sum_j (epsilon_i/(1 - e^{-epsilon_i})) ((1 - e^{-epsilon_j})/epsilon_j) e^{-max(epsilon_i, epsilon_j)},

and the victim, of the largest budget, tells the truth with odds e^{epsilon_1}. That code replaces the number of clones
by a normal variable; here it is the Poisson-binomial one. Kind: published.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from segshuffle.accounting.numerics.hockey_stick import CountPair, DeltaInterval, hockey_stick
from segshuffle.accounting.numerics.poisson_binomial import PoissonBinomialLaw
from segshuffle.accounting.numerics.ranges import check_epsilon
from segshuffle.accounting.single_message.personalized import BudgetBound, PersonalizedUsers
from segshuffle.arrays import FloatArray
from segshuffle.errors import ParameterError


def echo_probabilities(*, local_epsilons: ArrayLike) -> FloatArray:
    """Return p_i of all users in descending order of budget, the victim's first (unused), shape (n_users,)."""
    budgets = np.sort(np.asarray(local_epsilons, dtype=float))[::-1]
    if budgets.ndim != 1 or budgets.size == 0 or not (budgets[-1] > 0 and budgets[0] <= 50):
        raise ParameterError("local_epsilons", budgets.shape, "a list of budgets in (0, 50]")
    share = -np.expm1(-budgets) / budgets
    # users with a larger budget contribute e^{-their own}, the others (and i itself) e^{-budget of i}
    larger = np.concatenate([[0.0], np.cumsum(share * np.exp(-budgets))[:-1]])
    smaller = np.cumsum(share[::-1])[::-1]
    return np.asarray(np.minimum((larger + np.exp(-budgets) * smaller) / (share * budgets.size), 1.0))


class Echo(BudgetBound):
    """The pair of counts with these clones (kind: published); intervals are certified for the formula."""

    def __init__(self, users: PersonalizedUsers) -> None:
        super().__init__(users)
        self._clones = PoissonBinomialLaw(echo_probabilities(local_epsilons=users.budgets)[1:])

    def delta(self, *, epsilon: float, rtol: float = 1e-4) -> DeltaInterval:
        """Enclose the delta at epsilon in [0, 300]; 0 from the largest budget on."""
        check_epsilon(epsilon)
        if epsilon >= self.users.largest_budget:
            return DeltaInterval(0.0, 0.0)
        tails = 1 / (math.exp(self.users.largest_budget) + 1)
        found = hockey_stick(pair=CountPair(1 - tails, tails, self._clones), epsilon=epsilon, rtol=rtol)
        return self._clones.widened(found)
