"""Ask any accountant of one shuffled message per user: which ones apply to a mechanism, and what numbers they give.

A `Mechanism` is what the users run, with all that accountants need to know of it; `mechanisms.mechanism` makes it.
Numbers of users and targets may be arrays; they are broadcast against one another.
"""

import math
from collections.abc import Callable, Collection, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from segshuffle.accounting.numerics.poisson_binomial import LARGEST_TRIALS
from segshuffle.accounting.numerics.ranges import (
    LARGEST_EPSILON,
    LARGEST_LOCAL_EPSILON,
    LARGEST_USERS,
    SMALLEST_LOCAL_EPSILON,
    check_choice,
    check_epsilon,
    check_kind,
    check_target,
    numbers,
)
from segshuffle.accounting.single_message.accountants import ACCOUNTANTS, Accountant, Kind, Mechanism
from segshuffle.accounting.single_message.accountants.personalized import PERSONAL, PersonalizedUsers
from segshuffle.arrays import FloatArray
from segshuffle.digits import rounded
from segshuffle.errors import ParameterError


class Entry(NamedTuple):
    """One accountant's answer."""

    accountant: str
    value: float
    kind: Kind
    status: str
    source: str


def accountant(name: str) -> Accountant:
    """Return the accountant of that name; ParameterError with all names if there is none."""
    check_choice("accountant", name, ACCOUNTANTS)
    return ACCOUNTANTS[name]


def applicable(mechanism: Mechanism) -> list[Accountant]:
    """List the accountants that know enough of the mechanism."""
    check_kind("mechanism", mechanism, Mechanism)
    return [each for each in ACCOUNTANTS.values() if each.applies(mechanism)]


def values(
    *,
    accountant: str,
    mechanism: Mechanism,
    n_users: npt.ArrayLike,
    delta: npt.ArrayLike | None = None,
    epsilon: npt.ArrayLike | None = None,
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

    Returns
    -------
    float or ndarray
        Of the broadcast shape.

    Raises
    ------
    ParameterError
        If the accountant does not apply to the mechanism, or a parameter is outside its range; also for a delta of
        a closed form for epsilon alone.
    """
    name, targets = _asked(delta, epsilon)
    chosen = _checked(accountant, mechanism)
    allowed = "a number, or an array of numbers that fits n_users"
    try:
        sizes, each = np.broadcast_arrays(np.asarray(n_users), numbers(name, targets, allowed))
    except ValueError:
        raise ParameterError(name, targets, allowed) from None
    found = [ask(chosen, mechanism, n, **{name: float(at)}) for n, at in zip(sizes.flat, each.flat, strict=True)]
    return np.reshape(np.array(found), sizes.shape) if sizes.ndim else found[0]


def compare(
    *,
    mechanism: Mechanism,
    n_users: int,
    delta: float | None = None,
    epsilon: float | None = None,
    only: Collection[str] = (),
) -> tuple[list[Entry], dict[str, str]]:
    """Ask all applicable accountants at one point: for epsilons at `delta`, or for deltas at `epsilon`.

    Parameters
    ----------
    mechanism, n_users, delta, epsilon
        As for `values`.
    only : collection of str
        Names of the accountants to ask; default: all that apply.

    Returns
    -------
    entries : list of Entry
        `value` is the epsilon, or the delta on the safe side of its interval.
    left_out : dict
        Accountants whose own conditions exclude this point, with the reason.
    """
    _check_point(delta, epsilon)
    _users(n_users)
    if isinstance(only, str):
        raise ParameterError("only", only, f"a list of names of accountants, such as [{only!r}]")
    entries, left_out = [], {}
    for each in [_checked(name, mechanism) for name in only] or applicable(mechanism):
        if delta is None and each.delta is None:
            left_out[each.name] = "a formula for epsilon: ask at a delta"
            continue
        try:
            value = ask(each, mechanism, n_users, delta, epsilon)
        except ParameterError as error:
            left_out[each.name] = str(error)
            continue
        if value == math.inf:
            left_out[each.name] = f"no epsilon up to {LARGEST_EPSILON:g} reaches delta = {delta:g}"
        else:
            status = each.status_for(mechanism)
            entries.append(Entry(each.name, value, each.kind_for(mechanism), status, each.source))
    return entries, left_out


def ask(
    chosen: Accountant, mechanism: Mechanism, n_users: Any, delta: float | None = None, epsilon: Any = None
) -> float:
    """Return the epsilon at `delta`, or else the end of delta's interval at `epsilon` that is safe to report."""
    n = _users(n_users)
    if delta is not None:
        check_target(delta)
        return chosen.epsilon_of(mechanism, n, delta)
    check_epsilon(epsilon)
    return chosen.delta_of(mechanism, n, epsilon)[chosen.kind != "lower"]


def local_epsilon_for(
    chosen: Accountant,
    make: Callable[[float], Mechanism],
    *,
    n_users: int,
    epsilon: float,
    delta: float,
) -> float:
    """Search the local epsilon at which the accountant's bound meets (epsilon, delta).

    Parameters
    ----------
    chosen : Accountant
        The accountant of the bound; it must apply to the mechanism.
    make : callable
        The mechanism of a local epsilon.
    n_users : int
        Number of users, in [1, 1e15].
    epsilon, delta : float
        The target: epsilon in [0, 300], delta in [1e-280, 1).

    Returns
    -------
    float
        For a guarantee, the largest local epsilon that was found to meet the target: the bound was evaluated there, or
        it is `epsilon` itself, which needs no shuffling; 0 if there is none from 1e-6 on. For a lower bound, the least
        local epsilon found at which no analysis can prove the target; inf if there is none up to 50.

    Raises
    ------
    ParameterError
        If a parameter is outside its range.
    """
    check_epsilon(epsilon)
    check_target(delta)
    _users(n_users)
    low, high = max(min(epsilon, LARGEST_LOCAL_EPSILON), SMALLEST_LOCAL_EPSILON), LARGEST_LOCAL_EPSILON
    asked, most = ({"delta": delta}, epsilon) if chosen.delta is None else ({"epsilon": epsilon}, delta)
    lower = chosen.kind == "lower"

    def meets(local_epsilon: float) -> bool:
        if local_epsilon <= epsilon:
            return True
        mechanism = make(local_epsilon)
        try:
            return ask(chosen, mechanism, n_users, **asked) <= most
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

    Proven is only that every user has at least the guarantee of the largest budget without shuffling. Clones of a user
    with another budget are not clones of the victim, so the theorems for equal users do not apply.

    Parameters
    ----------
    budgets : sequence of (float, int)
        Local epsilons in [1e-50, 50] with the number of users at each; between 2 and 200,000 users in all.
    delta, epsilon : float
        The target; exactly one of them.

    Returns
    -------
    entries, left_out
        As `compare`.
    """
    _check_point(delta, epsilon)
    levels, counts = [level for level, _ in budgets], [count for _, count in budgets]
    fits = all(isinstance(count, int | np.integer) and count >= 0 for count in counts)
    if not fits or not 2 <= sum(counts) <= LARGEST_TRIALS:
        allowed = "a list of pairs (local epsilon, number of users): integers >= 0, between 2 and "
        raise ParameterError("budgets", budgets, f"{allowed}{LARGEST_TRIALS} users together")
    users = PersonalizedUsers(local_epsilons=np.repeat(levels, counts), mechanism="laplace")
    local = users.largest_budget if epsilon is None else float(epsilon < users.largest_budget)
    entries = [Entry("local", local, "upper", "proven: the largest budget is a guarantee even without shuffling", "")]
    left_out = {}
    for name, make in PERSONAL.items():
        chosen = ACCOUNTANTS[name]
        try:
            bound = make(users)
            value = bound.delta(epsilon=epsilon).upper if epsilon is not None else bound.epsilon(delta=delta or 0.0)
        except ParameterError as error:
            left_out[name] = str(error)
        else:
            entries.append(Entry(name, value, chosen.kind, chosen.status, chosen.source))
    return entries, left_out


def _asked(delta: Any, epsilon: Any) -> tuple[str, Any]:
    """Return what is given of the two, with its name; refuse both and neither."""
    if (delta is None) == (epsilon is None):
        raise ParameterError("delta, epsilon", (delta, epsilon), "exactly one of the two given")
    return ("epsilon", epsilon) if delta is None else ("delta", delta)


def _check_point(delta: float | None, epsilon: float | None) -> None:
    """Refuse both or neither, and what is outside its range."""
    name, target = _asked(delta, epsilon)
    (check_target if name == "delta" else check_epsilon)(target)


def _checked(name: str, mechanism: Mechanism) -> Accountant:
    chosen, names = accountant(name), [each.name for each in applicable(mechanism)]
    if name not in names:
        raise ParameterError("accountant", name, f"one that applies to {mechanism.name}: {', '.join(names)}")
    return chosen


def _users(value: Any) -> int:
    value = value.item() if isinstance(value, np.generic) else value
    # compared as it is: an integer may be too large for a float
    if type(value) not in (int, float) or not 1 <= value <= LARGEST_USERS or value % 1:
        raise ParameterError("n_users", value, f"an integer in [1, {LARGEST_USERS:g}]")
    return int(value)
