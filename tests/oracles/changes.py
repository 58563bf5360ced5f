"""A user of the Poisson blanket's protocol who changes items, level, or both: all counters, by enumeration."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import reduce

import numpy as np

from oracles.clusters import Grid, excess, with_copies


def counters_of_user(
    domain_size: int,
    items: Iterable[int],
    copies: float,
    mu: float,
    cutoff: int,
    totals: Sequence[float] | None = None,
) -> Grid:
    """Return the law of all counters of the blanket and one user, on counts up to `cutoff`, shape (cutoff + 1,) * d.

    The blanket is built from its total, Poisson(d mu) or of the law `totals` (from 0 on), thrown on uniform items; then
    the user's messages are added one by one: floor(copies) of every held item, and one more with the probability that
    is left.
    """
    grid = np.indices((cutoff + 1,) * domain_size)
    total = grid.sum(axis=0)
    factorials = np.array([math.lgamma(x + 1) for x in range(domain_size * cutoff + 1)])
    number = np.exp(total * math.log(domain_size * mu) - domain_size * mu - factorials[total])  # how many there are
    if totals is not None:
        number = np.array([*totals, *[0.0] * (domain_size * cutoff + 1)])[total]
    where = factorials[total] - factorials[grid].sum(axis=0) - total * math.log(domain_size)  # where they fall
    law: Grid = number * np.exp(where)
    for item in items:
        law = with_copies(law, item, copies)
    return law


def grid_divergence(p: Grid, q: Grid, epsilon: float) -> tuple[float, float]:
    """Return the hockey-stick divergence of two laws on one grid: without what is off the grid, and with all of it."""
    inside = excess(p, q, epsilon)
    return inside, inside + max(1.0 - float(p.sum()), 0.0)


def collections_divergence(plans: Sequence[tuple[float, float]], cutoff: int, epsilon: float) -> tuple[float, float]:
    """Return the divergence of all counters if one of two items is exchanged in several collections (mu, copies)."""
    laws = [[counters_of_user(2, (item,), copies, mu, cutoff) for mu, copies in plans] for item in (0, 1)]
    return grid_divergence(*(reduce(np.multiply.outer, law) for law in laws), epsilon)
