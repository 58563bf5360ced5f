"""What `import segshuffle` offers: the steps of a collection, the accountants, and the values that they take.

`plan` makes a plan from public numbers, `simulate` simulates the users, `rehearse` tries a plan on them, and `estimate`
estimates from counts. `account` is for one message per user, `compose` for several collections. An accountant is given
by its name or as an object. The *blanket* is the dummy messages of all users; *copies* are messages of a user about one
held item. Random numbers of `simulate` are reproducible, not secret; a `Client` draws secret ones.

In a real collection, `save_plan` writes a plan, and clients and server read it by `read_plan`. A `Client` checks what
the plan guarantees (its ``scheme`` is the announcement), and draws messages. `read_messages` counts those that a
shuffler mixed. `read_transactions` reads data of your own.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike

from segshuffle.accounting.collections.composition import composed_delta, composed_epsilon
from segshuffle.accounting.numerics.ranges import check_choice, check_kind, whole_if_equal
from segshuffle.accounting.single_message import amplification
from segshuffle.accounting.single_message.accountants import Accountant, Mechanism
from segshuffle.accounting.single_message.mechanisms import mechanism
from segshuffle.accounts import Account
from segshuffle.arrays import FloatArray, Table
from segshuffle.datasets.layout import Layout
from segshuffle.datasets.transactions import Transactions
from segshuffle.errors import DataError, ParameterError
from segshuffle.estimates import Estimate
from segshuffle.files import unreadable
from segshuffle.planning.answer import Answer, answer
from segshuffle.planning.asked import Goal, Guess, Limits
from segshuffle.planning.documents import Document, checked_names, read_document, write_document
from segshuffle.planning.question import Question
from segshuffle.protocols.base import Assumptions, Plan, Problem
from segshuffle.protocols.messages import Client, Demand
from segshuffle.protocols.messages.message_lines import Counted, read_counts
from segshuffle.protocols.privacy_loss import product_of
from segshuffle.rehearsal.run import rehearse, simulate

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
        `Guess` (``guess``, ``mean_size``, ``sizes``), and ``blanket`` and ``hide_level``: the options of the command
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
    problem, counted = plan.problem, np.asarray(counts)
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
    return Estimate(plan.scheme.estimate(counted, problem.level_counts), plan, _checked(names, plan))


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
    check_kind("mechanism", mechanism, Mechanism)
    if any(np.ndim(each) for each in (n_users, delta, epsilon) if each is not None):
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
        Plans with proven accounting and without a cap on the dummies of a user, each with the user's level in this
        collection.
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
    products = [each for plan, level in asked if (each := product_of(plan, level=level))[1]]
    if delta is not None and epsilon is None:
        return composed_epsilon(products, delta=delta)
    if epsilon is not None and delta is None:
        return composed_delta(products, epsilon=epsilon)
    raise ParameterError("delta, epsilon", (delta, epsilon), "exactly one of the two given")


def read_plan(path: Path | str) -> Document:
    """Read a plan that `save_plan` or ``segshuffle plan --save`` wrote.

    Parameters
    ----------
    path : Path or str
        The file.

    Returns
    -------
    Document
        Its ``plan`` is the plan, and its ``items`` are the names of the items, or None.

    Raises
    ------
    DataError
        If the file is not a plan of this version, or its numbers contradict each other or are not proven.
    """
    return read_document(Path(path))


def save_plan(plan: Plan, path: Path | str, names: Sequence[str] | None = None) -> None:
    """Write a plan for clients and server, as JSON. The blanket has a cap if the plan was made with ``blanket_cap``.

    Parameters
    ----------
    plan : Plan
        A plan from `plan`.
    path : Path or str
        The file; it is written completely or not at all.
    names : sequence of str, optional
        Names of the items, in the order of their numbers.

    Raises
    ------
    DataError
        If there is not one name per item.
    ParameterError
        If the plan is not proven.
    """
    check_kind("plan", plan, Plan)
    check_choice("plan.kind", plan.kind, ("exact", "upper"))
    write_document(Path(path), Document(plan, _checked(names, plan)))


def read_messages(path: Path | str, plan: Plan, *, drop: bool = False) -> Counted:
    """Count the messages of a file, one per line; or read counts, with the header ``item,count``.

    Parameters
    ----------
    path : Path or str
        A file as ``segshuffle client`` writes it, mixed by a shuffler and not packed.
    plan : Plan
        The plan that the clients followed.
    drop : bool
        Leave out lines that are no messages instead of refusing the file.

    Returns
    -------
    Counted
        Its ``counts`` are what `estimate` takes; ``messages`` and ``dropped`` are numbers of lines.

    Raises
    ------
    DataError
        If a line is wrong. The error names the file, the line and the value.
    """
    check_kind("plan", plan, Plan)
    try:
        with Path(path).open("rb") as stream:
            signed = plan.scheme.law.has_signs
            return read_counts(stream, str(path), plan.problem.domain_size, signed=signed, drop=drop)
    except OSError as error:
        raise unreadable(str(path), error) from error


def read_transactions(
    data: Path | str | Table,
    *,
    items: Sequence[str] | Path | None = None,
    domain_size: int | None = None,
    levels: Sequence[float] = (),
    layout: Layout | None = None,
    label: str | None = None,
) -> Transactions:
    """Read who holds what from a file or a table. This needs the extra ``data``.

    Parameters
    ----------
    data : Path, str or table
        A file (csv, tsv, jsonl, parquet, or text with one line per user), or a table of Polars, Arrow or pandas.
    items : sequence of str or Path, optional
        All items that exist: a public list, or a file with one item per line. Without it and without `domain_size`, the
        items are those found in the data, in the order of names or numbers; this is not private.
    domain_size : int, optional
        The items are the integers 0..domain_size - 1.
    levels : sequence of float
        The levels on offer; needed if the layout names a column of levels.
    layout : Layout, optional
        How the data are laid out.
    label : str, optional
        Name of the data; by default that of the file.

    Returns
    -------
    Transactions
        Users in the order of their first appearance.

    Raises
    ------
    DataError
        If the data are not as described. The error names the file, the line, the value and what to do.
    """
    # polars, which it needs, is no dependency of the core
    from segshuffle.datasets.reading import read_transactions

    asked: dict[str, Any] = {"items": items, "domain_size": domain_size, "levels": levels}
    return read_transactions(data, **asked, layout=layout, label=label)


def _checked(names: Iterable[object] | None, plan: Plan) -> list[str] | None:
    """Return the names of all items as a list, if there are any."""
    if names is None:
        return None
    return checked_names(names if isinstance(names, str) else list(map(str, names)), plan.problem.domain_size)
