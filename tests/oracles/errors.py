"""Expected squared errors by enumeration."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import permutations
from typing import Any

from oracles.laws import Histogram
from oracles.singles import subset_exponential, subsets
from oracles.views import segmented_view


def item_frequencies(domain_size: int, sets: Sequence[Iterable[int]]) -> list[Fraction]:
    """Return the share of the users that hold each item."""
    members = [set(items) for items in sets]
    return [Fraction(sum(j in items for items in members), len(members)) for j in range(domain_size)]


def expected_squared_error(view: Mapping[Histogram, Any], offset: Any, scale: Any, target: Sequence[Any]) -> Any:
    """Return ``E sum_j ((c_j - offset) / scale - target_j)**2`` for a histogram ``c`` distributed by ``view``."""
    total: Any = 0
    for histogram, probability in view.items():
        error = sum(((c - offset) / scale - w) ** 2 for c, w in zip(histogram, target, strict=True))
        total = total + probability * error
    return total


def segmented_protocol_error(
    domain_size: int,
    sets: Sequence[Iterable[int]],
    levels_lambda: Sequence[Fraction],
    blanket_slots: int,
    gamma: Fraction,
) -> Fraction:
    """Return the exact expected squared error of Algorithm 2 for a fixed assignment of levels to users.

    The estimator is ``what_j = (C_j - n m / d) / N`` with ``n m = blanket_slots * gamma`` and ``N = sum_i lambda_i``;
    the error is against the users' own frequencies ``w_j``. Parameters as in :func:`segmented_view`.

    Returns
    -------
    Fraction
        ``E sum_j (what_j - w_j)**2``.
    """
    sets = [tuple(items) for items in sets]
    view = segmented_view(domain_size, sets, levels_lambda, blanket_slots, gamma)
    offset = Fraction(blanket_slots) * gamma / domain_size
    scale = sum((Fraction(rate) for rate in levels_lambda), Fraction(0))
    return expected_squared_error(view, offset, scale, item_frequencies(domain_size, sets))


def segmented_protocol_error_averaged(
    domain_size: int,
    sets: Sequence[Iterable[int]],
    level_rates: Sequence[Fraction],
    level_counts: Sequence[int],
    blanket_slots: int,
    gamma: Fraction,
) -> Fraction:
    """Average :func:`segmented_protocol_error` over all assignments with ``level_counts[k]`` users at level ``k``."""
    sets = [tuple(items) for items in sets]
    rates = [Fraction(rate) for rate, count in zip(level_rates, level_counts, strict=True) for _ in range(count)]
    assignments = sorted(set(permutations(rates)))
    errors = [segmented_protocol_error(domain_size, sets, rates, blanket_slots, gamma) for rates in assignments]
    return sum(errors, Fraction(0)) / len(assignments)


def subset_exponential_rates(domain_size: int, set_size: int, k: int, exp_eps: Fraction) -> tuple[Fraction, Fraction]:
    """Read ``a = Pr[j in z | j in x]`` and ``b = Pr[j in z | j not in x]`` off the matrix.

    Raises
    ------
    ValueError
        If the two probabilities depend on ``x`` or ``j``, in which case the estimator would be biased.
    """
    matrix = subset_exponential(domain_size, set_size, k, exp_eps)
    inside: set[Fraction] = set()
    outside: set[Fraction] = set()
    for x, row in zip(subsets(domain_size, set_size), matrix, strict=True):
        for j in range(domain_size):
            hit = sum((entry for z, entry in zip(subsets(domain_size, k), row, strict=True) if j in z), Fraction(0))
            (inside if j in x else outside).add(hit)
    if len(inside) != 1 or len(outside) != 1:
        raise ValueError(f"inclusion probabilities are not constant: {inside}, {outside}")
    return inside.pop(), outside.pop()


def subset_exponential_error(domain_size: int, sets: Sequence[Iterable[int]], k: int, exp_eps: Fraction) -> Fraction:
    """Return the exact squared error of ``what_j = (c_j / n - b) / (a - b)`` under the subset exponential mechanism.

    Parameters
    ----------
    domain_size : int
        Number of items.
    sets : sequence of iterables of int
        The items of each user, all of the same number.
    k : int
        Size of the output sets.
    exp_eps : Fraction
        Weight of an output that meets the input.

    Returns
    -------
    Fraction
        ``E sum_j (what_j - w_j)**2``, by enumeration of the counts ``c``.
    """
    inputs = [tuple(sorted(items)) for items in sets]
    set_size, n = len(inputs[0]), len(inputs)
    a, b = subset_exponential_rates(domain_size, set_size, k, exp_eps)
    matrix = subset_exponential(domain_size, set_size, k, exp_eps)
    rows = dict(zip(subsets(domain_size, set_size), matrix, strict=True))
    counts: dict[Histogram, Fraction] = {(0,) * domain_size: Fraction(1)}
    for x in inputs:
        after: defaultdict[Histogram, Fraction] = defaultdict(Fraction)
        for histogram, probability in counts.items():
            for z, chance in zip(subsets(domain_size, k), rows[x], strict=True):
                after[tuple(c + (j in z) for j, c in enumerate(histogram))] += probability * chance
        counts = dict(after)
    return expected_squared_error(counts, n * b, n * (a - b), item_frequencies(domain_size, inputs))
