"""Settings of the experiments with personal budgets: the paper's Table 1, Figure 4 and Table 2.

Source: "Enhanced Privacy Bound for Shuffle Model with Personalized Privacy". A budget is a local epsilon. The numbers
of Table 1 are not in our copy of the paper. They are read from the code published with it. Budgets are uniform on
[low, high], or normal with mean 3/4 high and deviation 1/2, clipped to [low, high]. The ranges are [0.05, 1] and
[0.5, 2]. The local delta is 1e-10. Figure 4 has n from 1e3 to 1e5, at 20 points evenly spaced in log n, and
delta = 1e-5. Table 2 has n = 1e4, Uniform2 and epsilon = 0.01, 0.03, 0.05, 0.08, 0.1. That code draws the budgets at
random; here user i of n has the quantile at (i - 1/2)/n, so that nothing is random.
"""

from dataclasses import dataclass
from typing import get_args

import numpy as np
from scipy import special

from segshuffle.accounting.single_message.accountants import ACCOUNTANTS, Kind
from segshuffle.accounting.single_message.accountants.blanket_tails import Inequality, TailBound
from segshuffle.accounting.single_message.accountants.clones import Clone, CloneBound
from segshuffle.accounting.single_message.accountants.personalized import PERSONAL, PersonalizedUsers
from segshuffle.accounting.single_message.randomizers.laplace import Laplace
from segshuffle.arrays import FloatArray
from segshuffle.numerics.search import Bound


@dataclass(frozen=True, kw_only=True)
class BudgetSetting:
    """A distribution of privacy budgets.

    Parameters
    ----------
    low, high : float
        Range of the budgets, 0 < low < high.
    normal : bool
        Whether the law is normal, with mean 3/4 high and deviation 1/2, clipped to the range; otherwise it is uniform.
    """

    low: float
    high: float
    normal: bool = False

    def budgets(self, n_users: int) -> FloatArray:
        """Return quantiles at (i - 1/2)/n, ascending, shape (n_users,)."""
        level = (np.arange(n_users) + 0.5) / n_users
        if not self.normal:
            return self.low + (self.high - self.low) * level
        return np.clip(0.75 * self.high + 0.5 * special.ndtri(level), self.low, self.high)


#: By their names in the paper's Table 1.
SETTINGS: dict[str, BudgetSetting] = {
    "Uniform1": BudgetSetting(low=0.05, high=1.0),
    "Gauss1": BudgetSetting(low=0.05, high=1.0, normal=True),
    "Uniform2": BudgetSetting(low=0.5, high=2.0),
    "Gauss2": BudgetSetting(low=0.5, high=2.0, normal=True),
}
FIGURE_DELTA = 1e-5
#: Failure probability of the approximate mechanisms.
LOCAL_DELTA = 1e-10
FIGURE_USERS: tuple[int, ...] = tuple(int(n) for n in np.geomspace(1000, 100_000, num=20))
TABLE_USERS = 10_000
TABLE_EPSILONS = (0.01, 0.03, 0.05, 0.08, 0.1)

#: A bound with its name and kind.
NamedBound = tuple[str, Kind, Bound]


def bounds_of(users: PersonalizedUsers) -> list[NamedBound]:
    """Make all bounds that apply to the users; bounds for equal budgets use the largest one."""

    def personal(*names: str) -> list[NamedBound]:
        return [(name, ACCOUNTANTS[name].kind, PERSONAL[name](users)) for name in names]

    bounds = personal("personalized", "personalized-reduction", "chen-cao-ge")
    top, n_users, laplace = users.largest_budget, users.n_users, users.local_delta == 0.0
    # blankets and clones are those of the largest budget: a guarantee only if all users have it
    for inequality in get_args(Inequality) if laplace else ():
        bound = TailBound(inequality=inequality, n_users=n_users, randomizer=Laplace(local_epsilon=top))
        bounds.append((inequality, "published", bound))
    for clone in get_args(Clone):
        pair = CloneBound(local_epsilon=top, n_users=n_users, clone=clone, local_delta=users.local_delta)
        bounds.append((f"{clone}-clone", "published", pair))
    return bounds + personal("liu-2023") if laplace else bounds
