"""Proven lower bounds of delta and of epsilon: two neighbouring datasets, their divergence rounded down."""

from __future__ import annotations

from typing import NamedTuple

from segshuffle.accounting.single_message.accountants import Mechanism
from segshuffle.accounting.single_message.decomposition import lower_bound_delta, lower_bound_epsilon
from segshuffle.studies.referee.cases import Case, Point
from segshuffle.studies.referee.worst_datasets import LARGEST_USERS, worst_datasets

COMMON = "all others alike"


class Proof(NamedTuple):
    """A lower bound at one point, with the datasets behind it; `common` is that of equal other users alone."""

    value: float
    common: float
    datasets: str


def proofs(case: Case, mechanism: Mechanism, points: list[Point]) -> dict[Point, Proof]:
    """The largest proven lower bound at every point.

    All other users hold the same input (`blanket.lower_bound_delta`); for up to three users, where the outputs can be
    listed, every dataset is enumerated as well and the larger bound counts.
    """
    found = {point: _common(mechanism, point) for point in points}
    if case.rows is None:
        return found
    rows = case.rows(mechanism.local_epsilon)
    for n_users in sorted({point.n_users for point in points if point.n_users <= LARGEST_USERS}):
        asked = [point for point in points if point.n_users == n_users and point.asked == "delta"]
        witnesses = worst_datasets(
            matrix=rows.matrix, victims=rows.victims, n_users=n_users, epsilons=[point.target for point in asked]
        )
        for point, witness in zip(asked, witnesses, strict=True):
            if witness.delta > found[point].value:
                text = f"victim {witness.victim[0]} or {witness.victim[1]}, others {list(witness.others)}"
                found[point] = found[point]._replace(value=witness.delta, datasets=text)
    return found


def proven_delta(mechanism: Mechanism, n_users: int, epsilon: float) -> float:
    """Proven lower bound of delta, other users alike."""
    randomizer = mechanism.randomizer
    assert randomizer is not None
    return lower_bound_delta(randomizer=randomizer, n_users=n_users, epsilon=epsilon).lower


def _common(mechanism: Mechanism, point: Point) -> Proof:
    if point.asked == "delta":
        value = proven_delta(mechanism, point.n_users, point.target)
    else:
        randomizer = mechanism.randomizer
        assert randomizer is not None
        value = lower_bound_epsilon(randomizer=randomizer, n_users=point.n_users, delta=point.target)
    return Proof(value, value, COMMON)
