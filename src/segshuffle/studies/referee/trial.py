"""Hold every accountant's number against the proven lower bound at the same point: one row each.

A claim is refuted only if its safe side lies below the lower end of the proven bound by more than `MARGIN`,
relative. A claim (epsilon, delta) is also tested at its own epsilon, where the proven delta must not exceed delta.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd

from segshuffle.accounting.single_message.accountants import ACCOUNTANTS, Accountant, Mechanism
from segshuffle.digits import rounded
from segshuffle.errors import ParameterError
from segshuffle.pipeline.design import least_delta
from segshuffle.studies.referee.cases import (
    CASES,
    Point,
    most_that_local_privacy_leaves,
    questions,
)
from segshuffle.studies.referee.proofs import Proof, proofs, proven_delta

#: Relative distance by which a claim must lie below a proven lower bound to be called violated.
MARGIN = 1e-9
#: Claims below this multiple of the proven epsilon are also tested at their own epsilon.
_NEAR = 1.02
_TRIVIAL = 1e-12

#: Columns of results/referee.csv, in order.
COLUMNS = (
    "case",
    "local_epsilon",
    "n_users",
    "asked",
    "target",
    "accountant",
    "kind",
    "claimed",
    "proven",
    "ratio",
    "delta_ratio",
    "outcome",
    "vacuous",
    "by_equal_others",
    "datasets",
    "command",
)
#: Columns of the claims that need no more than the local epsilon.
GENERIC_COLUMNS = ("local_epsilon", "n_users", "asked", "target", "accountant", "claimed")

Config = Mapping[str, Any]


class Judged(NamedTuple):
    """Verdict on one claim: true over claimed value, true over claimed delta, and what follows."""

    ratio: float
    delta_ratio: float
    outcome: str
    vacuous: bool


def generic_accountants() -> list[Accountant]:
    """Upper bounds that know nothing of the mechanism but its local epsilon."""
    bare = Mechanism(name="any", local_epsilon=1.0)
    return [each for each in ACCOUNTANTS.values() if each.kind != "lower" and each.applies(bare)]


def specific_accountants(mechanism: Mechanism) -> list[Accountant]:
    """Upper bounds that use more than the local epsilon of this mechanism."""
    generic = {each.name for each in generic_accountants()}
    return [
        each
        for each in ACCOUNTANTS.values()
        if each.kind != "lower" and each.name not in generic and each.applies(mechanism)
    ]


def claim(accountant: Accountant, mechanism: Mechanism, point: Point) -> float:
    """What an accountant states at a point, on its safe side; nan where its own conditions exclude the point.

    A formula for epsilon alone has no delta: nan, too.
    """
    try:
        if point.asked == "epsilon":
            return float(accountant.epsilon_of(mechanism, point.n_users, point.target))
        if accountant.delta_of is None:
            return math.nan
        return float(accountant.delta_of(mechanism, point.n_users, point.target).upper)
    except ParameterError:
        return math.nan


def generic_claims(config: Config, cases: Iterable[str]) -> pd.DataFrame:
    """Claims that are the same for every mechanism of a local epsilon, at all points of the grid; `GENERIC_COLUMNS`."""
    rows = []
    for local, asked in _all_questions(config, cases).items():
        bare = Mechanism(name="any", local_epsilon=local)
        for point in asked:
            rows += [(local, *point, each.name, claim(each, bare, point)) for each in generic_accountants()]
    return pd.DataFrame(rows, columns=list(GENERIC_COLUMNS))


def try_case(config: Config, name: str, generic: pd.DataFrame, extra: Sequence[Accountant] = ()) -> pd.DataFrame:
    """Hold every accountant that applies to a case against the proven lower bounds.

    Parameters
    ----------
    config : mapping
        Section ``referee`` and ``delta_times_n`` are used.
    name : str
        One of `cases.CASES`.
    generic : DataFrame
        As `generic_claims` returns it, for at least this case.
    extra : sequence of Accountant
        Further accountants to try.

    Returns
    -------
    DataFrame
        `COLUMNS`, one row per point and accountant. ``claimed`` and ``proven`` are deltas at epsilon = ``target`` or
        epsilons at delta = ``target``, as ``asked`` says; ``ratio`` = proven/claimed, so above 1 is a violation;
        ``delta_ratio`` is the same for deltas at the claimed epsilon (nan if not computed: the claim is well above the
        proven epsilon). ``by_equal_others``: the violation shows with all other users alike, that is in the output of
        ``command``. Claims outside their own conditions have the outcome "not applicable".
    """
    case = CASES[name]
    # a table keeps ten digits
    generic = generic.assign(**{name: generic[name].map(rounded) for name in ("local_epsilon", "target")})
    known = generic.set_index(list(GENERIC_COLUMNS[:-1]))["claimed"].to_dict()
    rows = []
    for local, asked in questions(case, config["referee"], least_delta(config, 1)).items():
        mechanism = case.mechanism(local)
        for point, proof in proofs(case, mechanism, asked).items():
            head = (name, local, *point)
            for each in generic_accountants():
                stated = known[(rounded(local), *point[:2], rounded(point.target), each.name)]
                rows.append((*head, *_row(each, mechanism, point, proof, stated), case.command(local, point)))
            for each in [*specific_accountants(mechanism), *extra]:
                stated = claim(each, mechanism, point)
                rows.append((*head, *_row(each, mechanism, point, proof, stated), case.command(local, point)))
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _all_questions(config: Config, cases: Iterable[str]) -> dict[float, list[Point]]:
    """Points of all cases together, each once."""
    found: dict[float, dict[Point, None]] = {}
    for name in cases:
        if name in CASES:
            for local, asked in questions(CASES[name], config["referee"], least_delta(config, 1)).items():
                found.setdefault(local, {}).update(dict.fromkeys(asked))
    return {local: list(asked) for local, asked in found.items()}


def judge(mechanism: Mechanism, point: Point, proven: float, claimed: float, at_claim: float | None) -> Judged:
    """Compare a claim with a proven lower bound.

    Parameters
    ----------
    mechanism : Mechanism
        For its local guarantee.
    point : Point
        The question.
    proven, claimed : float
        Lower bound and claim: deltas or epsilons, as the point asks.
    at_claim : float or None
        For epsilons: proven lower bound of delta at the claimed epsilon, if it was computed.
    """
    if math.isnan(claimed):
        return Judged(math.nan, math.nan, "not applicable", False)
    local = mechanism.local_epsilon
    if point.asked == "delta":
        ratio = delta_ratio = _over(proven, claimed)
        vacuous = claimed >= most_that_local_privacy_leaves(local, point.target) * (1 - _TRIVIAL)
    else:
        ratio = _over(proven, claimed)
        delta_ratio = math.nan if at_claim is None else _over(at_claim, point.target)
        vacuous = claimed >= local * (1 - _TRIVIAL)
    violated = ratio > 1 + MARGIN or delta_ratio > 1 + MARGIN
    return Judged(ratio, delta_ratio, "violated" if violated else "holds", vacuous)


def _over(proven: float, claimed: float) -> float:
    """proven/claimed; 0/0 is no violation."""
    if claimed > 0:
        return proven / claimed
    return math.inf if proven > 0 else 0.0


def _row(
    accountant: Accountant, mechanism: Mechanism, point: Point, proof: Proof, claimed: float
) -> tuple[str, str, float, float, float, float, str, bool, bool, str]:
    at_claim = None
    if point.asked == "epsilon" and claimed < _NEAR * proof.value:
        at_claim = proven_delta(mechanism, point.n_users, claimed)
    judged = judge(mechanism, point, proof.value, claimed, at_claim)
    shown = judged.outcome == "violated" and _over(proof.common, claimed) > 1 + MARGIN
    kind = accountant.kind_for(mechanism)
    return (accountant.name, kind, claimed, proof.value, *judged, shown, proof.datasets)
