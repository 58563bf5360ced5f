"""The personalised paper: the points of its Figure 4, and the rows of its Table 2.

No bound here is a guarantee for users with their own budgets. Baselines without personal budgets assume that all users
have the largest one.
"""

from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np

from segshuffle.accounting.single_message import personalized_settings as personal
from segshuffle.accounting.single_message.accountants import ACCOUNTANTS
from segshuffle.accounting.single_message.accountants.personalized import PERSONAL, PersonalizedUsers
from segshuffle.reproduction.studies.amplification.points import Row, tidy


def _personal_rows(noise: str, name: str, n_users: int, epsilons: Sequence[float] = ()) -> Iterator[Row]:
    """Tabulate every bound of a setting: delta over these epsilons, or epsilon at the figure's delta over n."""
    setting = personal.SETTINGS[name]
    kind, fail = ("pure (Laplace)", 0.0) if noise == "laplace" else ("approximate (Gauss)", personal.LOCAL_DELTA)
    x, y = ("epsilon", "delta") if epsilons else ("n_users", "epsilon")
    users = PersonalizedUsers(local_epsilons=setting.budgets(n_users), local_delta=fail)
    for bound_name, bound_kind, bound in personal.bounds_of(users):
        own = bound_name in PERSONAL
        # what depends on the largest budget alone is nearly equal in both settings of a panel
        if not own and name.startswith("Gauss"):
            continue
        accountant = ACCOUNTANTS[bound_name]
        pairs = [(epsilon, bound.delta(epsilon=epsilon).upper) for epsilon in epsilons]
        for epsilon, delta in pairs or [(bound.epsilon(delta=personal.FIGURE_DELTA), personal.FIGURE_DELTA)]:
            known = {"n_users": n_users, "delta": delta, "epsilon": epsilon, "mechanism": noise, "setting": name}
            yield tidy(
                panel=f"{kind}, $\\varepsilon_i \\in [{setting.low:g}, {setting.high:g}]$",
                curve=name if own else "largest budget",
                accountant=bound_name,
                kind=bound_kind,
                status=accountant.status if bound_kind == accountant.kind else "not proven for these users",
                x_name=x,
                x=known[x],
                y_name=y,
                y=known[y],
                parameters=known,
            )


def personal_epsilons(points: int) -> Iterator[Row]:
    """Tabulate Figure 4: epsilon at delta = 1e-5 over n, for `points` of the paper's 20 numbers of users."""
    every = personal.FIGURE_USERS
    chosen = np.unique(np.linspace(0, len(every) - 1, points).round().astype(int))
    for size, noise, law, place in product("12", ("laplace", "gaussian"), ("Uniform", "Gauss"), chosen):
        yield from _personal_rows(noise, law + size, every[place])


def personal_deltas(points: int) -> Iterator[Row]:
    """Tabulate Table 2: delta at five epsilons; Gauss mechanism, Uniform2, n = 1e4."""
    return _personal_rows("gaussian", "Uniform2", personal.TABLE_USERS, personal.TABLE_EPSILONS)
