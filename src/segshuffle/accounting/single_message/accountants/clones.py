r"""The clone bounds: for any randomizer, from its local guarantee epsilon_0 alone.

Standard clone (Feldman, McMillan, Talwar, "Hiding among the clones", FOCS 2021; stated as Theorem 1 of
"Decomposition-Based Optimal Bounds for Privacy Amplification via Shuffling"): the pair

    C ~ Binomial(n - 1, e^{-epsilon_0}), A ~ Binomial(C, 1/2), D ~ Bernoulli(e^{epsilon_0}/(e^{epsilon_0} + 1)),
    P = (A + D, C - A + 1 - D),  Q = (A + 1 - D, C - A + D).

Kind: proven upper bound for every epsilon_0-LDP randomizer.

Stronger clone (the same authors, SODA 2023, as published): the same pair with C ~ Binomial(n - 1, 2/(e^epsilon_0 + 1)).
Kind: published. Its general statement rests on a reduction that mixes the left-over of the victim (what it sends for
both inputs alike) with that of the others (section 3.3 of the paper that states Theorem 1). For binary randomized
response nothing is left over on the victim's side and the pair *is* the blanket reduction (gamma = 2/(e^epsilon_0 + 1),
a uniform bit): there the number is a proven upper bound. For other randomizers we know neither a proof nor a
counterexample of the *general* statement; its randomizer-specific versions (variation ratio) do have counterexamples.

Approximate local privacy, (epsilon_0, delta_0) per user, adds (e^eps + 1)(1 + e^{-epsilon_0}/2) n delta_0 to delta (the
same papers).
"""

import math
from functools import partial
from typing import Literal

from segshuffle.accounting.single_message.accountants.interface import MIXED, Accountant, of_bound
from segshuffle.errors import ParameterError
from segshuffle.numerics.hockey_stick import CountPair, hockey_stick
from segshuffle.numerics.intervals import ZERO, DeltaInterval
from segshuffle.numerics.laws import BinomialLaw
from segshuffle.numerics.ranges import check_local, check_target, check_users, check_within
from segshuffle.numerics.search import Bound

Clone = Literal["standard", "stronger"]
#: Relative error allowed for a probability computed from the local epsilon, and for the failures of all users.
_NUDGE, _ROUND = 1e-15, 1e-14


class CloneBound(Bound):
    """The divergence of a clone pair, and the failures of all users.

    Parameters
    ----------
    local_epsilon : float
        Local guarantee epsilon_0, in [1e-6, 50].
    n_users : int
        Number of users, the victim included, in [1, 1e15].
    clone : {"standard", "stronger"}
        Which pair. "standard" is of kind upper; "stronger" is published, and proven for binary randomized response.
    local_delta : float
        For approximate local privacy (epsilon_0, delta_0) per user, in [0, 1); 0 for pure.

    Raises
    ------
    ParameterError
        If a parameter is outside its range.
    """

    def __init__(
        self, *, local_epsilon: float, n_users: int, clone: Clone = "standard", local_delta: float = 0.0
    ) -> None:
        check_local(local_epsilon)
        check_within("local_delta", local_delta, 0, 1, "[)")
        check_users(n_users)
        self.ceiling, self.local_delta, self.n_users = local_epsilon, local_delta, n_users
        share = math.exp(-local_epsilon) if clone == "standard" else 2 / (math.exp(local_epsilon) + 1)
        # the divergence falls in the clone probability (data processing), which is rounded down
        clones = BinomialLaw(n_users - 1, share * (1 - _NUDGE))
        self.pair = CountPair(math.tanh(0.5 * local_epsilon), local_epsilon, clones)

    def interval(self, epsilon: float, rtol: float) -> DeltaInterval:
        """Enclose the divergence, 0 from epsilon_0 on, and the failures, which grow with epsilon."""
        divergence = hockey_stick(self.pair, epsilon, rtol) if epsilon < self.ceiling else ZERO
        failure = (math.exp(epsilon) + 1) * (1 + 0.5 * math.exp(-self.ceiling)) * self.n_users * self.local_delta
        return DeltaInterval(
            min(divergence.lower + failure * (1 - _ROUND), 1.0), min(divergence.upper + failure * (1 + _ROUND), 1.0)
        )


def standard_clone_closed_form(*, local_epsilon: float, n_users: int, delta: float) -> float:
    """Return the closed form of the standard clone bound (Feldman et al. 2021, Theorem III.1), a proven epsilon.

    log(1 + tanh(epsilon_0/2) (8 sqrt(e^{epsilon_0} log(4/delta)/n) + 8 e^{epsilon_0}/n)).

    Raises
    ------
    ParameterError
        Unless local_epsilon <= log(n/(16 log(2/delta))), the condition of the theorem.
    """
    check_local(local_epsilon)
    check_users(n_users)
    check_target(delta)
    room = math.log(n_users / (16 * math.log(2 / delta)))
    if local_epsilon > room:
        allowed = f"at most log(n/(16 log(2/delta))) = {room:.4g} for the closed form; the numerical bound has no "
        raise ParameterError("local_epsilon", local_epsilon, allowed + "such condition")
    growth = math.exp(local_epsilon) / n_users
    gain = math.tanh(0.5 * local_epsilon) * (8 * math.sqrt(growth * math.log(4 / delta)) + 8 * growth)
    return min(math.log1p(gain) * (1 + 16 * _NUDGE), local_epsilon)


_FIRST = "Feldman, McMillan, Talwar 2021"
ACCOUNTANTS = (
    Accountant(
        "standard-clone",
        "upper",
        "proven",
        _FIRST,
        order=30,
        part="local_epsilon",
        **of_bound(CloneBound),
    ),
    Accountant(
        "standard-clone-closed-form",
        "upper",
        "proven",
        _FIRST,
        order=31,
        part="local_epsilon",
        epsilon=standard_clone_closed_form,
    ),
    Accountant(
        "stronger-clone",
        "published",
        MIXED,
        "Feldman, McMillan, Talwar 2023",
        order=32,
        part="local_epsilon",
        **of_bound(partial(CloneBound, clone="stronger")),
        proven_for_binary=True,
    ),
)
