"""The pair of counts (Theorem 1 of the segmented paper, Theorem 4.7 of variation-ratio)."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from math import comb

from oracles.laws import Law


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
    p: defaultdict[tuple[int, int], Fraction] = defaultdict(Fraction)
    q: defaultdict[tuple[int, int], Fraction] = defaultdict(Fraction)
    for c in range(trials + 1):
        clones = comb(trials, c) * share**c * (1 - share) ** (trials - c)
        for a in range(c + 1):
            blanket = clones * comb(c, a) * split**a * (1 - split) ** (c - a)
            for d1, d2, victim in ((1, 0, heads), (0, 1, tails), (0, 0, 1 - heads - tails)):
                p[a + d1, c - a + d2] += blanket * victim
                q[a + d2, c - a + d1] += blanket * victim
    return dict(p), dict(q)
