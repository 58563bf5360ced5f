r"""The clone bounds: any randomizer with local guarantee epsilon_0, known by nothing else.

Standard clone (Feldman, McMillan, Talwar, "Hiding among the clones", FOCS 2021; stated as Theorem 1 of
"Decomposition-Based Optimal Bounds for Privacy Amplification via Shuffling"): the pair

    C ~ Binomial(n - 1, e^{-epsilon_0}), A ~ Binomial(C, 1/2), D ~ Bernoulli(e^{epsilon_0}/(e^{epsilon_0} + 1)),
    P = (A + D, C - A + 1 - D),  Q = (A + 1 - D, C - A + D).

Kind: proven upper bound for every epsilon_0-LDP randomizer.

Stronger clone (the same authors, SODA 2023, as published): the same pair with C ~ Binomial(n - 1, 2/(e^epsilon_0 + 1)).
Kind: published. Its general statement rests on a reduction that mixes the victim's left-over with the others' (section
3.3 of the paper above). For binary randomized response nothing is left over on the victim's side and the pair *is* the
blanket reduction (gamma = 2/(e^epsilon_0 + 1), a uniform bit): there the number is a proven upper bound. For other
randomizers neither a proof nor a counterexample of the *general* statement is known here; the randomizer-specific
versions of it (variation ratio) do have counterexamples.
"""

from __future__ import annotations

import math

from segshuffle.accounting.numerics.hockey_stick import CountPair, DeltaInterval, hockey_stick
from segshuffle.accounting.numerics.laws import BinomialLaw
from segshuffle.accounting.numerics.ranges import (
    check_epsilon,
    check_local,
    check_target,
    check_users,
)
from segshuffle.accounting.numerics.search import least_epsilon
from segshuffle.accounting.single_message.accountants.declared import (
    DASHED,
    LONG,
    MIXED,
    SHORT,
    Accountant,
    always,
    by_epsilon,
    by_epsilon_delta,
    look,
)
from segshuffle.errors import ParameterError

_NUDGE = 1e-15
"""Relative error allowed for a probability computed from the local epsilon."""
#: Relative accuracy in delta.
RTOL = 1e-4


def standard_clone(local_epsilon: float) -> float:
    """Probability that another user's message is a standard clone."""
    return math.exp(-local_epsilon)


def stronger_clone(local_epsilon: float) -> float:
    """Probability that another user's message is a stronger clone."""
    return 2 / (math.exp(local_epsilon) + 1)


def standard_clone_delta(*, local_epsilon: float, n_users: int, epsilon: float, rtol: float = RTOL) -> DeltaInterval:
    """Delta of the standard clone pair: a proven upper bound for every randomizer with this local epsilon.

    Parameters
    ----------
    local_epsilon : float
        Local guarantee epsilon_0, in [1e-6, 50].
    n_users : int
        Number of users, the victim included, in [1, 1e15].
    epsilon : float
        In [0, 300].
    rtol : float
        Relative width asked of the interval, in (0, 1).

    Returns
    -------
    DeltaInterval
        Encloses the divergence of the pair, rounding of its parameters included; `upper` is the guarantee. 0 from the
        local epsilon on. Values below 1e-290 come back as [0, 1e-290].

    Raises
    ------
    ParameterError
        If a parameter is outside its range.
    """
    check_local(local_epsilon)
    return _delta(local_epsilon, standard_clone(local_epsilon), n_users, epsilon, rtol)


def standard_clone_epsilon(*, local_epsilon: float, n_users: int, delta: float) -> float:
    """Least epsilon that the standard clone pair proves at `delta`, rounded up; at most the local epsilon.

    Parameters
    ----------
    local_epsilon, n_users
        As for `standard_clone_delta`.
    delta : float
        In [1e-280, 1).
    """
    check_local(local_epsilon)
    return _epsilon(local_epsilon, standard_clone(local_epsilon), n_users, delta)


def standard_clone_closed_form(*, local_epsilon: float, n_users: int, delta: float) -> float:
    """Closed form of the standard clone bound (Feldman et al. 2021, Theorem III.1): a proven epsilon at `delta`.

    log(1 + tanh(epsilon_0/2) (8 sqrt(e^{epsilon_0} log(4/delta)/n) + 8 e^{epsilon_0}/n)).

    Raises
    ------
    ParameterError
        Unless local_epsilon <= log(n/(16 log(2/delta))), the condition of the theorem.
    """
    check_local(local_epsilon)
    check_users(n_users)
    check_target(delta)
    room = n_users / (16 * math.log(2 / delta))
    if room <= 1 or local_epsilon > math.log(room):
        allowed = (
            f"at most log(n/(16 log(2/delta))) = {math.log(room):.4g} for the closed form; the numerical bound has no "
            "such condition"
        )
        raise ParameterError("local_epsilon", local_epsilon, allowed)
    growth = math.exp(local_epsilon) / n_users
    gain = math.tanh(0.5 * local_epsilon) * (8 * math.sqrt(growth * math.log(4 / delta)) + 8 * growth)
    return min(math.log1p(gain) * (1 + 16 * _NUDGE), local_epsilon)


def stronger_clone_delta(*, local_epsilon: float, n_users: int, epsilon: float, rtol: float = RTOL) -> DeltaInterval:
    """Delta of the stronger clone pair as published (kind: published; proven for binary randomized response only).

    Parameters
    ----------
    local_epsilon, n_users, epsilon, rtol
        As for `standard_clone_delta`.

    Returns
    -------
    DeltaInterval
        Encloses the divergence of the published pair.
    """
    check_local(local_epsilon)
    return _delta(local_epsilon, stronger_clone(local_epsilon), n_users, epsilon, rtol)


def stronger_clone_epsilon(*, local_epsilon: float, n_users: int, delta: float) -> float:
    """Least epsilon that the stronger clone pair claims at `delta` (kind: published), rounded up."""
    check_local(local_epsilon)
    return _epsilon(local_epsilon, stronger_clone(local_epsilon), n_users, delta)


def _delta(local_epsilon: float, clone: float, n_users: int, epsilon: float, rtol: float) -> DeltaInterval:
    check_users(n_users)
    check_epsilon(epsilon)
    if epsilon >= local_epsilon:
        return DeltaInterval(0.0, 0.0)
    upper = upper_delta(local_epsilon, clone, n_users, epsilon, rtol)
    lower = hockey_stick(pair=_pair(local_epsilon, clone, n_users, -1), epsilon=epsilon, rtol=rtol).lower
    return DeltaInterval(min(lower, upper), upper)


def upper_delta(local_epsilon: float, clone: float, n_users: int, epsilon: float, rtol: float) -> float:
    """Upper end of the delta of a clone pair with that clone probability, for epsilons below the local one."""
    return hockey_stick(pair=_pair(local_epsilon, clone, n_users, 1), epsilon=epsilon, rtol=rtol).upper


def _pair(local_epsilon: float, clone: float, n_users: int, side: int) -> CountPair:
    """The pair with its parameters rounded against privacy (side = 1) or for it (-1).

    The divergence falls in the clone probability (data processing) and grows in the victim's contrast (joint
    convexity).
    """
    tails = min(1 / (math.exp(local_epsilon) + 1) * (1 - side * _NUDGE), 0.5)
    return CountPair(1.0 - tails, tails, BinomialLaw(n_users - 1, min(clone * (1 - side * _NUDGE), 1.0)))


def _epsilon(local_epsilon: float, clone: float, n_users: int, delta: float) -> float:
    check_users(n_users)
    check_target(delta)

    return least_epsilon(
        bound=lambda epsilon, width: upper_delta(local_epsilon, clone, n_users, epsilon, width),
        ceiling=local_epsilon,
        delta=delta,
        rtol=RTOL,
    )


_FIRST = "Feldman, McMillan, Talwar 2021"
ACCOUNTANTS = (
    Accountant(
        name="standard-clone",
        kind="upper",
        status="proven",
        source=_FIRST,
        look=look("Standard clone (proven)", "orange", "s", DASHED),
        order=30,
        applies=always,
        epsilon_of=by_epsilon(standard_clone_epsilon),
        delta_of=by_epsilon_delta(standard_clone_delta),
    ),
    Accountant(
        name="standard-clone-closed-form",
        kind="upper",
        status="proven",
        source=_FIRST,
        look=look("Standard clone, closed form (proven)", "orange", "8", LONG),
        order=31,
        applies=always,
        epsilon_of=by_epsilon(standard_clone_closed_form),
    ),
    Accountant(
        name="stronger-clone",
        kind="published",
        status=MIXED,
        source="Feldman, McMillan, Talwar 2023",
        look=look("Stronger clone (published)", "purple", "v", SHORT),
        order=32,
        applies=always,
        epsilon_of=by_epsilon(stronger_clone_epsilon),
        delta_of=by_epsilon_delta(stronger_clone_delta),
        proven_for_binary=True,
    ),
)
