"""Ask any accountant of one shuffled message per user: which ones apply to a mechanism, and what numbers they give.

A `Mechanism` is what the users run, with all that accountants need to know of it; `mechanisms.mechanism` makes it.
Numbers of users and targets may be arrays; they are broadcast against one another.
"""

import math
from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from segshuffle.accounting.single_message.accountants import ACCOUNTANTS, Accountant, Kind, Mechanism
from segshuffle.accounting.single_message.accountants.personalized import PERSONAL, PersonalizedUsers
from segshuffle.accounting.single_message.rounds import RoundsBound
from segshuffle.arrays import FloatArray
from segshuffle.digits import rounded
from segshuffle.errors import ParameterError
from segshuffle.numerics.poisson_binomial import LARGEST_TRIALS
from segshuffle.numerics.ranges import (
    LARGEST_EPSILON,
    LARGEST_LOCAL_EPSILON,
    SMALLEST_LOCAL_EPSILON,
    check_epsilon,
    check_integer,
    check_kind,
    check_target,
    check_users,
    numbers,
)
from segshuffle.numerics.search import reached_epsilon
from segshuffle.numerics.typed import typed


class Entry(NamedTuple):
    """One accountant's answer."""

    accountant: str
    value: float
    kind: Kind
    status: str
    source: str
    #: Whether the value is a guarantee: a proven upper bound for whatever the users hold.
    guarantee: bool = False

    @classmethod
    @typed
    def of(cls, accountant: Accountant, mechanism: Mechanism, value: float) -> "Entry":
        """Return an accountant's number for a mechanism, with what is known of it."""
        kind, status = accountant.kind_for(mechanism), accountant.status_for(mechanism)
        return cls(accountant.name, value, kind, status, accountant.source, accountant.guarantees(mechanism))


def applicable(mechanism: Mechanism, only: Collection[str] = ()) -> list[Accountant]:
    """Return the named accountants, or all that know enough of the mechanism; raise ParameterError for other names.

    Without names they are in the order of lists and legends.
    """
    check_kind("mechanism", mechanism, Mechanism)
    known = {each.name: each for each in ACCOUNTANTS.values() if each.applies(mechanism)}
    if mechanism.name == "krr" and mechanism.no_left_over:  # on two options
        from segshuffle.accounting.single_message.bit_sums import ACCOUNTANT

        known[ACCOUNTANT.name] = ACCOUNTANT
    for name in only:
        if not isinstance(name, str) or name not in known:
            raise ParameterError("accountant", name, f"one that applies to {mechanism.name}: {', '.join(known)}")
    return [known[name] for name in only or known]


def values(
    *,
    accountant: str,
    mechanism: Mechanism,
    n_users: npt.ArrayLike,
    delta: npt.ArrayLike | None = None,
    epsilon: npt.ArrayLike | None = None,
    rounds: int = 1,
) -> float | FloatArray:
    """Ask an accountant for epsilon at `delta`, or for delta at `epsilon`, rounded to the safe side.

    Parameters
    ----------
    accountant : str
        A name of `ACCOUNTANTS`.
    mechanism : Mechanism
        What every user applies.
    n_users : int or array_like of int
        Number of users n, the victim included, in [1, 1e15].
    delta, epsilon : float or array_like
        Targets, exactly one of the two: delta in [1e-280, 1), epsilon in [0, 300]; broadcast against `n_users`.
    rounds : int
        Collections of the same users, in [1, 10000], that the number covers together.

    Returns
    -------
    float or ndarray
        Of the broadcast shape. An epsilon is +inf if none up to 300 is known to reach `delta`.

    Raises
    ------
    ParameterError
        If the accountant does not apply to the mechanism, if a parameter is outside its range, or if delta is asked of
        an accountant that gives epsilon alone.
    """
    ((name, targets),) = target_of(delta, epsilon).items()
    (chosen,) = applicable(mechanism, [accountant])
    allowed = "a number, or an array of numbers that fits n_users"
    try:
        sizes, each = np.broadcast_arrays(np.asarray(n_users), numbers(name, targets, allowed))
    except ValueError:
        raise ParameterError(name, targets, allowed) from None
    points = zip(sizes.ravel().tolist(), each.ravel().tolist(), strict=True)
    answers = [ask(chosen, mechanism, n, **{name: target, "rounds": rounds}) for n, target in points]
    return np.reshape(np.array(answers), sizes.shape) if sizes.ndim else answers[0]


def compare(
    *,
    mechanism: Mechanism,
    n_users: int,
    delta: float | None = None,
    epsilon: float | None = None,
    only: Collection[str] = (),
    rounds: int = 1,
) -> tuple[list[Entry], dict[str, str]]:
    """Ask all applicable accountants at one point: for epsilons at `delta`, or for deltas at `epsilon`.

    Parameters
    ----------
    mechanism, n_users, delta, epsilon
        As for `values`.
    only : collection of str
        Names of the accountants to ask; default: all that apply.
    rounds : int
        Collections of the same users, in [1, 10000], that the number covers together.

    Returns
    -------
    entries : list of Entry
        `value` is the epsilon, or the delta on the safe side of its interval.
    left_out : dict
        Accountants that give no number at this point, with the reason.
    """
    target = target_of(delta, epsilon)
    _check(n_users, **target)
    asked = applicable(mechanism, only)
    _check_rounds(mechanism, rounds)
    entries, left_out = [], {}
    for each in asked:
        try:
            value = ask(each, mechanism, n_users, delta, epsilon, rounds)
        except ParameterError as error:
            left_out[each.name] = str(error)
            continue
        if value == math.inf:
            left_out[each.name] = f"no epsilon up to {LARGEST_EPSILON:g} is known to reach delta = {delta:g}"
        else:
            entries.append(Entry.of(each, mechanism, value))
    return entries, left_out


def ask(
    chosen: Accountant,
    mechanism: Mechanism,
    n_users: int,
    delta: float | None = None,
    epsilon: float | None = None,
    rounds: int = 1,
) -> float:
    """Return the epsilon at `delta`, or else the end of delta's interval at `epsilon` that is safe to report.

    The epsilon is +inf if none up to 300 is known to reach `delta`.
    """
    _check(n_users, delta, epsilon)
    _check_rounds(mechanism, rounds)
    if rounds > 1 and (chosen.delta is None or chosen.kind_for(mechanism) != "upper"):
        raise ParameterError("rounds", rounds, f"1 for {chosen.name}, which gives no proven upper bound of delta")
    delta_of = partial(chosen.delta_of, mechanism, int(n_users))
    if delta is None:
        value = delta_of(epsilon or 0.0)
    else:
        value = chosen.epsilon_of(mechanism, int(n_users), delta)
        if chosen.delta and chosen.kind != "lower":
            value = min(reached_epsilon(delta_of, value, delta), mechanism.local_epsilon)
    if rounds > 1:
        # where the bound of one collection is not convex, the product has less: more collections never count as less
        bound = RoundsBound(delta_of, ceiling=mechanism.local_epsilon, rounds=rounds)
        composed = bound.delta(epsilon=epsilon or 0.0).upper if delta is None else bound.epsilon(delta=delta)
        value = max(value, composed)
    return value if value <= LARGEST_EPSILON else math.inf


def local_epsilon_for(
    chosen: Accountant,
    make: Callable[[float], Mechanism],
    *,
    n_users: int,
    epsilon: float,
    delta: float,
) -> float:
    """Find the local epsilon at which the accountant's bound meets (epsilon, delta).

    Parameters
    ----------
    chosen : Accountant
        The accountant of the bound; it must apply to the mechanism.
    make : callable
        Makes the mechanism from a local epsilon.
    n_users : int
        Number of users, in [1, 1e15].
    epsilon, delta : float
        The target: epsilon in [0, 300], delta in [1e-280, 1).

    Returns
    -------
    float
        Unless the bound is a lower one, the largest local epsilon found to meet the target. The bound was evaluated
        there, unless it is at most `epsilon`: then no shuffling is needed. 0 if no local epsilon from 1e-6 on meets it.
        For a lower bound, the least local epsilon found at which no analysis can prove the target; inf if there is none
        up to 50.

    Raises
    ------
    ParameterError
        If a parameter is outside its range.
    """
    _check(n_users, delta, epsilon)
    low, high = max(min(epsilon, LARGEST_LOCAL_EPSILON), SMALLEST_LOCAL_EPSILON), LARGEST_LOCAL_EPSILON
    asked, most = ((delta, None), epsilon) if chosen.delta is None else ((None, epsilon), delta)
    lower = chosen.kind == "lower"

    def meets(local_epsilon: float) -> bool:
        if local_epsilon <= epsilon:
            return True
        mechanism = make(local_epsilon)
        try:
            return ask(chosen, mechanism, n_users, *asked) <= most
        except ParameterError:  # outside the conditions of a theorem, which then says nothing
            return False

    if meets(high):
        return math.inf if lower else high
    if not meets(low):
        return low if lower else 0.0
    for _ in range(20):
        middle = rounded(math.sqrt(low * high))
        low, high = (middle, high) if meets(middle) else (low, middle)
    return high if lower else low


def compare_budgets(
    *, budgets: Sequence[tuple[float, int]], delta: float | None = None, epsilon: float | None = None
) -> tuple[list[Entry], dict[str, str]]:
    """Ask all bounds for users who add Laplace noise with budgets of their own: epsilons at `delta`, or deltas.

    It is proven only that every user has at least the guarantee of the largest budget without shuffling. Clones of a
    user with another budget are not clones of the victim, so the theorems for equal users do not apply.

    Parameters
    ----------
    budgets : sequence of (float, int)
        Local epsilons in [1e-50, 50] with the number of users at each; between 2 and 200,000 users in all.
    delta, epsilon : float
        The target; exactly one of them.

    Returns
    -------
    entries, left_out
        As for `compare`.
    """
    target = target_of(delta, epsilon)
    levels, counts = [level for level, _ in budgets], [count for _, count in budgets]
    fits = all(isinstance(count, int | np.integer) and count >= 0 for count in counts)
    if not fits or not 2 <= sum(counts) <= LARGEST_TRIALS:
        allowed = "a list of pairs (local epsilon, number of users): integers >= 0, between 2 and "
        raise ParameterError("budgets", budgets, f"{allowed}{LARGEST_TRIALS} users together")
    _check(sum(counts), **target)
    users = PersonalizedUsers(local_epsilons=np.repeat(levels, counts))
    local = users.largest_budget if epsilon is None else float(epsilon < users.largest_budget)
    status = "proven: the largest budget is a guarantee even without shuffling"
    entries = [Entry("local", local, "upper", status, "", guarantee=True)]
    left_out = {}
    for name, make in PERSONAL.items():
        chosen = ACCOUNTANTS[name]
        try:
            bound = make(users)
            value = bound.delta(**target).upper if delta is None else bound.epsilon(**target)
        except ParameterError as error:
            left_out[name] = str(error)
        else:
            entries.append(Entry(name, value, chosen.kind, chosen.status, chosen.source))
    return entries, left_out


def target_of(delta: Any, epsilon: Any) -> dict[str, Any]:
    """Return the target that is given, by its name; refuse both and neither."""
    given = {name: value for name, value in (("delta", delta), ("epsilon", epsilon)) if value is not None}
    if len(given) != 1:
        raise ParameterError("delta, epsilon", (delta, epsilon), "exactly one of the two given")
    return given


def _check_rounds(mechanism: Mechanism, rounds: int) -> None:
    """Refuse what is no number of collections, and several of a sample of the users, which may be the same in all."""
    check_integer("rounds", rounds, 1, most=10_000)
    if rounds > 1 and "subsample" in mechanism.parameters:
        allowed = (
            "1 with subsample: if one sample of the users serves all rounds, the loss is far larger than with a new "
            "sample for each. Leave subsample out, and count as users only those who take part"
        )
        raise ParameterError("rounds", rounds, allowed)


def _check(n_users: int, delta: float | None = None, epsilon: float | None = None) -> None:
    """Refuse what is outside its range."""
    check_users(n_users)
    if delta is not None:
        check_target(delta)
    if epsilon is not None:
        check_epsilon(epsilon)
