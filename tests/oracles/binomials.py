"""Binomial probabilities to 50 digits."""

from __future__ import annotations

from typing import Any

from oracles.laws import DIRECT_SUM_TERMS, MP, RESULT_DIGITS, WORKING_DIGITS, to_mpf


def mp_binomial_pmf(n: int, p: Any, k: int) -> Any:
    """Return ``Pr[Binomial(n, p) = k]`` to :data:`RESULT_DIGITS` relative digits, for n up to 1e12 and beyond.

    ``p`` is a Fraction, float (taken exactly) or mpf.
    """
    p = to_mpf(p)
    if not 0 <= k <= n:
        return MP.mpf(0)
    if p in (0, 1):
        return MP.mpf(int(k == n * p))
    log_choose = MP.loggamma(n + 1) - MP.loggamma(k + 1) - MP.loggamma(n - k + 1)
    return MP.exp(log_choose + k * MP.log(p) + (n - k) * MP.log1p(-p))


def _direct_upper_tail(n: int, p: Any, k: int) -> Any | None:
    """Sum the pmf from ``k`` > mean upwards; None if :data:`DIRECT_SUM_TERMS` terms are not enough."""
    one = 1 << (4 * WORKING_DIGITS)  # fixed point: the same digits, ten times faster
    odds = int(p / (1 - p) * one)
    term = total = one  # relative to the pmf at k
    for i in range(k, min(n, k + DIRECT_SUM_TERMS)):
        ratio = odds * (n - i) // (i + 1)  # decreases with i, and is below 1 past the mean
        term = term * ratio // one
        total += term
        if ratio < one and term * ratio * 10 ** (RESULT_DIGITS + 10) < total * (one - ratio):
            break
    else:
        if n > k + DIRECT_SUM_TERMS:
            return None
    return mp_binomial_pmf(n, p, k) * MP.mpf(total) / one


def integrated_upper_tail(n: int, p: Any, k: int) -> Any:
    """Integrate the upper tail from ``k`` > mean: ``Pr[X >= k] = n!/((k-1)!(n-k)!) int_0^p t^(k-1) (1-t)^(n-k) dt``.

    The integrand, divided by its value at ``t = p``, falls from 1 there to nothing in O(1/sqrt(n)), and it is
    log-concave and smooth: Gauss-Legendre on two pieces over the part above 1e-75 converges to full precision. (A
    continued fraction needs O(sqrt(n)) steps here, a million of them at n = 1e12.)
    """

    def log_ratio(v: Any) -> Any:
        """Return the logarithm of the integrand at ``p - v``, relative to the integrand at ``p``."""
        return (k - 1) * MP.log1p(-v / p) + (n - k) * MP.log1p(v / (1 - p))

    floor_log = -75 * MP.log(10)
    width = 1 / MP.sqrt(n * p * (1 - p)) * p
    while width < p and log_ratio(width) > floor_log:
        width *= 2
    low, high = width / 2, min(width, p)
    for _ in range(20):
        middle = (low + high) / 2
        low, high = (middle, high) if log_ratio(middle) > floor_log else (low, middle)
    # By log-concavity, the integrand is below 1e-75 from `high` on, and falls ever faster.
    points = [0, high / 2, high]
    integral, error = MP.quad(lambda v: MP.exp(log_ratio(v)), points, error=True, method="gauss-legendre")
    if error > integral * MP.mpf(10) ** (-RESULT_DIGITS - 8):
        raise ArithmeticError(f"quadrature did not converge at n={n}, k={k}: {error} of {integral}")
    return mp_binomial_pmf(n, p, k) * k / p * integral


def mp_binomial_upper_tail(n: int, p: Any, k: int) -> Any:
    """Return ``Pr[Binomial(n, p) >= k]`` to :data:`RESULT_DIGITS` relative digits, for any n up to 1e12 and beyond."""
    p = to_mpf(p)
    if k <= 0:
        return MP.mpf(1)
    if k > n or p == 0:
        return MP.mpf(0)
    if p == 1:
        return MP.mpf(1)
    if k <= n * p:  # the mirrored event, Binomial(n, 1 - p) >= n - k + 1, is beyond its own mean
        return 1 - mp_binomial_upper_tail(n, 1 - p, n - k + 1)
    direct = _direct_upper_tail(n, p, k)
    return integrated_upper_tail(n, p, k) if direct is None else direct
