r"""Closed forms of the variation-ratio paper: Theorem 4.2 (analytic) and Theorem 4.3 (asymptotic), as published.

Both are meant as upper bounds of `published_epsilon`, and share its status (kind: published). Where a theorem's
conditions fail it says nothing, and the answer is the trivial one: log p, the local guarantee (+inf for p = +inf).
Where they hold, the formula's value is returned as it is, even above log p: take the smaller of the two.

The two quotients that the printed formula of Theorem 4.2 shows in our copy of the paper are one: the second summand
of the first numerator and the last numerator belong to the denominator. Read literally the value would tend to
log(1 + (p - 1)/2) instead of 0; read as below it is the largest log-ratio of the pair at c = Omega and
a = Omega/2 + sqrt(Omega log(4/delta)/2), which is what the theorem's proof bounds.
"""

from __future__ import annotations

import math

from segshuffle.accounting.numerics.ranges import check_target, check_users
from segshuffle.accounting.single_message.variation_ratio import VariationRatio


def analytic_epsilon(*, randomizer: VariationRatio, n_users: int, delta: float) -> float:
    r"""Epsilon of Theorem 4.2 (kind: published).

    With L = log(4/delta), Omega = 2 r (n-1) - sqrt(min(6 r, 1/2) (n-1) L), s = sqrt(Omega L/2):
    epsilon = log(1 + beta (2 s + 1) / (alpha Omega + beta (Omega/2 - s) + (1-alpha-alpha p)(n-1-Omega) r/(1-2r))).

    Parameters
    ----------
    randomizer : VariationRatio
        Its (p, beta, q); p = +inf is the limit of the formula and of its conditions.
    n_users : int
        As for `published_delta`.
    delta : float
        In [1e-280, 1).

    Returns
    -------
    float
        log p if Omega <= 0, if one of the two published conditions fails, or if the denominator is not positive.
    """
    check_users(n_users)
    check_target(delta)
    clone, alpha, beta, others = randomizer.clone, randomizer.tails, randomizer.beta, n_users - 1
    log_term = math.log(4.0 / delta)
    expected = 2.0 * clone * others - math.sqrt(min(6.0 * clone, 0.5) * others * log_term)
    # with 2 r = 1 nobody has a left-over, and neither has the victim
    mixed = randomizer.left_over * clone / (1.0 - 2.0 * clone) if randomizer.left_over > 0 else 0.0
    half_speak = 0.5 * (1.0 - randomizer.left_over)
    if expected <= 0 or half_speak - mixed < 0 or not _enough_clones(randomizer, others, expected):
        return randomizer.log_p
    deviation = math.sqrt(0.5 * expected * log_term)
    below = alpha * expected + beta * (0.5 * expected - deviation) + mixed * (others - expected)
    return math.log1p(beta * (2.0 * deviation + 1.0) / below) if below > 0 else randomizer.log_p


def _enough_clones(randomizer: VariationRatio, others: int, expected: float) -> bool:
    """Omega >= (2p(beta+1+(beta-1)p)(n-1) + beta)/(q + p(beta-1+(beta+1)p) - pq), both sides over p^2."""
    inverse, beta = math.exp(-randomizer.log_p), randomizer.beta
    q_inverse = math.exp(randomizer.log_q - randomizer.log_p) * inverse
    above = 2.0 * ((beta + 1.0) * inverse + beta - 1.0) * others + beta * inverse * inverse
    below = q_inverse + (beta - 1.0) * inverse + beta + 1.0 - math.exp(randomizer.log_q) * inverse
    if below == 0.0:
        return above <= 0.0
    return expected >= above / below


def asymptotic_epsilon(*, randomizer: VariationRatio, n_users: int, delta: float) -> float:
    r"""Epsilon of Theorem 4.3 (kind: published).

    With v = max(0, (4/9)(1 - 3r)/(1 - 2r)), if n >= 8 log(2/delta)/r:
    epsilon = log(1 + beta/((1-v)(1+p) beta/(p-1) + v) * (sqrt(32 log(4/delta)/(r(n-1))) + 4/(r n))).

    Parameters
    ----------
    randomizer, n_users, delta
        As for `analytic_epsilon`.

    Returns
    -------
    float
        log p if n < 8 log(2/delta)/r (or n = 1).
    """
    check_users(n_users)
    check_target(delta)
    clone, beta = randomizer.clone, randomizer.beta
    if beta == 0.0:
        return 0.0
    if n_users == 1 or n_users * clone < 8.0 * math.log(2.0 / delta):
        return randomizer.log_p
    v = max(0.0, 4.0 / 9.0 * (1.0 - 3.0 * clone) / (1.0 - 2.0 * clone)) if clone < 0.5 else 0.0
    speak = 1.0 - randomizer.left_over
    shrink = math.sqrt(32.0 * math.log(4.0 / delta) / (clone * (n_users - 1))) + 4.0 / (clone * n_users)
    return math.log1p(beta / ((1.0 - v) * speak + v) * shrink)
