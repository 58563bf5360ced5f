"""A plan in sentences: what users send, what they are promised, and what this relies on."""

import math
from collections.abc import Sequence

from segshuffle.accounting.collections.levels import UserGuarantee
from segshuffle.digits import rounded_up
from segshuffle.plans.plan import Plan

#: The theorem on any change (docs/proof.md), for two levels.
BETWEEN = "For a change between two levels, whatever the items, epsilon and delta are the larger ones of the two"


def promises(plan: Plan, guarantees: Sequence[UserGuarantee] = ()) -> list[str]:
    """Say the guarantee of every level in a sentence, and that of a private level itself.

    Parameters
    ----------
    plan : Plan
        The plan of round 2, in which users send items; in round 1 they send levels.
    guarantees : sequence of UserGuarantee
        Guarantees of both rounds together, by level; empty if round 1 is not known.
    """
    problem = plan.problem
    sentences = [
        f"Level {level:g}: if a user of this level held other items, {seen(plan)} would be at most {_times(level)}, "
        f"up to a probability of {_said(delta)}."
        for level, delta in zip(problem.levels, problem.deltas, strict=True)
    ]
    if not problem.assumptions.private_levels:
        return sentences
    if not guarantees:
        unknown = "This does not include what the messages about levels (round 1) reveal, which the plan does not say."
        return [*sentences, f"{BETWEEN}.", unknown]
    worst = max(guarantees, key=lambda each: each.total_epsilon)
    return [
        *sentences,
        f"The level itself: if a user had another level and other items, {seen(plan)} would "
        f"be at most {_times(worst.total_epsilon)}, up to a probability of {_said(worst.total_delta)}.",
        f"{BETWEEN}, plus {worst.levels_epsilon:g} and {_said(worst.levels_delta)} for the messages about levels "
        "(round 1).",
    ]


def seen(plan: Plan) -> str:
    """Say what a promise is about: one collection, or several together."""
    rounds = plan.problem.assumptions.rounds
    together = f" of {rounds} collections together" if rounds > 1 else ""
    return f"anything that the server may see{together}"


def _times(epsilon: float) -> str:
    return f"{factor(epsilon)} times as likely (e^{epsilon:g})"


def sending(plan: Plan, level_messages: float) -> list[str]:
    """Say what a user of every level sends, and what it costs.

    Parameters
    ----------
    plan : Plan
        A plan with a number of copies (messages about a held item) for each level.
    level_messages : float
        Messages of one user about a hidden level, on average; each has one byte.
    """
    problem, scheme = plan.problem, plan.scheme
    level_sentences = [
        f"Level {level:g}: a user sends, on average, {many(each, 'message')} about every held item{_sampled(each)} and "
        f"{many(plan.blanket_per_user, 'dummy message')} {scheme.law.phrase}."
        for level, each in zip(problem.levels, scheme.copies, strict=True)
    ]
    total, rounds = plan.messages_per_user, problem.assumptions.rounds
    n_bytes = (total - level_messages) * scheme.dtype.itemsize + level_messages
    most, full = "at most ", f" (if all of them hold {problem.set_size} items)"
    if problem.assumptions.sets == "exactly":
        most = full = ""
    about_levels = f", {level_messages:.4g} of them about the level" if level_messages else ""
    every_time = f" in each of the {rounds} collections" if rounds > 1 else ""
    if level_messages and rounds > 1:  # the guarantee covers one round about levels
        every_time = " (once for all collections)"
    return [
        *level_sentences,
        f"The average over all users is {most}{total:.4g} messages{full}{about_levels}{every_time}. That is "
        f"{n_bytes:.4g} bytes, and {n_bytes * problem.n_users / 1e6:.3g} MB from all {problem.n_users:,} users.",
    ]


def many(value: float, noun: str) -> str:
    """Say a number with its noun."""
    number = f"{value:.4g}"
    return f"{number} {noun}{'' if number == '1' else 's'}"


def factor(epsilon: float) -> str:
    """Say how many times as likely something may become, at an epsilon."""
    return _said(math.exp(epsilon))


def _said(value: float) -> str:
    """Round up to three digits, for people."""
    return f"{rounded_up(value, 3):.3g}"


def _sampled(copies: float) -> str:
    if copies < 1.0:
        return f" (one with probability {100 * copies:.4g} %)"
    whole = math.floor(copies)
    return "" if f"{copies:.4g}" == f"{whole}" else f" ({whole} or {whole + 1})"


def resting_on(plan: Plan) -> list[str]:
    """Say what the guarantee relies on, one sentence per assumption."""
    problem, assumed = plan.problem, plan.problem.assumptions
    sets = assumed.sets.replace("-", " ")
    differs = "set and level" if assumed.private_levels else "set of items"
    sentences = [
        f"Neighbours differ in one user's {differs} (replace-one); n is public.",
        f"{problem.honest_users:,} of {problem.n_users:,} users send their dummies and tell nobody which these are.",
        "The shuffler mixes all messages and tells nobody who sent what.",
        f"Users hold {sets} {problem.set_size} of {problem.domain_size:,} items. This rule, the list of items, the "
        "levels and the number of users must be fixed without looking at these users' items.",
    ]
    if not assumed.private_levels and len(problem.levels) > 1:
        sentences.append("Levels are only shuffled: the promise is not about which level a user picked.")
    if assumed.rounds == 1:
        sentences.append(
            "The promise is for one collection. The privacy losses of several add up (rounds = R covers R of them)."
        )
    kind = "proven, and no smaller one holds" if plan.kind == "exact" else "proven"
    return [*sentences, f"Kind of the certified delta: {plan.kind} ({kind})."]
