"""Both rounds of Algorithm 1 on a file of item sets: what `segshuffle simulate` prints.

Either message by message (`protocols.messages`), or at the level of counts: the same law of estimates, counters, and
numbers of messages, in less time. Who has which level is drawn from its own stream, so both see the same levels.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from segshuffle.accounting.collections.levels import UserGuarantee
from segshuffle.arrays import FloatArray, IntArray
from segshuffle.datasets.transactions import Transactions
from segshuffle.errors import DataError, ParameterError
from segshuffle.files import read_bounded
from segshuffle.pipeline.seeds import stream
from segshuffle.protocols.assumptions import PLAIN, Assumptions
from segshuffle.protocols.base import Method, Plan, Problem, Sample
from segshuffle.protocols.messages import (
    LevelEstimates,
    LevelPrivacy,
    Server,
    WireFormat,
    run_protocol,
)
from segshuffle.protocols.messages.budget import left_for_items, level_messages
from segshuffle.protocols.messages.dependence import bias_given_levels, copies_of, error_given_levels
from segshuffle.protocols.proven import ProvenSegmented
from segshuffle.protocols.segmented import Segmented

ACCOUNTANTS = ("proven", "published")
_MAX_LEVELS_BYTES = 2**30


def simulate_users(
    users: Transactions,
    *,
    set_size: int | None = None,
    delta: float,
    level_deltas: tuple[float, ...] = (),
    level_counts: Sequence[tuple[float, int]],
    accountant: str = "proven",
    max_messages: float | None = None,
    copies_max: float = 1.0,
    equal_copies: bool = False,
    messages: bool = False,
    level_privacy: LevelPrivacy | None = None,
    assumptions: Assumptions = PLAIN,
    seed: int,
    chunk_users: int | None = None,
    take_part: float = 1.0,
) -> dict[str, Any]:
    """Run the segmented protocol on users who hold what they hold.

    Parameters
    ----------
    users : Transactions
        What every user holds; with levels, if they are known.
    set_size : int, optional
        Largest number s of items that a user sends, public: whoever holds more sends a random s of them. By default the
        largest set of the data, which is not private.
    delta : float
        Failure probability of round 2, for all levels, or the least of `level_deltas`.
    level_deltas : tuple of float
        Failure probability of every level, if they differ.
    level_counts : sequence of (float, int)
        Pairs (epsilon E_k, users n_k), E_1 < ... < E_K, the n_k adding up to the users: what is on offer, and how many
        chose it. Levels that the data do not have are drawn at random.
    accountant : {"proven", "published"}
        "proven": Poisson blanket. "published": Algorithm 2 with the paper's accountant, not proven.
    max_messages, copies_max : float
        Budget of messages per user, both rounds together, and largest expected copies of an item; "proven" only.
    equal_copies : bool
        Let all levels send the same number of copies, so that nothing is biased; "proven" only.
    messages : bool
        Message by message, or at the level of counts.
    level_privacy : LevelPrivacy, optional
        (epsilon_p, delta_p) of round 1; by default the levels are shuffled, nothing more.
    assumptions : Assumptions
        What round 2's guarantee relies on. With sets of exactly s items nobody may hold fewer.
    seed : int
        Seed of everything random.
    chunk_users : int, optional
        Users per batch, with `messages` only (see `run_protocol`).
    take_part : float
        Probability, in (0, 1], with which each user sends in round 2, whatever it holds. Estimates, their errors and
        their bias are those of who did.

    Returns
    -------
    dict
        JSON-ready. ``frequencies`` are those of the data, ``frequencies_sent`` what is left of them after cutting to s.
        ``squared_error`` is against the former, and ``expected_error`` its exact expectation over round 2, given who
        has which level, what was cut, and what round 1 released. ``bias`` is the exact bias of every item's estimate
        against what is sent, given who has which level; ``standard_error`` the standard deviation of every item's
        estimate.

    Raises
    ------
    DataError
        If the users hold fewer items than they must, or the levels do not fit the users.
    ParameterError
        If an option is outside its range, or does not go with the others.
    """
    method = _method(accountant, max_messages, copies_max, equal_copies)
    if chunk_users is not None and not messages:
        raise ParameterError("chunk_users", chunk_users, "left out, or used with messages: counts are drawn at once")
    if not 0.0 < take_part <= 1.0:
        raise ParameterError("take_part", take_part, "in (0, 1]")
    began = time.perf_counter()
    offered, chosen = _levels_of(users, level_counts, seed)
    set_size = max(users.largest_set, 1) if set_size is None else set_size
    true_counts = tuple(np.bincount(chosen, minlength=len(offered)).tolist())
    # checks every public parameter before anything is sent
    Problem(users.domain_size, set_size, offered, true_counts, delta, assumptions, level_deltas)
    short = int((users.sizes < set_size).sum())
    if assumptions.sets == "exactly" and short:
        raise DataError(
            f"{users.label}: {short} users hold fewer than set_size = {set_size} items. Let them, with sets = at-most: "
            "nobody pads then."
        )
    cut = users.cut(set_size, stream(seed, "simulate file", "cut"))
    method = _within_budget(method, assumptions.honest_of(users.n_users), len(offered), level_privacy)
    present = stream(seed, "simulate file", "who takes part").random(users.n_users) < take_part
    run = _by_message if messages else _by_count
    found = run(
        _Input(cut, set_size, chosen, offered, delta, level_privacy, assumptions, level_deltas, present),
        method,
        stream(seed, "simulate file", "messages" if messages else "counts"),
        chunk_users,
    )
    participants = np.bincount(chosen[present], minlength=len(offered))
    served = found.plan.of_participants(tuple(participants.tolist()))
    frequencies = users.frequencies
    level_items = cut.only(present).level_item_counts(chosen[present], len(offered))
    copies = copies_of(found.plan)
    divisor = found.levels.weight(copies) * (served.problem.n_users / users.n_users)
    bias = bias_given_levels(copies, level_items, participants)
    sent = level_items.sum(axis=0) / served.problem.n_users
    expected = copies @ level_items / divisor
    # against the data instead of what is left of them after cutting
    beyond = float(((expected - frequencies) ** 2).sum() - ((expected - sent) ** 2).sum())
    return {
        "users": users.n_users,
        "participants": served.problem.n_users,
        "set_size": set_size,
        "domain_size": users.domain_size,
        "sets": assumptions.sets,
        "simulated": "messages" if messages else "counts",
        "accountant": accountant,
        "kind": found.plan.kind,
        "levels": list(offered),
        "level_counts": list(true_counts),
        "level_estimates": found.levels.estimates.tolist(),
        "level_counts_planned": list(found.levels.planning),
        "delta": delta,
        "level_deltas": list(level_deltas) or None,
        "blanket_per_user": found.plan.blanket_per_user,
        "blanket_levels": found.blanket_levels,
        "copies": copies.tolist(),
        "items": [users.name(code) for code in range(users.domain_size)],
        "estimate": found.estimate.tolist(),
        "frequencies": frequencies.tolist(),
        "frequencies_sent": sent.tolist(),
        "standard_error": item_errors(served, level_items, divisor).tolist(),
        "cut": {
            "users": int((users.sizes > set_size).sum()),
            "share_of_entries": 1.0 - cut.codes.size / max(users.codes.size, 1),
            "squared_error": float(((sent - frequencies) ** 2).sum()),
        },
        "squared_error": float(((found.estimate - frequencies) ** 2).sum()),
        "expected_error": float(error_given_levels(served, level_items, divisor)) + beyond,
        "bias": bias.tolist(),
        "largest_bias": float(np.abs(bias).max()),
        "level_messages": found.level_messages,
        "item_messages": found.item_messages,
        "messages_per_user": (found.level_messages + found.item_messages) / users.n_users,
        "bytes": found.n_bytes,
        "refused": found.refused,
        "warnings": list(found.plan.warnings),
        "notes": list(users.notes),
        "guarantees": [guarantee.as_dict() for guarantee in found.guarantees],
        "seconds": {**found.seconds, "total": time.perf_counter() - began},
    }


def item_errors(plan: Plan, level_items: IntArray, divisor: float) -> FloatArray:
    """Standard deviation of every item's estimate, given who holds what at which level, shape (domain_size,).

    The blanket's counter and the fraction of a copy that is sent or not; the counters of two items are independent
    under the Poisson blanket, and nearly so under the binomial one.
    """
    fraction = copies_of(plan) % 1.0
    return np.asarray(np.sqrt(plan.scheme.noise + (fraction * (1.0 - fraction)) @ level_items) / divisor)


class _Input(NamedTuple):
    users: Transactions
    set_size: int
    chosen: NDArray[np.int16]
    """Level number of each user."""
    levels: tuple[float, ...]
    delta: float
    privacy: LevelPrivacy | None
    assumptions: Assumptions
    level_deltas: tuple[float, ...]
    present: NDArray[np.bool_]
    """Who sends in round 2."""


class _Found(NamedTuple):
    """What either way of simulating gives."""

    estimate: FloatArray
    levels: LevelEstimates
    plan: Plan
    blanket_levels: float
    level_messages: int
    item_messages: int
    n_bytes: int
    guarantees: tuple[UserGuarantee, ...]
    refused: dict[str, int]
    seconds: dict[str, float]


def _by_message(given: _Input, method: Method, rng: np.random.Generator, chunk_users: int | None) -> _Found:
    run = run_protocol(
        given.users.rows(given.set_size),
        given.users.domain_size,
        given.chosen,
        given.levels,
        given.delta,
        level_deltas=given.level_deltas,
        planner=method.plan,
        level_privacy=given.privacy,
        assumptions=given.assumptions,
        set_size=given.set_size,
        rng=rng,
        chunk_users=chunk_users,
        takes_part=given.present,
    )
    return _Found(
        estimate=run.estimate,
        levels=run.levels,
        plan=run.plan,
        blanket_levels=run.announcements[0].blanket_per_user,
        level_messages=run.level_messages,
        item_messages=run.item_messages,
        n_bytes=run.n_bytes,
        guarantees=run.guarantees,
        refused=run.refused._asdict(),
        seconds=run.seconds._asdict(),
    )


def _by_count(given: _Input, method: Method, rng: np.random.Generator, _chunk_users: int | None) -> _Found:
    """Round 1, planning by the same server, and round 2, all counters drawn at once; honest users are not refused."""
    users, began = given.users, time.perf_counter()
    n_users, d = users.n_users, users.domain_size
    server = Server(
        n_users, d, given.set_size, given.levels, given.delta, given.privacy, given.assumptions, given.level_deltas
    )
    first = server.announce_levels()
    exact = np.bincount(given.chosen, minlength=len(given.levels))
    mean = n_users * first.blanket_per_user / len(given.levels)
    levels = LevelEstimates(exact + rng.poisson(mean, size=exact.size), n_users, mean, 0)
    counted = time.perf_counter()
    plan = server.make_plan(method.plan, levels)
    server.collections(plan)  # refuses a plan that cannot be run, as with messages
    planned = time.perf_counter()
    some, levels_of_some = users.only(given.present), given.chosen[given.present]
    plan.of_participants(tuple(np.bincount(levels_of_some, minlength=exact.size).tolist()))  # refuses too few
    sample = Sample(some.codes, d, some.level_item_counts(levels_of_some, exact.size)[None], some.n_users)
    # `simulate` divides by the planned counts' weight: back to counters, which are whole numbers, then by N_hat
    blanket = some.n_users * plan.blanket_per_user / d
    scale = float(np.dot(plan.problem.level_counts, copies_of(plan)))
    counters = np.rint(method.simulate(plan, sample, rng)[0] * scale + blanket)
    estimate = (counters - blanket) / (levels.weight(copies_of(plan)) * (some.n_users / n_users))
    level_messages, item_messages = int(levels.counts.sum()), int(counters.sum())
    n_bytes = level_messages * first.wire.dtype.itemsize + item_messages * WireFormat(d).dtype.itemsize
    done = time.perf_counter()
    return _Found(
        estimate=estimate,
        levels=levels,
        plan=plan,
        blanket_levels=first.blanket_per_user,
        level_messages=level_messages,
        item_messages=item_messages,
        n_bytes=n_bytes,
        guarantees=server.guarantees(plan),
        refused={"levels": 0, "items": 0},
        seconds={"levels": counted - began, "plan": planned - counted, "items": done - planned},
    )


def _method(accountant: str, max_messages: float | None, copies_max: float, equal_copies: bool) -> Method:
    if accountant not in ACCOUNTANTS:
        raise ParameterError("accountant", accountant, f"one of {', '.join(ACCOUNTANTS)}")
    if accountant == "proven":
        return ProvenSegmented(copies_max=copies_max, max_messages=max_messages, equal_copies=equal_copies)
    only = "with accountant 'published' (budgets and copies need 'proven')"
    if max_messages is not None:
        raise ParameterError("max_messages", max_messages, f"left out {only}")
    if copies_max != 1.0:
        raise ParameterError("copies_max", copies_max, f"1 {only}")
    if equal_copies:
        raise ParameterError("equal_copies", equal_copies, f"left out {only}")
    return Segmented()


def _within_budget(method: Method, honest_users: int, n_levels: int, privacy: LevelPrivacy | None) -> Method:
    """The method with what round 1 leaves of its budget."""
    if not isinstance(method, ProvenSegmented) or method.max_messages is None:
        return method
    spent = level_messages(honest_users, n_levels, privacy)
    return replace(method, max_messages=left_for_items(method.max_messages, spent))


def _levels_of(
    users: Transactions, level_counts: Sequence[tuple[float, int]], seed: int
) -> tuple[tuple[float, ...], NDArray[np.int16]]:
    """Levels on offer, and the number of each user's level: those of the data, or at random."""
    offered = tuple(float(level) for level, _ in level_counts)
    counts = [count for _, count in level_counts]
    if any(count < 0 for count in counts):
        raise ParameterError("level_counts", tuple(level_counts), "pairs with users >= 0")
    if sum(counts) != users.n_users:
        raise DataError(
            f"level_counts are for {sum(counts)} users, but {users.label} has {users.n_users}: the counts must add "
            "up to that. Shares may be given instead, such as 0.5:25%."
        )
    if users.levels is None:
        numbers = np.repeat(np.arange(len(counts), dtype=np.int16), counts)
        return offered, stream(seed, "simulate file", "levels").permutation(numbers)
    held = np.bincount(users.levels, minlength=len(counts))
    if held.tolist() != counts:
        found = ",".join(f"{level:g}:{number}" for level, number in zip(offered, held, strict=True))
        raise DataError(f"{users.label}: the users by level are {found}, not those of level_counts: give these.")
    return offered, users.levels


def read_levels(path: Path, offered: tuple[float, ...], n_users: int) -> NDArray[np.int16]:
    """Level numbers from a file of epsilons, one line per user."""
    numbers = {level: number for number, level in enumerate(offered)}
    known = ", ".join(f"{level:g}" for level in offered)
    try:
        lines = read_bounded(path, limit=_MAX_LEVELS_BYTES).decode("utf-8-sig").split("\n")
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: byte {error.start} is not text; expected is one epsilon per line.") from error
    while lines and not lines[-1].strip(" \t\r"):
        lines.pop()
    found = []
    for number, line in enumerate(lines, start=1):
        text = line.strip(" \t\r")
        if text.startswith("#"):
            continue
        try:
            level = numbers[float(text)]
        except (ValueError, KeyError):
            shown = text if len(text) <= 40 else text[:37] + "..."
            raise DataError(
                f"{path}, line {number}: {shown!r} is not a level on offer; write the level's epsilon itself, one user "
                f"per line: {known}."
            ) from None
        found.append(level)
    if len(found) != n_users:
        raise DataError(
            f"{path}: {len(found)} levels for {n_users} users; one line per user is needed, in their order."
        )
    return np.array(found, dtype=np.int16)
