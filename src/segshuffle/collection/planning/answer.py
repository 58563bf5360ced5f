"""The answer to a question: a plan, what it is worth, and the search for it."""

import contextlib
import functools
import math
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from segshuffle.accounting.collections.levels import UserGuarantee
from segshuffle.blankets.named import laws
from segshuffle.collection.messages import Server
from segshuffle.collection.planning.asked import TOP
from segshuffle.collection.planning.foresight import Expected, expected
from segshuffle.collection.planning.question import BEST, Question
from segshuffle.collection.planning.wording import promises, resting_on, sending
from segshuffle.digits import rounded_up
from segshuffle.errors import InfeasibleError, SegshuffleError
from segshuffle.numerics.ranges import check_flag, check_kind
from segshuffle.plans.level_counts import level_cautions
from segshuffle.plans.plan import Plan
from segshuffle.protocols.proven import ProvenSegmented

#: Range of the largest epsilon in the search for the least epsilon.
EPSILONS = (1e-6, 100.0)
#: Relative step of this search; levels are then rounded up to three digits.
_CLOSE = 0.01
#: Factor of an epsilon, or of an error, that may be given up to save messages.
_KNEE = 1.05


@dataclass(frozen=True, eq=False)
class Answer:
    """The answer to a question.

    Parameters
    ----------
    question : Question
        What was asked.
    plan : Plan
        The plan. Its messages include those about a hidden level. If the least epsilon was asked for, its levels differ
        from those of the question.
    rows : tuple of dict
        A row of the comparison for every law, JSON-ready: its numbers, or why there are none.
    """

    question: Question
    plan: Plan
    rows: tuple[dict[str, Any], ...] = ()

    @property
    def note(self) -> str | None:
        """Sentence about a law that was asked for but is not in the plan, if any."""
        named, chosen = self.question.dummies, self.plan.scheme.law.name
        if named in (chosen, BEST):
            return None
        return f"No better plan with {named} dummies was found, so this one has {chosen} dummies."

    @property
    def warnings(self) -> list[str]:
        """Warnings about a meaningless guarantee, error or cost; usually empty."""
        return [*self.plan.warnings, *level_cautions(self.question.level_messages)]

    @property
    def compared(self) -> Question:
        """The question that other laws and protocols answer beside this plan: at its levels."""
        asked, goal = replace(self.question, problem=self.plan.problem), self.question.goal
        if goal.finds != "epsilon":
            return asked
        # at the same levels the others have the fewest messages, too, or the least error
        fewest = replace(goal, least="messages")
        return replace(asked, goal=fewest if asked.finds_knee else replace(fewest, target_error=None))

    @functools.cached_property
    def worth(self) -> Expected:
        """How far off the estimates will be."""
        asked = self.question
        problem = self.plan.problem
        return expected(self.plan, asked.guess.shares(problem), asked.goal.top or TOP, asked.guess.kept(problem))

    @functools.cached_property
    def squared_error(self) -> float:
        """Expected squared error of all items, at the guess."""
        asked = self.question
        return ProvenSegmented().expected_mse(self.plan, asked.guess.counts(self.plan.problem)) + asked.squared_loss

    @functools.cached_property
    def numbers(self) -> dict[str, Any]:
        """Numbers that are shown for a plan with any law, JSON-ready."""
        plan = self.plan
        return {
            "mse_sample": self.squared_error,
            **self.worth.as_dict(plan.problem.n_users),
            "messages_per_user": plan.messages_per_user,
            "blanket_per_user": plan.blanket_per_user,
            "copies": plan.scheme.copies,
            "law": plan.scheme.law.as_dict(),
            "certificate": plan.certificate,
            "bytes_per_message": plan.scheme.dtype.itemsize,
            "kind": plan.kind,
        }

    @functools.cached_property
    def guarantees(self) -> tuple[UserGuarantee, ...]:
        """Guarantees of both rounds (levels, then items) together, by level; empty if levels are not private."""
        privacy = self.question.level_privacy
        return () if privacy is None else Server(self.plan.problem, privacy).guarantees(self.plan)

    @functools.cached_property
    def sentences(self) -> Mapping[str, list[str]]:
        """The answer in sentences, by topic."""
        asked, n_users = self.question, self.plan.problem.n_users
        return {
            "What users send": sending(self.plan, asked.level_messages),
            "What they are promised": promises(self.plan, self.guarantees),
            "How far off estimates are": [*self._reached(), *self.worth.sentences(n_users), *self._believed()],
            "What this relies on": resting_on(self.plan),
        }

    def _believed(self) -> list[str]:
        """Say what the errors assume about sizes of sets that are not all equal."""
        problem, guess = self.plan.problem, self.question.guess
        if problem.assumptions.sets == "exactly" or not (guess.given or self.question.goal.target_error):
            return []
        if guess.sizes is not None:
            lost = 100 - 100 * guess.kept(problem)
            return [f"By the guess, cutting sets to {problem.set_size} items removes {lost:.3g} % of all."]
        size = f"users send {guess.mean_held(problem):g} items on average (mean_size = M)"
        listed = isinstance(guess.frequencies, np.ndarray)
        cut = "cutting of larger sets is left out (sizes = SIZE:SHARE%,... includes it)"
        return [f"For these errors {'' if listed else f'{size}, and '}{cut}."]

    def _reached(self) -> list[str]:
        """Say which error was asked for and which was reached."""
        asked, levels = self.question, self.plan.problem.levels
        if not asked.asked_error:
            return []
        what, width = f"the fewest messages, {self.numbers['messages_per_user']:.4g} per user,", "1 %"
        if asked.goal.finds == "epsilon":
            what = f"the least epsilon, {levels[0]:g},"
            if levels[1:]:
                what = f"the least epsilons, {', '.join(f'{level:g}' for level in levels)} (in the given ratios),"
            width = "7 %, to save messages" if asked.finds_knee else "2 %"
        sentences = [f"This plan has {what} for an error of at most {asked.asked_error} (to within {width})."]
        return [*sentences, self.knee] if self.knee else sentences

    @functools.cached_property
    def knee(self) -> str | None:
        """Sentence about a slightly larger error for which half as many messages are enough, if there is one."""
        asked, goal = self.question, self.question.goal
        if goal.finds != "messages" or asked.limits.max_messages is not None:
            return None
        error = rounded_up(_KNEE * (goal.target_error or 0.0), 3)
        try:
            messages = _complete(replace(asked, goal=replace(goal, target_error=error))).messages_per_user
        except SegshuffleError:
            return None
        if messages > 0.5 * self.plan.messages_per_user:
            return None
        typed = f"{error:g}" if goal.top is None else f"{100 * error:g}%"
        return f"{messages:.4g} messages are enough for target_error {typed}."


def answer(question: Question, *, compare: bool = False) -> Answer:
    """Find the plan that a question asks for.

    Parameters
    ----------
    question : Question
        The question.
    compare : bool
        Whether to plan with every law, too, for a comparison.

    Returns
    -------
    Answer

    Raises
    ------
    InfeasibleError
        If there is no such plan, or round 1 (about levels) needs too many messages.
    ParameterError
        If a limit is outside its range.
    """
    check_kind("question", question, Question)
    check_flag("compare", compare)
    answered = Answer(question, _complete(question))
    if not compare:
        return answered
    return replace(answered, rows=tuple(_beside(answered, law) for law in laws()))


def _beside(answered: Answer, law: str) -> dict[str, Any]:
    """Plan with a law for the comparison; if that fails, the row has the reason, and the plan remains."""
    own = replace(answered.compared, dummies=law)
    if law == answered.plan.scheme.law.name:
        return {"dummies": law, **answered.numbers}
    try:
        other = Answer(own, _complete(own))
        if other.note:
            return {"dummies": law, "none": f"no plan is better than one with {other.plan.scheme.law.name} dummies"}
        return {"dummies": law, **other.numbers}
    except (SegshuffleError, ValueError, ArithmeticError, RuntimeError, MemoryError) as error:
        return {"dummies": law, "none": f"no plan ({error})"}


def _complete(question: Question) -> Plan:
    """Plan for a question, without a comparison; messages about a hidden level are counted."""
    plan = plan_items(question)
    return replace(plan, messages_per_user=plan.messages_per_user + question.level_messages)


def plan_items(question: Question) -> Plan:
    """Plan what users send about items; messages about a hidden level are not counted."""
    target = question.squared_target
    if target is None:
        return _of_least_error(question)
    if question.goal.finds == "epsilon":
        return _of_least_epsilon(question, target)
    return _of_fewest_messages(question, target)


def _of_least_error(question: Question) -> Plan:
    """Plan with the least error within the limits."""
    budget = question.limits.max_messages
    try:
        plan: Plan = question.planner.plan(question.problem)
    except InfeasibleError as error:
        if not question.level_messages or budget is None:
            raise
        told = f"(Round 1, about the levels, takes {question.level_messages:g} of max_messages = {budget:g}.)"
        raise InfeasibleError(f"{error} {told}") from error
    return plan


def _of_fewest_messages(question: Question, target: float) -> Plan:
    """Plan with the fewest messages for an error."""
    budget = question.limits.max_messages
    free = replace(question, limits=replace(question.limits, max_messages=None))
    try:
        plan: Plan = free.capped(replace(free.method, target_error=target)).plan(question.problem)
    except InfeasibleError as error:
        if question.goal.top is None:  # then the planner says the least error, in this unit
            raise
        raise _unreached(question, "any number of messages", "the levels (least = epsilon finds them)") from error
    needed = plan.messages_per_user + question.level_messages
    if budget is not None and needed > budget:
        raise InfeasibleError(
            f"target_error needs {needed:.4g} messages per user, and max_messages = {budget:g}: raise one of the two."
        )
    return plan


def _of_least_epsilon(question: Question, target: float) -> Plan:
    """Plan with the least epsilons for an error, to within 2 %; ratios between levels do not change."""
    step = math.log1p(_CLOSE)
    first, last = (math.floor(math.log(end / question.problem.levels[-1]) / step) for end in EPSILONS)

    @functools.cache
    def reaching(power: int) -> Plan | None:
        """Return the plan at these epsilons if it has the error."""
        asked = at_levels(question, math.exp(power * step))
        with contextlib.suppress(InfeasibleError):
            plan = _of_least_error(asked)
            if asked.method.searches(plan.problem)[0].error_of(plan) <= target:
                return plan
        return None

    least = bisect_left(range(first, last + 1), True, key=lambda power: reaching(power) is not None)
    best = reaching(first + least)
    if best is None:
        raise _unreached(question, f"an epsilon up to {EPSILONS[1]:g}", "max_messages, if it is given")
    if not question.finds_knee:
        return best
    # the last per cents of epsilon may cost many times as many messages
    with contextlib.suppress(InfeasibleError):
        fewest = _of_fewest_messages(at_levels(replace(question, problem=best.problem), _KNEE), target)
        if fewest.messages_per_user < best.messages_per_user:
            return fewest
    return best


def at_levels(question: Question, factor: float) -> Question:
    """Return the question with every epsilon times a factor, rounded up, and at most the largest one allowed."""
    problem = question.problem
    levels = tuple(min(rounded_up(factor * level, 3), EPSILONS[1]) for level in problem.levels)
    return replace(question, problem=replace(problem, levels=levels))


def _unreached(question: Question, searched: str, remedy: str) -> InfeasibleError:
    return InfeasibleError(
        f"No plan reaches target_error = {question.asked_error} with {searched}. Raise target_error, the number of "
        f"users, copies_max or {remedy}."
    )
