"""Bounds for users with budgets of their own (`personalized`, `liu_2023`), as accountants of equal Laplace users."""

from __future__ import annotations

import numpy as np

from segshuffle.accounting.single_message.accountants.chen_cao_ge import Gaussian
from segshuffle.accounting.single_message.accountants.declared import (
    DASH_DOTTED,
    DOTTED,
    SOLID,
    Accountant,
    Mechanism,
    look,
    never,
)
from segshuffle.accounting.single_message.accountants.liu_2023 import Echo
from segshuffle.accounting.single_message.personalized import BudgetBound, PersonalizedUsers, Reduction, Theorem
from segshuffle.errors import ParameterError
from segshuffle.looks import Look

#: A Poisson-binomial law of one entry per user is made.
LARGEST_PERSONALIZED_USERS = 200_000


#: Bounds for users with budgets of their own, by the names of the accountants that they are where budgets are equal.
PERSONAL: dict[str, type[BudgetBound]] = {
    "chen-cao-ge": Gaussian,
    "personalized": Theorem,
    "personalized-reduction": Reduction,
    "liu-2023": Echo,
}


def _equal(name: str, mechanism: Mechanism, n_users: int) -> BudgetBound:
    if not 1 <= n_users <= LARGEST_PERSONALIZED_USERS:
        raise ParameterError("n_users", n_users, f"in [1, {LARGEST_PERSONALIZED_USERS}] for the personalised bound")
    budgets = np.full(n_users, mechanism.local_epsilon)
    return PERSONAL[name](PersonalizedUsers(local_epsilons=budgets, mechanism="laplace"))


def _declared(name: str, order: int, status: str, source: str, drawn: Look, *, asked: bool = False) -> Accountant:
    return Accountant(
        name=name,
        kind="published",
        status=status,
        source=source,
        look=drawn,
        order=order,
        applies=(lambda m: m.name == "laplace") if asked else never,
        epsilon_of=lambda m, n, target: _equal(name, m, n).epsilon(delta=target),
        delta_of=lambda m, n, level: _equal(name, m, n).delta(epsilon=level),
    )


_PAPER = "Enhanced Privacy Bound for Shuffle Model with Personalized Privacy"
_AVERAGES = "refuted: its clone probabilities are averages where a pointwise ratio is needed"
ACCOUNTANTS = (
    _declared(
        "personalized",
        70,
        _AVERAGES,
        f"{_PAPER}, Theorem 2",
        look("Personalised bound (published)", "indigo", "h", SOLID),
        asked=True,
    ),
    _declared(
        "personalized-reduction",
        71,
        _AVERAGES,
        f"{_PAPER}, its pair of counts",
        look("Its reduction, exact (published)", "black", "d", DOTTED),
    ),
    _declared(
        "liu-2023",
        72,
        "refuted as an upper bound (docs/referee.md)",
        "Liu, Zhao, Xiong, Liu, Chen 2023",
        look("Liu et al. 2023 (published)", "wine", "H", DASH_DOTTED),
    ),
)
