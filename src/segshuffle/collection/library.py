"""What `import segshuffle` offers: the steps of a collection, the accountants, and the values that they take.

`plan` makes a plan from public numbers, `simulate` simulates the users, `rehearse` tries a plan on them, and `estimate`
estimates from counts. `account` is for one message per user, `compose` for several collections. An accountant is given
by its name or as an object. The *blanket* is the dummy messages of all users; *copies* are messages of a user about one
held item. Random numbers of `simulate` are reproducible, not secret; a `Client` draws secret ones.

In a real collection, `save_plan` writes a plan, and clients and server read it by `read_plan`. A `Client` checks what
the plan guarantees (its ``scheme`` is the announcement), and draws messages. `read_messages` counts those that a
shuffler mixed. `read_transactions` reads data of your own.
"""

from collections.abc import Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike

from segshuffle.accounting.collections.composition import composed_delta, composed_epsilon
from segshuffle.accounting.single_message import amplification
from segshuffle.accounting.single_message.accountants import Accountant, Mechanism
from segshuffle.accounting.single_message.mechanisms import mechanism
from segshuffle.arrays import FloatArray
from segshuffle.collection.accounts import Account
from segshuffle.collection.estimates import Estimate
from segshuffle.collection.messages import Client, Demand
from segshuffle.collection.messages.message_lines import read_messages
from segshuffle.collection.planning.answer import Answer, answer
from segshuffle.collection.planning.asked import Goal, Guess, Limits
from segshuffle.collection.planning.documents import Document, checked_names, read_plan, save_plan
from segshuffle.collection.planning.question import Question
from segshuffle.collection.rehearsal.run import rehearse, simulate
from segshuffle.datasets.own.layout import Layout
from segshuffle.datasets.own.reading import read_transactions
from segshuffle.datasets.own.transactions import Transactions
from segshuffle.errors import DataError, ParameterError
from segshuffle.numerics.ranges import check_kind, numbers, whole_if_equal
from segshuffle.plans.plan import Assumptions, Plan, Problem
from segshuffle.plans.privacy_loss import product_of
from segshuffle.plans.targets import cap_of

__all__ = [
    "Account",
    "Answer",
    "Assumptions",
    "Client",
    "Demand",
    "Document",
    "Estimate",
    "Goal",
    "Guess",
    "Layout",
    "Limits",
    "Plan",
    "Problem",
    "Question",
    "Transactions",
    "account",
    "answer",
    "compose",
    "estimate",
    "mechanism",
    "plan",
    "read_messages",
    "read_plan",
    "read_transactions",
    "rehearse",
    "save_plan",
    "simulate",
]


def plan(problem: Problem, **asked: Any) -> Plan:
    """Choose how many dummies users send, and how many messages about a held item, with proven guarantees.

    Parameters
    ----------
    problem : Problem
        Public numbers only.
    **asked
        Fields of `Goal` (``target_error``, ``least``, ``top``), `Limits` (``copies_max``, ``max_messages``, ...) and
        `Guess` (``guess``, ``mean_size``, ``sizes``), and ``dummies`` and ``hide_level``: the options of the command
        ``segshuffle plan``, by the same names.

    Returns
    -------
    Plan
        The plan with the least error within the limits; with ``target_error`` the one with the fewest messages, or
        with the least epsilon. Its ``scheme.copies`` are the messages about a held item, by level, and
        ``blanket_per_user`` is the number of dummies, both on average. Its ``certificate`` has, for each level, an
        interval that contains delta.

    Raises
    ------
    InfeasibleError
        If no plan meets the guarantees within the limits.
    OptionsError
        If there is no such option.
    ParameterError
        If an option is outside its range.
    """
    return answer(Question.of(problem, **asked)).plan


def estimate(plan: Plan, counts: ArrayLike, names: Sequence[str] | None = None) -> Estimate:
    """Estimate every item's share of the users from the messages counted by item.

    Parameters
    ----------
    plan : Plan
        A plan from `plan`. The level_counts of its problem must be those of the users who took part (see
        `Plan.of_participants`).
    counts : array_like of int, shape (domain_size,)
        Messages that name each item; with a signed blanket, the number of pluses minus that of minuses.
    names : sequence of str, optional
        Names of the items, in the order of their numbers.

    Returns
    -------
    Estimate
        Shares with intervals, as arrays, table (``to_frame``) and plot (``plot``).

    Raises
    ------
    DataError
        If there is not one integer per item, >= 0 unless the blanket is signed, or not one name per item.
    """
    check_kind("plan", plan, Plan)
    try:
        problem, counted = plan.problem, np.asarray(counts)
    except ValueError:  # rows of different lengths
        raise ParameterError("counts", counts, "an integer for each item") from None
    signed = plan.scheme.law.has_signs
    if (
        counted.shape != (problem.domain_size,)
        or counted.dtype.kind not in "iu"
        or not (signed or (counted >= 0).all())
    ):
        least = f", the least is {counted.min()}" if counted.dtype.kind in "iu" and counted.size else ""
        raise DataError(
            f"counts are of shape {counted.shape} and type {counted.dtype}{least}; needed is an integer"
            f"{'' if signed else ' >= 0'} for each of domain_size = {problem.domain_size} items."
        )
    names = checked_names(names, problem.domain_size)
    return Estimate(plan.scheme.estimate(counted, problem.level_counts), plan, names)


@overload
def account(
    mechanism: Mechanism,
    *,
    n_users: int | np.integer,
    delta: float | None = None,
    epsilon: float | None = None,
    rounds: int = 1,
) -> Account: ...
@overload
def account(
    mechanism: Mechanism,
    *,
    n_users: ArrayLike,
    delta: ArrayLike | None = None,
    epsilon: ArrayLike | None = None,
    accountant: str | Accountant,
    rounds: int = 1,
) -> Any: ...
def account(
    mechanism: Mechanism,
    *,
    n_users: ArrayLike,
    delta: ArrayLike | None = None,
    epsilon: ArrayLike | None = None,
    accountant: str | Accountant | None = None,
    rounds: int = 1,
) -> Account | float | FloatArray:
    """Compute how private one shuffled message per user is: the epsilon at `delta`, or the delta at `epsilon`.

    Parameters
    ----------
    mechanism : Mechanism
        The randomizer of every user, made by `mechanism(name, ...)`.
    n_users : int or array_like of int
        Number of users, in [1, 1e15].
    delta, epsilon : float or array_like
        The target, exactly one of them: delta in [1e-280, 1), epsilon in [0, 300]. Arrays are broadcast.
    accountant : str, Accountant or None
        Name or object of the accountant; None asks all accountants that apply, for single numbers only.
    rounds : int
        Collections of the same users, in [1, 10000], that the number covers together. With more than one only proven
        upper bounds of delta are composed.

    Returns
    -------
    Account, float or ndarray
        Without `accountant`, a list with an entry for each accountant that gives a number, with its value and kind
        (exact, upper, lower, published or asymptotic). With `accountant`, its value, on the safe side.

    Raises
    ------
    ParameterError
        If the accountant does not apply to the mechanism, or a parameter is outside its range.
    """
    whole = whole_if_equal(n_users)
    asked: dict[str, Any] = {"n_users": whole, "delta": delta, "epsilon": epsilon, "rounds": rounds}
    if accountant is not None:
        name = accountant.name if isinstance(accountant, Accountant) else accountant
        return amplification.values(accountant=name, mechanism=mechanism, **asked)
    for name, each in (("n_users", n_users), ("delta", delta), ("epsilon", epsilon)):
        if each is not None and numbers(name, each, "a number").ndim:
            raise ParameterError("accountant", None, "given where several numbers are asked for")
    entries, left_out = amplification.compare(mechanism=mechanism, **asked)
    told = {"randomizer": mechanism.name, "local_epsilon": mechanism.local_epsilon, **mechanism.parameters, **asked}
    question = ", ".join(f"{name} = {value}" for name, value in told.items() if value not in (None, np.inf))
    return Account(entries, "epsilon" if epsilon is None else "delta", question, left_out)


def compose(
    collections: Sequence[tuple[Plan, float]], *, delta: float | None = None, epsilon: float | None = None
) -> float:
    """Compute an upper bound on the privacy loss of several collections of one user together.

    Parameters
    ----------
    collections : sequence of (Plan, float)
        Plans with proven accounting, each with the user's level. A plan for T rounds counts as T collections; give a
        plan of one round as often as the user takes part. What a cap on the dummies of a user costs is included.
    delta, epsilon : float
        The target, exactly one of them: delta in [1e-110, 1), epsilon in [0, 100].

    Returns
    -------
    float
        The epsilon at `delta` (inf if none up to 100 suffices), or the delta at `epsilon`, rounded up. It does not
        include what the messages about levels (round 1) reveal about private levels.

    Raises
    ------
    ParameterError
        If a plan or a level cannot be composed, or if not exactly one target is given.
    """
    try:
        asked = [(plan, level) for plan, level in collections]
    except (TypeError, ValueError):
        raise ParameterError("collections", collections, "a list of pairs (plan, level)") from None
    products, caps = [], []
    for plan, level in asked:
        pair, pairs = product_of(plan, level=level)
        if pairs and pair.copies > 0:
            products.append((pair, pairs))
            caps += [cap] if (cap := cap_of(plan.scheme, plan.problem)) else []
    target = amplification.target_of(delta, epsilon)
    composed = composed_delta if delta is None else composed_epsilon
    return composed(products, **target, caps=caps)
