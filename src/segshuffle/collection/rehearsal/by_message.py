"""Both rounds of the paper's Algorithm 1 on users with known sets, message by message: counts, costs and errors.

`run` draws counters; this module draws every message of every user, in round 1 (about levels) and round 2 (about
items). The plan is made for the level counts of round 1.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from segshuffle.collection.messages import run_protocol
from segshuffle.collection.rehearsal.run import check_users, levels_of
from segshuffle.datasets.own.transactions import Transactions
from segshuffle.numerics.ranges import check_within
from segshuffle.plans.item_variance import bias_given_levels, error_given_levels
from segshuffle.plans.level_counts import LevelPrivacy
from segshuffle.plans.plan import Plan, Problem
from segshuffle.seeds import stream

_ROLE = "rehearse messages"


def by_message(
    users: Transactions,
    problem: Problem,
    planner: Callable[[Problem], Plan],
    *,
    level_privacy: LevelPrivacy | None = None,
    take_part: float = 1.0,
    seed: int = 0,
) -> dict[str, Any]:
    """Run both rounds once, message by message.

    Parameters
    ----------
    users : Transactions
        What every user holds. If they have no levels, these are assigned at random.
    problem : Problem
        The problem; a user with more than set_size items sends a random set_size of them.
    planner : callable
        Plans for a problem whose level_counts are those that round 1 counted.
    level_privacy : LevelPrivacy or None
        Guarantee of round 1; None: levels are only shuffled.
    take_part : float
        Probability, in (0, 1], that a user sends in round 2, whatever it holds.
    seed : int
        Same seed, same result.

    Returns
    -------
    dict
        JSON-ready. ``squared_error`` is against the shares in the data, and ``expected_error`` is its expectation,
        given the levels, the cut sets, the output of round 1, and who takes part. ``bias`` is each item's
        bias against what participants send, as if the number of participants of each level were known.

    Raises
    ------
    DataError
        If the users are not those of the problem.
    ParameterError
        If a number is outside its range, or fewer take part than the guarantee relies on.
    """
    check_within("take_part", take_part, 0, 1, "(]")
    check_users(problem, users)
    n_levels, n = len(problem.levels), users.n_users
    cut = users.cut(problem.set_size, stream(seed, _ROLE, "cut"))
    levels = levels_of(users, problem, stream(seed, _ROLE, "levels"))
    present = stream(seed, _ROLE, "who takes part").random(n) < take_part
    run = run_protocol(
        cut.rows(problem.set_size),
        levels,
        problem,
        planner=planner,
        level_privacy=level_privacy,
        rng=stream(seed, _ROLE, "messages"),
        takes_part=present,
    )
    counts = np.bincount(levels[present], minlength=n_levels)
    served = run.plan.of_participants(tuple(counts.tolist()))
    level_items = cut.take(present).level_item_counts(levels[present], n_levels)
    copies, true = np.asarray(run.plan.scheme.copies), users.frequencies
    divisor = run.levels.weight(copies) * (served.problem.n_users / n)
    return {
        "users": n,
        "participants": served.problem.n_users,
        "level_estimates": run.levels.estimates.tolist(),
        "level_counts_planned": list(run.levels.planning),
        "blanket_levels": run.announcements[0].blanket_per_user,
        "blanket_per_user": run.plan.blanket_per_user,
        "copies": copies.tolist(),
        "estimate": run.estimate.tolist(),
        "bias": bias_given_levels(copies, level_items, counts).tolist(),
        "squared_error": float(((run.estimate - true) ** 2).sum()),
        "expected_error": float(error_given_levels(served, level_items, divisor, true)),
        "level_messages": run.level_messages,
        "item_messages": run.item_messages,
        "messages_per_user": (run.level_messages + run.item_messages) / n,
        "bytes": run.n_bytes,
        "refused": run.refused,
        "guarantees": [each.as_dict() for each in run.guarantees],
    }
