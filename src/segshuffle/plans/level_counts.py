r"""Level counts that the server estimates from round 1, for planning and for the denominator of the estimates.

Estimates. Every user sends its level once and Poisson(m_p) uniform levels, so counter k minus mu, mu = n m_p/K, is
unbiased for n_k, with variance mu, independently over k. There are three forms, all post-processing of round 1:

- `estimates`: counter - mu. They are unbiased, may be negative, and need not sum to n.
- `balanced`: the estimates, shifted so that they sum to the public n. They are unbiased and more accurate. *Used by the
  estimator of round 2*: N_hat = sum_k balanced_k a_k (a_k: sampling rate or copies), kept inside [n min a, n max a].
- `planning`: integers >= 0 that sum to n, nearest to the estimates (least squares), rounded. *Used for planning.*

Planning with noisy counts costs accuracy, but no privacy. The accountants of the segmented protocols use only the
public n, d, s, E_k, delta and m, never an n_k. The n_k only influence the choice of m and a_k among safe ones.
Protocols that collect every level separately compute their blanket from n_k itself. So they are refused with private
levels (see `server.Server.collections`).

Error of the estimator (delta method). For a fixed plan, S_j = C_j - n m/d and N_hat are independent,
E[S_j] = sum_k a_k n_kj. N_hat has mean N and variance V = mu sum_k (a_k - mean a)^2, which is 0 if all levels have one
rate. With v = V/N^2, expanding 1/N_hat to second order gives

    E[S_j/N_hat] - E[S_j]/N = v E[S_j]/N,    Var[S_j/N_hat] = (Var[S_j] (1 + 3 v) + v E[S_j]^2)/N^2,

with relative errors of the order of v (`noisy_level_error`). These formulas ignore that the rates were chosen from
the same noisy counts. The error bound is flat around its minimum, so this choice changes little.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from segshuffle.accounting.collections.calibration import least_blanket_mean
from segshuffle.arrays import FloatArray, IntArray
from segshuffle.digits import rounded_up
from segshuffle.errors import InfeasibleError
from segshuffle.numerics.ranges import LARGEST_BLANKET, check_positive, check_within
from segshuffle.plans.plan import MANY_MESSAGES
from segshuffle.plans.scheme import Scheme


@dataclass(frozen=True)
class LevelPrivacy:
    """The guarantee of round 1, for the level that a user picks.

    Parameters
    ----------
    epsilon, delta : float
        epsilon_p in (0, 100] and delta_p in (0, 1).
    """

    epsilon: float
    delta: float

    def __post_init__(self) -> None:
        check_within("level_epsilon", self.epsilon, 0, 100, "(]")
        check_within("level_delta", self.delta, 0, 1, "()")


def level_announcement(n_users: int, n_levels: int, privacy: LevelPrivacy | None) -> Scheme:
    """Return the announcement of round 1: a scheme with the levels as domain and one item per user.

    With one level nobody sends anything.

    Parameters
    ----------
    n_users : int
        Users who certainly send their blanket.
    n_levels : int
        Number of levels on offer.
    privacy : LevelPrivacy or None
        The guarantee of round 1.

    Raises
    ------
    InfeasibleError
        If this guarantee needs more dummy messages than a client may send.
    """
    if n_levels == 1:  # nothing to tell
        return Scheme(1, 1, n_users, (0.0,), 0.0)
    blanket = 0.0
    if privacy is not None:
        mean = least_blanket_mean(copies=1.0, pairs=1, epsilon=privacy.epsilon, delta=privacy.delta)
        blanket = rounded_up(mean * n_levels / n_users * (1 + 1e-15))  # the division must not round down
        if blanket > LARGEST_BLANKET:
            raise InfeasibleError(
                f"level privacy ({privacy.epsilon:g}, {privacy.delta:g}) needs {blanket:.3g} blanket messages from "
                f"each of {n_users} honest users in round 1, more than {LARGEST_BLANKET:g}: raise its epsilon or delta."
            )
    return Scheme(n_levels, 1, n_users, (1.0,), blanket)


def left_for_items(max_messages: float, spent: float) -> float:
    """Return how many messages per user of a budget for both rounds are left for round 2.

    Parameters
    ----------
    max_messages : float
        Budget of expected messages per user, both rounds together.
    spent : float
        Messages per user about the level.

    Raises
    ------
    ParameterError
        If the budget is not a positive number.
    InfeasibleError
        If nothing is left.
    """
    check_positive("max_messages", max_messages)
    if not max_messages > spent:
        raise InfeasibleError(
            f"max_messages = {max_messages:g} is used up by round 1, about the levels, which takes {spent:.6g} "
            "messages per user. Raise it, or the epsilon of the levels if they are private."
        )
    return max_messages - spent


def level_cautions(spent: float) -> tuple[str, ...]:
    """Return the warnings for round 1, given the mean number of messages per user."""
    if spent <= MANY_MESSAGES:
        return ()
    return (
        f"Round 1, about the levels, takes {spent:.3g} messages per user. Raise the epsilon or the "
        "delta at which levels are hidden, or the number of users.",
    )


@dataclass(frozen=True, eq=False)
class LevelEstimates:
    """Level counts after round 1, of one collection or of several.

    Parameters
    ----------
    counts : ndarray of int64, shape (n_levels,) or (repetitions, n_levels)
        Counts by level, dummies included.
    n_users : int
        Users n, public.
    blanket_mean : float
        Expected blanket messages per level mu = n m_p/K.
    """

    counts: IntArray
    n_users: int
    blanket_mean: float

    @property
    def estimates(self) -> FloatArray:
        """Unbiased counts, each of variance `blanket_mean`."""
        return np.asarray(self.counts - self.blanket_mean)

    @property
    def balanced(self) -> FloatArray:
        """Unbiased counts that sum to n, for the denominator of round 2."""
        surplus = self.estimates.sum(axis=-1, keepdims=True) - self.n_users
        return np.asarray(self.estimates - surplus / self.counts.shape[-1])

    @property
    def planning(self) -> tuple[int, ...]:
        """Integers >= 0 that sum to n, for planning after one collection."""
        return planning_counts(self.estimates, self.n_users)

    def weight(self, copies: ArrayLike) -> Any:
        """Estimate N = sum_k n_k a_k of every collection, inside its possible range."""
        rates = np.asarray(copies, dtype=float)
        return np.clip(self.balanced @ rates, self.n_users * rates.min(), self.n_users * rates.max())


def planning_counts(estimates: ArrayLike, n_users: int) -> tuple[int, ...]:
    """Return the nearest counts that n users can have.

    Least-squares projection on {x >= 0, sum x = n} (water filling), then rounding by largest remainders.

    Parameters
    ----------
    estimates : array_like of float, shape (n_levels,)
        Numbers up to 1e12.
    n_users : int
        n in [1, 1e12].
    """
    values = np.asarray(estimates, dtype=float)
    descending = np.sort(values)[::-1]
    surplus = (np.cumsum(descending) - n_users) / np.arange(1, values.size + 1)
    shift = surplus[np.flatnonzero(descending > surplus)[-1]]
    projected = np.maximum(values - shift, 0.0)
    floors = np.floor(projected).astype(np.int64)
    missing = n_users - int(floors.sum())
    by_remainder = np.argsort(floors - projected, kind="stable")
    floors[by_remainder[: max(missing, 0)]] += 1
    if missing < 0:  # round-off made the sum larger than n
        floors[np.argmax(floors)] += missing
    return tuple(floors.tolist())


def weight_variance(copies: ArrayLike, blanket_mean: float) -> float:
    """Return the variance of N_hat from balanced noisy counts before it is clipped: mu sum_k (a_k - mean a)^2."""
    rates = np.asarray(copies, dtype=float)
    return float(blanket_mean * np.sum((rates - rates.mean()) ** 2))


def noisy_level_error(error: float, shares: FloatArray, relative_variance: float) -> float:
    """Predict the expected squared error of S_j/N_hat, summed over the items (see the module).

    Parameters
    ----------
    error : float
        The same with the exact denominator N.
    shares : ndarray of float, shape (domain_size,)
        E[S_j]/N.
    relative_variance : float
        v = Var[N_hat]/N^2.
    """
    v = relative_variance
    return float(error * (1.0 + 3.0 * v) + (v + v**2) * (shares @ shares))
