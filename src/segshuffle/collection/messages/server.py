"""The server: it makes announcements from public parameters, and estimates from shuffled messages.

Every function that reads messages takes `ShuffledMessages`, which only the shuffler can make. The server stores nothing
about users. Its announcements depend only on public quantities and on the output of round 1.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from segshuffle.accounting.collections.levels import UserGuarantee, compose_rounds
from segshuffle.arrays import FloatArray, IntArray
from segshuffle.collection.messages.shuffler import ShuffledMessages
from segshuffle.errors import ParameterError
from segshuffle.plans.level_counts import LevelEstimates, LevelPrivacy, level_announcement
from segshuffle.plans.plan import Plan, Problem
from segshuffle.plans.scheme import Collection, Scheme

Planner = Callable[[Problem], Plan]


def tally(messages: ShuffledMessages, distinct: int) -> IntArray:
    """Count how often each of the messages 0..distinct - 1 came (lines 19-20 of Algorithm 2); others are left out.

    Raises
    ------
    TypeError
        If the messages did not come through the shuffler.
    """
    if not isinstance(messages, ShuffledMessages):
        raise TypeError(f"the server reads ShuffledMessages only, not {type(messages).__name__}")
    counts = np.zeros(distinct, dtype=np.int64)
    for block in messages.blocks():
        counts += np.bincount(block[block < distinct], minlength=distinct)
    return counts


@dataclass(frozen=True)
class Server:
    """The server of Algorithm 1.

    Parameters
    ----------
    problem : Problem
        Public quantities; round 1 estimates how many users chose each level.
    level_privacy : LevelPrivacy or None
        Guarantee for round 1; None: the levels are only shuffled.
    """

    problem: Problem
    level_privacy: LevelPrivacy | None = None

    def announce_levels(self) -> Scheme:
        """Make the announcement of round 1."""
        return level_announcement(self.problem.honest_users, len(self.problem.levels), self.level_privacy)

    def estimate_levels(self, announcement: Scheme, messages: ShuffledMessages) -> LevelEstimates:
        """Estimate the level counts from the shuffled levels (line 5 of Algorithm 1)."""
        n_users = self.problem.n_users
        return LevelEstimates(
            tally(messages, announcement.distinct_messages), n_users, replace(announcement, n_users=n_users).mean
        )

    def make_plan(self, planner: Planner, level_estimates: LevelEstimates) -> Plan:
        """Optimise the parameters for the estimated counts (line 6 of Algorithm 1)."""
        private = self.level_privacy is not None and len(self.problem.levels) > 1
        assumptions = replace(self.problem.assumptions, private_levels=private)
        problem = replace(self.problem, level_counts=level_estimates.planning, assumptions=assumptions)
        plan = planner(problem)
        if plan.problem != problem:
            raise ParameterError("plan.problem", plan.problem, f"what the planner was given, {problem}")
        return plan

    def collections(self, plan: Plan) -> tuple[Collection, ...]:
        """Return the collections to announce for round 2.

        Raises
        ------
        ParameterError
            If the plan has no collections, or if levels are private but collected separately: the blanket then depends
            on n_k, and a noisy n_k may be too large.
        """
        if not (plan.collections and plan.blanket_per_user > 0.0):
            raise ParameterError("planner", plan.method, "a protocol with a blanket of uniform items")
        if len(plan.collections) > 1 and self.level_privacy is not None:
            raise ParameterError(
                "level_privacy", self.level_privacy, f"None for {plan.method}, whose blankets need exact level counts"
            )
        return plan.collections

    def estimate_items(
        self, collection: Collection, level_estimates: LevelEstimates, messages: ShuffledMessages, participants: int
    ) -> tuple[FloatArray, IntArray]:
        """Return (C_j - net_mean)/N_hat (line 21 of Algorithm 2) times the collection's weight, and counts by word.

        net_mean is that of the users who took part. N_hat is estimated from round 1, and scaled to these users.
        """
        announced, d = collection.announcement, self.problem.domain_size
        counts = tally(messages, announced.distinct_messages)
        net = counts[:d] - counts[d:] if announced.law.has_signs else counts
        # a collection of one level has the planned number of users
        weight = announced.n_users * announced.copies[collection.levels[0]]
        if len(collection.levels) == len(self.problem.levels):
            weight = level_estimates.weight(announced.copies)
        if not (weight > 0.0 and participants):
            raise ParameterError("copies", announced.copies, "positive for some level of users who took part")
        weight *= participants / announced.n_users
        return collection.weight * replace(announced, n_users=participants).divided(net, weight), counts

    def guarantees(self, plan: Plan) -> tuple[UserGuarantee, ...]:
        """Return the guarantee of both rounds together, by level."""
        spent = (float("inf"), 0.0)
        if len(self.problem.levels) == 1:  # everybody's level is public
            spent = (0.0, 0.0)
        elif self.level_privacy is not None:
            spent = (self.level_privacy.epsilon, self.level_privacy.delta)
        alike = len(plan.collections) == 1 and len(set(plan.scheme.copies)) == 1
        return compose_rounds(
            levels=self.problem.levels,
            deltas=self.problem.deltas,
            kind=plan.kind,
            levels_epsilon=spent[0],
            levels_delta=spent[1],
            change_covered=alike or (plan.kind != "published" and plan.problem.pairs >= self.problem.set_size),
        )
