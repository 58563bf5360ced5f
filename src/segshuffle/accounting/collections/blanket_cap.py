r"""The cost of a cap: no client sends more than c blanket messages, which bounds what a liar can do.

A client redraws its Poisson(m) number until it is at most c. With n' honest clients and T collections the capped
protocol has, for every theta > 0 (docs/proof.md),

    delta_c(epsilon) <= [delta(epsilon + log(1 - kappa)) + e^epsilon theta]/(1 - kappa),
    kappa = n' T e^(k - x) (x/k)^k,   k = c + 1 > x = t/n',   t = n' m + sqrt(2 n' m L) + L/3,   L = log(T/theta).

Here e^epsilon theta is a fixed share of the required delta, so kappa follows from c.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from segshuffle.numerics.ranges import check_integer

#: Share of the required delta that e^epsilon theta takes.
TAIL_SHARE = 1e-3
#: Relative room for the round-off of kappa's logarithm.
_ROUND_OFF = 1e-9


def cap_overflow(
    *, blanket_per_user: float, cap: int, honest_users: int, epsilon: float, delta: float, rounds: int = 1
) -> float:
    """Return kappa of a cap: a bound on the probability that some honest client has to redraw.

    Parameters
    ----------
    blanket_per_user : float
        m > 0.
    cap : int
        Most blanket messages of one client c >= 0.
    honest_users : int
        n' >= 1.
    epsilon, delta : float
        What is asked of the capped protocol.
    rounds : int
        Collections T >= 1.

    Returns
    -------
    float
        Rounded up; 1 if nothing can be proven with this cap.

    Raises
    ------
    ParameterError
        If the cap is negative or no integer.
    """
    check_integer("blanket_cap", cap, 0)
    check_integer("honest_users", honest_users, 1)
    total = honest_users * blanket_per_user
    log_tail = epsilon + math.log(rounds / (TAIL_SHARE * delta))
    per_user = (total + math.sqrt(2 * total * log_tail) + log_tail / 3) / honest_users
    if cap + 1 <= per_user:
        return 1.0
    # k - x - k log(k/x): where it is far below 0, cancellation does no harm
    log_one = (cap + 1) - per_user - (cap + 1) * math.log((cap + 1) / per_user)
    return min(math.exp(math.log(honest_users * rounds) + log_one * (1 - _ROUND_OFF)) * (1 + _ROUND_OFF), 1.0)


def uncapped_target(*, epsilon: float, delta: float, overflow: float) -> tuple[float, float]:
    """Return the (epsilon', delta') that the uncapped protocol must meet, so that the capped one meets its target.

    Both are rounded down where positive. If one is negative, nothing can be proven with this cap.
    """
    if overflow >= 1.0:
        return -math.inf, 0.0
    return (epsilon + math.log1p(-overflow)) * (1 - 1e-15), delta * (1 - overflow - TAIL_SHARE) * (1 - 1e-15)


def capped_delta(*, uncapped: float, delta: float, overflow: float) -> float:
    """Return delta of the capped protocol at epsilon, rounded up.

    Parameters
    ----------
    uncapped : float
        Upper bound of delta without the cap, at epsilon + log(1 - kappa).
    delta : float
        What is asked for.
    overflow : float
        kappa < 1.
    """
    return min((uncapped + TAIL_SHARE * delta) / (1 - overflow) * (1 + 1e-15), 1.0)


def overflow_of_all(caps: Sequence[Mapping[str, Any]], *, epsilon: float, delta: float) -> float:
    """Return kappa of several collections together, rounded up; each gets an equal share of e^epsilon theta.

    Parameters
    ----------
    caps : sequence of mapping
        Parameters of `cap_overflow`, except epsilon and delta, of every collection with a cap.
    epsilon, delta : float
        What is asked of all collections together.
    """
    return min(math.fsum(cap_overflow(**cap, epsilon=epsilon, delta=delta / len(caps)) for cap in caps), 1.0)


def capped_epsilon(uncapped: Callable[[float], float], caps: Sequence[Mapping[str, Any]], *, delta: float) -> float:
    """Return the epsilon at delta of collections with caps, rounded up.

    Parameters
    ----------
    uncapped : callable
        Epsilon at any delta without caps (upper bound; +inf where there is none).
    caps, delta
        As for `overflow_of_all`. There may be no cap.

    Returns
    -------
    float
        +inf if none is certified, for example if the caps cost more than a hundredth of epsilon.
    """
    free = uncapped(delta)
    if not caps or not math.isfinite(free):
        return free
    limit = 1.01 * free  # kappa does not decrease in epsilon
    overflow = overflow_of_all(caps, epsilon=limit, delta=delta)
    _, inner = uncapped_target(epsilon=limit, delta=delta, overflow=overflow)
    epsilon = math.inf if inner <= 0.0 else (uncapped(inner) - math.log1p(-overflow)) * (1 + 1e-15)
    return epsilon if epsilon <= limit else math.inf
