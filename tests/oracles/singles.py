"""Shuffled single messages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import combinations
from math import lcm

from oracles.laws import Histogram, Law, Matrix, hockey_stick
from oracles.pairs import count_pair
from oracles.views import add_message


def krr(k: int, exp_eps0: Fraction) -> Matrix:
    """Return k-ary randomized response: the true value with odds ``exp_eps0``, every other one with odds 1."""
    exp_eps0 = Fraction(exp_eps0)
    return [[(exp_eps0 if x == y else Fraction(1)) / (exp_eps0 + k - 1) for y in range(k)] for x in range(k)]


def subsets(domain_size: int, size: int) -> list[tuple[int, ...]]:
    """Return all subsets of ``range(domain_size)`` of ``size`` elements, in the order of :func:`subset_exponential`."""
    return list(combinations(range(domain_size), size))


def subset_exponential(domain_size: int, set_size: int, k: int, exp_eps: Fraction) -> Matrix:
    """Return the subset exponential mechanism (PrivSet) as a row-stochastic matrix.

    Parameters
    ----------
    domain_size, set_size, k : int
        Items, size of the input sets, size of the output sets.
    exp_eps : Fraction
        Weight of an output that meets the input; the others have weight 1.

    Returns
    -------
    list of list of Fraction, shape (binom(domain_size, set_size), binom(domain_size, k))
        Rows and columns in the order of :func:`subsets`.
    """
    matrix = []
    for x in subsets(domain_size, set_size):
        weights = [Fraction(exp_eps) if set(x) & set(z) else Fraction(1) for z in subsets(domain_size, k)]
        matrix.append([weight / sum(weights) for weight in weights])
    return matrix


def single_message_view(randomizer: Sequence[Sequence[Fraction]], inputs: Sequence[int]) -> Law:
    """Return the exact law of the histogram of outputs if every user sends one shuffled message.

    Parameters
    ----------
    randomizer : matrix of Fraction, rows = inputs, columns = outputs
        Row-stochastic.
    inputs : sequence of int
        Row of each user.

    Returns
    -------
    dict
        From the histogram of the outputs to its probability.
    """
    # Integer weights over one common denominator per row: the same numbers as with Fractions, several times faster.
    view: dict[Histogram, int] = {(0,) * len(randomizer[0]): 1}
    denominator = 1
    for x in inputs:
        scale = lcm(*(entry.denominator for entry in randomizer[x]))
        view = add_message(view, [(y, int(entry * scale)) for y, entry in enumerate(randomizer[x])])
        denominator *= scale
    return {histogram: Fraction(weight, denominator) for histogram, weight in view.items()}


def merge_proportional_outputs(randomizer: Sequence[Sequence[Fraction]], rows: Iterable[int]) -> Matrix:
    """Merge the outputs whose columns are proportional on ``rows``, and drop those that no row of ``rows`` can send.

    When all users hold inputs from ``rows``, the merged histogram is a sufficient statistic: which output of a class
    occurred has the same conditional law for every input. So divergences stay the same, and larger n are feasible.

    Returns
    -------
    list of list of Fraction
        All rows of the randomizer, over the classes; only ``rows`` are sure to be stochastic.
    """
    rows = sorted(set(rows))
    classes: dict[tuple[Fraction, ...], list[int]] = {}
    for y in range(len(randomizer[0])):
        column = [randomizer[x][y] for x in rows]
        if sum(column):
            classes.setdefault(tuple(entry / sum(column) for entry in column), []).append(y)
    return [[sum((row[y] for y in members), Fraction(0)) for members in classes.values()] for row in randomizer]


def shuffled_divergence(
    randomizer: Sequence[Sequence[Fraction]], victim: tuple[int, int], others: Sequence[int], exp_epsilon: Fraction
) -> Fraction:
    """Return the exact divergence of the shuffled messages, victim's input ``victim[0]`` against ``victim[1]``.

    Outputs are merged first, by :func:`merge_proportional_outputs`, which does not change the number.
    """
    merged = merge_proportional_outputs(randomizer, [*victim, *others])
    p = single_message_view(merged, [*others, victim[0]])
    q = single_message_view(merged, [*others, victim[1]])
    return hockey_stick(p, q, exp_epsilon)


def variation_ratio_pair(users: int, p: Fraction, beta: Fraction, q: Fraction) -> tuple[Law, Law]:
    """Return the pair ``P_{p,beta}^q, Q_{p,beta}^q`` of Theorem 4.7 of variation-ratio (``users - 1`` trials)."""
    alpha = Fraction(beta) / (p - 1)
    return count_pair(users - 1, 2 * alpha * p / q, p * alpha, alpha)
