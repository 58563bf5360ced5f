"""Every accountant that the amplification figures draw: its name, the kind of its numbers, and whether they hold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

from segshuffle.accounting.single_message.accountants import ACCOUNTANTS as KNOWN
from segshuffle.accounting.single_message.accountants import MIXED
from segshuffle.accounting.single_message.baselines import (
    bennett_epsilon,
    erlingsson_epsilon,
    hoeffding_epsilon,
    standard_clone_epsilon,
    stronger_clone_epsilon,
)
from segshuffle.accounting.single_message.decomposition import blanket_epsilon, lower_bound_epsilon
from segshuffle.accounting.single_message.randomizers import Randomizer
from segshuffle.accounting.single_message.variation_ratio import VariationRatio, published_epsilon
from segshuffle.accounting.single_message.variation_ratio_closed_forms import analytic_epsilon, asymptotic_epsilon
from segshuffle.accounting.single_message.variation_ratio_lower import LowerBound, published_lower_epsilon
from segshuffle.errors import ParameterError

#: Relative accuracy in delta asked of the searches: far below the width of a line.
RTOL = 1e-3

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Case:
    """What an accountant is asked: the least epsilon of a mechanism at delta.

    Parameters
    ----------
    n_users : int
        Number of users; multi-message protocols: 1 + the number of blanket messages.
    delta : float
        Target.
    local_epsilon : float, optional
        Guarantee of one message; for accountants that know nothing else.
    randomizer : Randomizer, optional
        For the accountants of specific randomizers.
    variation : VariationRatio, optional
        For the variation-ratio accountants.
    lower : LowerBound, optional
        For the lower bound of the variation-ratio paper.
    status : str
        If not empty, replaces the accountant's own status.
    """

    n_users: int
    delta: float
    local_epsilon: float | None = None
    randomizer: Randomizer | None = None
    variation: VariationRatio | None = None
    lower: LowerBound | None = None
    status: str = ""


class Accountant(NamedTuple):
    """A way to an epsilon: kind of the number, whether it is proven, and the function."""

    kind: str
    status: str
    epsilon: Callable[[Case], float]


def _given(value: T | None, name: str) -> T:
    if value is None:
        raise ParameterError(name, None, "given for this accountant")
    return value


def _blanket(case: Case) -> float:
    randomizer = _given(case.randomizer, "randomizer")
    return blanket_epsilon(randomizer=randomizer, n_users=case.n_users, delta=case.delta, rtol=RTOL)


def _blanket_lower(case: Case) -> float:
    randomizer = _given(case.randomizer, "randomizer")
    return lower_bound_epsilon(randomizer=randomizer, n_users=case.n_users, delta=case.delta, rtol=RTOL)


def _hoeffding(case: Case) -> float:
    return hoeffding_epsilon(randomizer=_given(case.randomizer, "randomizer"), n_users=case.n_users, delta=case.delta)


def _bennett(case: Case) -> float:
    return bennett_epsilon(randomizer=_given(case.randomizer, "randomizer"), n_users=case.n_users, delta=case.delta)


def _tails_general(case: Case) -> float:
    local = _given(case.local_epsilon, "local_epsilon")
    common: dict[str, Any] = {"local_epsilon": local, "n_users": case.n_users, "delta": case.delta}
    return min(hoeffding_epsilon(**common), bennett_epsilon(**common))


def _standard_clone(case: Case) -> float:
    local = _given(case.local_epsilon, "local_epsilon")
    return standard_clone_epsilon(local_epsilon=local, n_users=case.n_users, delta=case.delta, rtol=RTOL)


def _stronger_clone(case: Case) -> float:
    local = _given(case.local_epsilon, "local_epsilon")
    return stronger_clone_epsilon(local_epsilon=local, n_users=case.n_users, delta=case.delta, rtol=RTOL)


def _erlingsson(case: Case) -> float:
    local = _given(case.local_epsilon, "local_epsilon")
    return erlingsson_epsilon(local_epsilon=local, n_users=case.n_users, delta=case.delta)


def _variation(case: Case) -> float:
    return published_epsilon(
        randomizer=_given(case.variation, "variation"), n_users=case.n_users, delta=case.delta, rtol=1e-4
    )


def _analytic(case: Case) -> float:
    variation = _given(case.variation, "variation")
    found = analytic_epsilon(randomizer=variation, n_users=case.n_users, delta=case.delta)
    return min(found, variation.log_p)


def _asymptotic(case: Case) -> float:
    variation = _given(case.variation, "variation")
    found = asymptotic_epsilon(randomizer=variation, n_users=case.n_users, delta=case.delta)
    return min(found, variation.log_p)


def _variation_lower(case: Case) -> float:
    return published_lower_epsilon(bound=_given(case.lower, "lower"), n_users=case.n_users, delta=case.delta, rtol=RTOL)


_PROVEN = "proven"


def _known(name: str, epsilon: Callable[[Case], float]) -> Accountant:
    """Kind and status as the accountants of one message have them under `name`."""
    return Accountant(KNOWN[name].kind, KNOWN[name].status, epsilon)


ACCOUNTANTS: dict[str, Accountant] = {
    "blanket": _known("blanket", _blanket),
    "blanket-lower": _known("blanket-lower", _blanket_lower),
    "hoeffding": _known("hoeffding", _hoeffding),
    "bennett": _known("bennett", _bennett),
    "tails-general": Accountant("upper", _PROVEN, _tails_general),
    "tails-specific": Accountant("upper", _PROVEN, lambda case: min(_hoeffding(case), _bennett(case))),
    "standard-clone": _known("standard-clone", _standard_clone),
    "stronger-clone": _known("stronger-clone", _stronger_clone),
    "erlingsson": _known("erlingsson", _erlingsson),
    "variation-ratio": _known("variation-ratio", _variation),
    "variation-analytic": _known("variation-ratio-closed-form", _analytic),
    "variation-asymptotic": Accountant("published", MIXED, _asymptotic),
    "variation-lower": Accountant("lower", _PROVEN, _variation_lower),
    "separate-best": _known("variation-ratio", _variation),
    "separate-worst": _known("variation-ratio", _variation),
    "parallel-basic": Accountant("published", MIXED, _variation),
    "parallel-advanced": Accountant("published", MIXED, _variation),
}
