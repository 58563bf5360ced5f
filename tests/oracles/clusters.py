"""Blankets made of clusters, from their definition: Poisson-many independent moves of all counters."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

Grid = NDArray[np.float64]
#: Rate of a kind of cluster, and what one adds to every counter.
Move = tuple[float, tuple[int, ...]]


def logarithmic_moves(mean: float, p: float, direction: Sequence[int], largest: int) -> list[Move]:
    """Return clusters of logarithmic size that add `mean` units along `direction` on average; p = 0: single units.

    Sizes above `largest` stand as one move of that many units, which the grid must be too small for.
    """
    if p == 0:
        return [(mean, tuple(direction))]
    weights = [p**w / w for w in range(1, 4000)]
    rate = mean * sum(weights) / sum(w * weight for w, weight in enumerate(weights, 1))
    shares = [weight / sum(weights) for weight in weights]
    moves = [(rate * shares[w - 1], tuple(w * step for step in direction)) for w in range(1, largest)]
    return [*moves, (rate * sum(shares[largest - 1 :]), tuple(largest * step for step in direction))]


def compound_poisson(shape: tuple[int, ...], moves: Iterable[Move]) -> Grid:
    """Return the law of all counters after Poisson-many moves, on counts below `shape`: a sum over their number."""
    moves = list(moves)
    rate = sum(weight for weight, _ in moves)
    law = np.zeros(shape)
    law[(0,) * len(shape)] = 1.0
    total, weight, number = np.zeros(shape), math.exp(-rate), 0
    while number < rate or weight > 1e-45:
        total += weight * law
        law = _moved(law, moves, rate)
        number += 1
        weight *= rate / number
    return total


def _moved(law: Grid, moves: list[Move], rate: float) -> Grid:
    result = np.zeros_like(law)
    for weight, shift in moves:
        if all(step < size for step, size in zip(shift, law.shape, strict=True)):
            to = tuple(slice(step, None) for step in shift)
            origin = tuple(slice(None, size - step) for step, size in zip(shift, law.shape, strict=True))
            result[to] += weight / rate * law[origin]
    return result


def with_copies(law: Grid, axis: int, copies: float) -> Grid:
    """Return the law after floor(copies) messages that count on `axis`, and one more with the remaining probability."""
    certain = math.floor(copies)
    for _ in range(certain):
        law = _moved(law, [(1.0, _unit(law.ndim, axis))], 1.0)
    more = _moved(law, [(1.0, _unit(law.ndim, axis))], 1.0)
    return (1 - (copies - certain)) * law + (copies - certain) * more


def _unit(size: int, axis: int) -> tuple[int, ...]:
    return tuple(int(i == axis) for i in range(size))


def clustered_law(mean: float, p: float, size: int) -> Grid:
    """Return the law of a counter with a mean number of units in clusters, on counts below `size`."""
    return compound_poisson((size,), logarithmic_moves(mean, p, (1,), size))


@functools.cache
def signed_law(mean: float, p: float, flood_p: float, flood: float, size: int) -> Grid:
    """Return the law of (N+, N-): noise adds to one of them, and the flood to both."""
    noise, both = 0.5 * mean * (1 - flood), 0.5 * mean * flood
    moves = logarithmic_moves(noise, p, (1, 0), size) + logarithmic_moves(noise, p, (0, 1), size)
    return compound_poisson((size, size), moves + logarithmic_moves(both, flood_p, (1, 1), size))


def excess(p: Grid, q: Grid, epsilon: float) -> float:
    """Return the hockey-stick divergence of two laws, as far as the grid goes."""
    return float(np.maximum(p - math.exp(epsilon) * q, 0.0).sum())


def exchange_divergence(a: Grid, b: Grid, epsilon: float, pairs: int = 1) -> tuple[float, float]:
    """Return the divergence of (a x b)^pairs from (b x a)^pairs: without what is off the grid, and with it."""
    p, q = np.outer(a, b).ravel(), np.outer(b, a).ravel()
    one_p, one_q = p, q
    for _ in range(pairs - 1):
        p, q = np.outer(p, one_p).ravel(), np.outer(q, one_q).ravel()
    inside = excess(p, q, epsilon)
    return inside, inside + pairs * (max(1 - float(a.sum()), 0.0) + max(1 - float(b.sum()), 0.0)) + 1e-15


def sorted_exchange_divergence(a: Grid, b: Grid, log_ratio: Grid, epsilon: float) -> float:
    """Return the first number of `exchange_divergence` for one pair in linear time, by sorting log a/b."""
    order = np.argsort(log_ratio, kind="stable")
    a, b, log_ratio = a[order], b[order], log_ratio[order]
    below_a, below_b = (np.append(0.0, np.cumsum(law)) for law in (a, b))
    last = np.searchsorted(log_ratio, log_ratio - epsilon)
    return math.fsum(a * below_b[last] - math.exp(epsilon) * b * below_a[last])
