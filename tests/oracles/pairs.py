"""The pair of counts (Theorem 1 of the segmented paper, Theorem 4.7 of variation-ratio)."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from math import ceil, comb, floor
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from oracles.laws import MP, Law, MpLaw, to_mpf
from oracles.views import missing_mass


def _pair_given_totals(totals: list[Any], heads: Any, tails: Any, split: Any) -> tuple[dict[Any, Any], dict[Any, Any]]:
    """Return the joint laws of the pair of counts whose blanket has c messages with probability ``totals[c]``."""
    p: defaultdict[Any, Any] = defaultdict(int)
    q: defaultdict[Any, Any] = defaultdict(int)
    for c, clones in enumerate(totals):
        for a in range(c + 1):
            blanket = clones * comb(c, a) * split**a * (1 - split) ** (c - a)
            for d1, d2, victim in ((1, 0, heads), (0, 1, tails), (0, 0, 1 - heads - tails)):
                p[a + d1, c - a + d2] += blanket * victim
                q[a + d2, c - a + d1] += blanket * victim
    return dict(p), dict(q)


def count_pair(
    trials: int, clone_probability: Fraction, heads: Fraction, tails: Fraction, split: Fraction = Fraction(1, 2)
) -> tuple[Law, Law]:
    """Return the exact joint laws of the dominating pair of counts.

    ``P = (A + D1, C - A + D2)`` and ``Q = (A + D2, C - A + D1)`` with ``C ~ Binomial(trials, clone_probability)``,
    ``A ~ Binomial(C, split)`` and ``(D1, D2)`` equal to (1, 0) with probability ``heads``, (0, 1) with probability
    ``tails`` and (0, 0) otherwise.

    Parameters
    ----------
    trials : int
        Number of blanket messages that may hit one of the two items.
    clone_probability : Fraction
        Segmented protocol: ``2 * gamma / d``. Variation ratio: ``2 * r``.
    heads, tails : Fraction
        Segmented protocol: ``lambda, 0``. Variation ratio: ``p * alpha, alpha``.
    split : Fraction
        Probability that a blanket message falls on the first item.

    Returns
    -------
    p, q : dict
        From ``(count0, count1)`` to its probability.
    """
    share = Fraction(clone_probability)
    totals = [comb(trials, c) * share**c * (1 - share) ** (trials - c) for c in range(trials + 1)]
    return _pair_given_totals(totals, heads, tails, split)


def count_pair_poisson(mu2: Fraction, heads: Fraction, tails: Fraction, cutoff: int) -> tuple[MpLaw, MpLaw, Any]:
    """Return the pair of :func:`count_pair` with ``C ~ Poisson(mu2)``, on the cells with total at most ``cutoff``.

    Parameters
    ----------
    mu2 : Fraction
        Mean of ``C``; ``2 * mu`` for two counters of mean ``mu`` each.
    heads, tails : Fraction
        As in :func:`count_pair`.
    cutoff : int
        Largest ``count0 + count1`` that is kept.

    Returns
    -------
    p, q : dict
        Truncated laws, exact (to :data:`WORKING_DIGITS` digits) on the cells they have.
    lost : mpf
        Upper bound on the probability of the dropped cells, the same for ``p`` and ``q``.
    """
    mean = to_mpf(mu2)
    totals = [MP.exp(-mean) * mean**c / MP.factorial(c) for c in range(cutoff + 1)]
    p, q = (
        {cell: value for cell, value in law.items() if sum(cell) <= cutoff}
        for law in _pair_given_totals(totals, to_mpf(heads), to_mpf(tails), MP.mpf(1) / 2)
    )
    return p, q, missing_mass(p.values())


def count_pair_divergence_float(
    trials: int, clone_probability: float, heads: float, exp_epsilon: float, tails: float = 0.0, width: float = 14.0
) -> float:
    """Return the hockey-stick divergence of :func:`count_pair` at realistic sizes, in double precision.

    It enumerates every cell ``(a, c - a)`` with ``c`` within ``width`` standard deviations (and 50 counts) of its mean;
    no threshold formula is used. The relative error is about 1e-9 for divergences above 1e-15, and the cells cut off
    have probability below 1e-30 at the default width.

    Returns
    -------
    float
        The divergence.
    """
    mean = trials * clone_probability
    spread = width * np.sqrt(mean * (1 - clone_probability)) + 50
    total = 0.0
    for c in range(max(0, floor(mean - spread)), ceil(mean + spread) + 1):
        a = np.arange(c + 1)
        # Cell (a, c - a): no victim message on top of c blanket ones, or one on top of c - 1 of them.
        silent = binom.pmf(c, trials, clone_probability) * binom.pmf(a, c, 0.5)
        below: NDArray[np.float64] = np.zeros(c + 1)
        above: NDArray[np.float64] = np.zeros(c + 1)
        if c > 0:
            clones = binom.pmf(c - 1, trials, clone_probability)
            below[1:] = clones * binom.pmf(a[1:] - 1, c - 1, 0.5)
            above[:-1] = clones * binom.pmf(a[:-1], c - 1, 0.5)
        p = heads * below + tails * above + (1 - heads - tails) * silent
        q = tails * below + heads * above + (1 - heads - tails) * silent
        total += float(np.maximum(0.0, p - exp_epsilon * q).sum())
    return total
