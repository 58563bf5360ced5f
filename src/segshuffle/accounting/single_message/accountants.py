"""The accountants of one shuffled message per user: what each needs, what it gives, and what is known of it.

* kind ``upper``: a guarantee; ``lower``: no analysis can prove less; ``published``: as its paper states, not proven;
  ``asymptotic``: a limit without an error term. Only ``upper`` may be relied on.
* status: one sentence on what is known of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np

from segshuffle.accounting.numerics.hockey_stick import DeltaInterval
from segshuffle.accounting.single_message import baselines
from segshuffle.accounting.single_message import decomposition as blanket
from segshuffle.accounting.single_message import variation_ratio as vr
from segshuffle.accounting.single_message.personalized import personalized_theorem_delta, personalized_theorem_epsilon
from segshuffle.accounting.single_message.personalized_confusion import PersonalizedUsers
from segshuffle.accounting.single_message.randomizers import Randomizer
from segshuffle.accounting.single_message.variation_ratio_closed_forms import analytic_epsilon
from segshuffle.errors import ParameterError

Kind = Literal["upper", "lower", "published", "asymptotic"]

#: A Poisson-binomial law of one entry per user is made for the personalised bound.
LARGEST_PERSONALIZED_USERS = 200_000


@dataclass(frozen=True, kw_only=True)
class Mechanism:
    """What every user applies, as far as it is known.

    Parameters
    ----------
    name : str
        Name of the mechanism.
    local_epsilon : float
        Its pure local guarantee, positive.
    randomizer : Randomizer, optional
        Its classes of outputs.
    variation : VariationRatio, optional
        Its variation-ratio parameters, as published.
    caveat : str
        What is not proven of `randomizer`'s pair of inputs; empty if nothing.
    parameters : dict
        What it was made from, for records.
    """

    name: str
    local_epsilon: float
    randomizer: Randomizer | None = None
    variation: vr.VariationRatio | None = None
    caveat: str = ""
    parameters: dict[str, float | int] = field(default_factory=dict)


class Accountant(NamedTuple):
    """A bound: what it is, what it needs of a mechanism, and its two functions (None: it has only the other)."""

    name: str
    kind: Kind
    status: str
    source: str
    applies: Callable[[Mechanism], bool]
    epsilon_of: Callable[[Mechanism, int, float], float]
    delta_of: Callable[[Mechanism, int, float], DeltaInterval] | None = None

    def kind_for(self, mechanism: Mechanism) -> Kind:
        """Kind of its number for this mechanism: the stronger clone is proven for binary randomized response."""
        return "upper" if self.name in _PROVEN_FOR_BINARY and _is_binary(mechanism) else self.kind

    def status_for(self, mechanism: Mechanism) -> str:
        """Status of its number for this mechanism."""
        if self.kind != self.kind_for(mechanism):
            return "proven: for binary randomized response the pair is the blanket's"
        return (
            f"{self.status}; {mechanism.caveat}" if mechanism.caveat and self.applies is _has_classes else self.status
        )


def _always(mechanism: Mechanism) -> bool:
    return True


def _has_classes(mechanism: Mechanism) -> bool:
    return mechanism.randomizer is not None


def _has_variation(mechanism: Mechanism) -> bool:
    return mechanism.variation is not None


def _is_laplace(mechanism: Mechanism) -> bool:
    return mechanism.name == "laplace"


def _is_binary(mechanism: Mechanism) -> bool:
    return mechanism.name == "krr" and mechanism.parameters.get("domain_size") == 2


_PROVEN_FOR_BINARY = frozenset({"stronger-clone", "variation-ratio"})


def _by_epsilon(function: Callable[..., float]) -> Callable[[Mechanism, int, float], float]:
    """Functions that know the local epsilon alone."""
    return lambda m, n, target: function(local_epsilon=m.local_epsilon, n_users=n, delta=target)


def _by_epsilon_delta(function: Callable[..., DeltaInterval]) -> Callable[[Mechanism, int, float], DeltaInterval]:
    return lambda m, n, level: function(local_epsilon=m.local_epsilon, n_users=n, epsilon=level)


def _by_classes(function: Callable[..., float]) -> Callable[[Mechanism, int, float], float]:
    """Functions that know the output classes."""
    return lambda m, n, target: function(randomizer=m.randomizer, n_users=n, delta=target)


def _by_classes_delta(function: Callable[..., DeltaInterval]) -> Callable[[Mechanism, int, float], DeltaInterval]:
    return lambda m, n, level: function(randomizer=m.randomizer, n_users=n, epsilon=level)


def _by_variation(function: Callable[..., float]) -> Callable[[Mechanism, int, float], float]:
    """Functions of the variation-ratio parameters; never above the local guarantee."""
    return lambda m, n, target: min(function(randomizer=m.variation, n_users=n, delta=target), m.local_epsilon)


def _by_variation_delta(function: Callable[..., DeltaInterval]) -> Callable[[Mechanism, int, float], DeltaInterval]:
    return lambda m, n, level: function(randomizer=m.variation, n_users=n, epsilon=level)


def _equal_laplace_users(mechanism: Mechanism, n_users: int) -> PersonalizedUsers:
    if not 1 <= n_users <= LARGEST_PERSONALIZED_USERS:
        raise ParameterError("n_users", n_users, f"in [1, {LARGEST_PERSONALIZED_USERS}] for the personalised bound")
    return PersonalizedUsers(local_epsilons=np.full(n_users, mechanism.local_epsilon), mechanism="laplace")


MIXED = "not proven: its reduction mixes left-overs that the server can tell apart"
_FIRST_CLONES = "Feldman, McMillan, Talwar 2021"
_SECOND_CLONES = "Feldman, McMillan, Talwar 2023"
_BLANKET = "Balle, Bell, Gascon, Nissim 2019"
_DECOMPOSITION = "Decomposition-Based Optimal Bounds for Privacy Amplification via Shuffling"
_VARIATION = "Privacy Amplification via Shuffling: Unified, Simplified, and Tightened"
_PERSONALIZED = "Enhanced Privacy Bound for Shuffle Model with Personalized Privacy, Theorem 2"

ACCOUNTANTS: dict[str, Accountant] = {
    each.name: each
    for each in (
        Accountant(
            "blanket",
            "upper",
            "proven",
            f"{_DECOMPOSITION}, Theorem 13",
            _has_classes,
            _by_classes(blanket.blanket_epsilon),
            _by_classes_delta(blanket.blanket_delta),
        ),
        Accountant(
            "blanket-lower",
            "lower",
            "proven: two neighbouring datasets that attain it",
            f"{_DECOMPOSITION}, Theorem 14",
            _has_classes,
            _by_classes(blanket.lower_bound_epsilon),
            _by_classes_delta(blanket.lower_bound_delta),
        ),
        Accountant(
            "hoeffding",
            "upper",
            "proven",
            f"{_BLANKET}, specific",
            _has_classes,
            _by_classes(baselines.hoeffding_epsilon),
            _by_classes_delta(baselines.hoeffding_delta),
        ),
        Accountant(
            "bennett",
            "upper",
            "proven",
            f"{_BLANKET}, specific",
            _has_classes,
            _by_classes(baselines.bennett_epsilon),
            _by_classes_delta(baselines.bennett_delta),
        ),
        Accountant(
            "hoeffding-generic",
            "upper",
            "proven",
            f"{_BLANKET}, generic",
            _always,
            _by_epsilon(baselines.hoeffding_epsilon),
            _by_epsilon_delta(baselines.hoeffding_delta),
        ),
        Accountant(
            "bennett-generic",
            "upper",
            "proven",
            f"{_BLANKET}, generic",
            _always,
            _by_epsilon(baselines.bennett_epsilon),
            _by_epsilon_delta(baselines.bennett_delta),
        ),
        Accountant(
            "standard-clone",
            "upper",
            "proven",
            _FIRST_CLONES,
            _always,
            _by_epsilon(baselines.standard_clone_epsilon),
            _by_epsilon_delta(baselines.standard_clone_delta),
        ),
        Accountant(
            "standard-clone-closed-form",
            "upper",
            "proven",
            _FIRST_CLONES,
            _always,
            _by_epsilon(baselines.standard_clone_closed_form),
        ),
        Accountant(
            "stronger-clone",
            "published",
            MIXED,
            _SECOND_CLONES,
            _always,
            _by_epsilon(baselines.stronger_clone_epsilon),
            _by_epsilon_delta(baselines.stronger_clone_delta),
        ),
        Accountant(
            "variation-ratio",
            "published",
            f"{MIXED}; refuted for most mechanisms (docs/referee.md)",
            f"{_VARIATION}, Theorem 4.1",
            _has_variation,
            _by_variation(vr.published_epsilon),
            _by_variation_delta(vr.published_delta),
        ),
        Accountant(
            "variation-ratio-closed-form",
            "published",
            f"{MIXED}; refuted as the numerical one, and below it where few clones are expected (docs/referee.md)",
            f"{_VARIATION}, Theorem 4.2",
            _has_variation,
            _by_variation(analytic_epsilon),
        ),
        Accountant(
            "erlingsson",
            "upper",
            "proven for local epsilon < 1/2, n >= 1000, delta < 1/100",
            "Erlingsson et al. 2019",
            _always,
            _by_epsilon(baselines.erlingsson_epsilon),
        ),
        Accountant(
            "chen-cao-ge",
            "asymptotic",
            "a central limit without an error term, of the stronger clone's reduction",
            "Chen, Cao, Ge 2024",
            _always,
            _by_epsilon(baselines.chen_cao_ge_epsilon),
            _by_epsilon_delta(baselines.chen_cao_ge_delta),
        ),
        Accountant(
            "personalized",
            "published",
            "refuted: its clone probabilities are averages where a pointwise ratio is needed",
            _PERSONALIZED,
            _is_laplace,
            lambda m, n, target: personalized_theorem_epsilon(users=_equal_laplace_users(m, n), delta=target),
            lambda m, n, level: personalized_theorem_delta(users=_equal_laplace_users(m, n), epsilon=level),
        ),
    )
}
