"""Bounds for users with budgets of their own (`personalized`, `liu_2023`), as accountants of equal Laplace users."""

from __future__ import annotations

import numpy as np

from segshuffle.accounting.single_message.accountants.declared import (
    DASH_DOTTED,
    DOTTED,
    SOLID,
    Accountant,
    Mechanism,
    is_laplace,
    look,
    never,
)
from segshuffle.accounting.single_message.accountants.liu_2023 import liu_2023_epsilon
from segshuffle.accounting.single_message.personalized import ReductionPair
from segshuffle.accounting.single_message.personalized_confusion import PersonalizedUsers
from segshuffle.errors import ParameterError

#: A Poisson-binomial law of one entry per user is made.
LARGEST_PERSONALIZED_USERS = 200_000


def _users(mechanism: Mechanism, n_users: int) -> PersonalizedUsers:
    if not 1 <= n_users <= LARGEST_PERSONALIZED_USERS:
        raise ParameterError("n_users", n_users, f"in [1, {LARGEST_PERSONALIZED_USERS}] for the personalised bound")
    return PersonalizedUsers(local_epsilons=np.full(n_users, mechanism.local_epsilon), mechanism="laplace")


_PAPER = "Enhanced Privacy Bound for Shuffle Model with Personalized Privacy"
_AVERAGES = "refuted: its clone probabilities are averages where a pointwise ratio is needed"
ACCOUNTANTS = (
    Accountant(
        name="personalized",
        kind="published",
        status=_AVERAGES,
        source=f"{_PAPER}, Theorem 2",
        look=look("Personalised bound (published)", "indigo", "h", SOLID),
        order=70,
        applies=is_laplace,
        epsilon_of=lambda m, n, target: ReductionPair(_users(m, n)).theorem_epsilon(delta=target),
        delta_of=lambda m, n, level: ReductionPair(_users(m, n)).theorem_delta(epsilon=level),
    ),
    Accountant(
        name="personalized-reduction",
        kind="published",
        status=_AVERAGES,
        source=f"{_PAPER}, its pair of counts",
        look=look("Its reduction, exact (published)", "black", "d", DOTTED),
        order=71,
        applies=never,
        epsilon_of=lambda m, n, target: ReductionPair(_users(m, n)).reduction_epsilon(delta=target),
    ),
    Accountant(
        name="liu-2023",
        kind="published",
        status="refuted as an upper bound (docs/referee.md)",
        source="Liu, Zhao, Xiong, Liu, Chen 2023",
        look=look("Liu et al. 2023 (published)", "wine", "H", DASH_DOTTED),
        order=72,
        applies=never,
        epsilon_of=lambda m, n, target: liu_2023_epsilon(local_epsilons=_users(m, n).local_epsilons, delta=target),
    ),
)
