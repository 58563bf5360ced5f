"""Exact enumeration of the shuffled messages of one, two or three users: all datasets, both directions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations_with_replacement
from typing import NamedTuple

import numpy as np

from segshuffle.arrays import FloatArray
from segshuffle.errors import ParameterError

LARGEST_USERS = 3
#: Bound on the rounding error of an enumerated delta, in units of the mass that is summed, 1 + e^epsilon.
ROUNDING = 1e-13
_SAME_COLUMN = 1e-11


class Witness(NamedTuple):
    """A proven lower bound of delta, and the neighbouring datasets that attain it (rows of the matrix)."""

    delta: float
    victim: tuple[int, int]
    others: tuple[int, ...]


def worst_datasets(
    *, matrix: FloatArray, victims: Sequence[tuple[int, int]], n_users: int, epsilons: Sequence[float]
) -> list[Witness]:
    """Largest divergence of the multiset of messages over the other users' inputs, for every epsilon.

    Parameters
    ----------
    matrix : ndarray, shape (inputs, outputs)
        Law of the randomizer; a selection of its inputs gives the worst case over datasets with these inputs.
    victims : sequence of (int, int)
        Changes of the victim's input to try; each is tried in both directions.
    n_users : int
        1, 2 or 3, the victim included.
    epsilons : sequence of float
        At least 0.

    Returns
    -------
    list of Witness
        One per epsilon. `delta` is rounded down by `ROUNDING` (1 + e^epsilon), at least 0.

    Raises
    ------
    ParameterError
        If `n_users` is not 1, 2 or 3.
    """
    if n_users not in range(1, LARGEST_USERS + 1):
        raise ParameterError("n_users", n_users, f"1 to {LARGEST_USERS} to list all outcomes")
    laws = merged_outputs(matrix)
    both = [pair for first, second in victims for pair in ((first, second), (second, first))]
    best = [Witness(-math.inf, both[0], ()) for _ in epsilons]
    for others in combinations_with_replacement(range(len(laws)), n_users - 1):
        hidden = _others_law(laws, others)
        for victim in both:
            for index, epsilon in enumerate(epsilons):
                gap = laws[victim[0]] - np.exp(epsilon) * laws[victim[1]]
                found = float(np.maximum(_shuffled(gap, hidden), 0.0).sum())
                if found > best[index].delta:
                    best[index] = Witness(found, victim, others)
    return [
        one._replace(delta=max(one.delta - ROUNDING * (1 + float(np.exp(epsilon))), 0.0))
        for one, epsilon in zip(best, epsilons, strict=True)
    ]


def merged_outputs(matrix: FloatArray) -> FloatArray:
    """The law with proportional columns added up, shape (inputs, classes).

    Merging outputs is post-processing of every message: a lower bound stays one, whatever is merged; for
    proportional columns nothing is lost.
    """
    total = matrix.sum(axis=0)
    sent = matrix[:, total > 0]
    shapes = np.round(sent / sent.sum(axis=0) / _SAME_COLUMN)
    _, inverse = np.unique(shapes, axis=1, return_inverse=True)
    classes = np.zeros((len(matrix), int(inverse.max()) + 1))
    np.add.at(classes.T, inverse.ravel(), sent.T)
    return classes


def _others_law(laws: FloatArray, others: tuple[int, ...]) -> FloatArray:
    """Law of the other users' messages in random order: an array with one axis per user."""
    if not others:
        return np.ones(())
    first: FloatArray = laws[others[0]]
    if len(others) == 1:
        return first
    pair = np.multiply.outer(first, laws[others[1]])
    return np.asarray((pair + pair.T) / 2)


def _shuffled(gap: FloatArray, hidden: FloatArray) -> FloatArray:
    """The victim's signed law at a random place among the others' messages; order is all that the multiset lacks."""
    placed = np.multiply.outer(gap, hidden)
    ways = [np.moveaxis(placed, 0, place) for place in range(placed.ndim)]
    return np.asarray(sum(ways) / len(ways))
