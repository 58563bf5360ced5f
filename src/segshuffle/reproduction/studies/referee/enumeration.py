"""Every dataset of a few users: the neighbouring two that their shuffled messages tell apart best.

The law of each message is a row of a matrix, so the divergence of any two datasets is a finite sum.
"""

import math
from collections.abc import Sequence
from functools import reduce
from itertools import combinations_with_replacement, permutations
from typing import NamedTuple

import numpy as np

from segshuffle.arrays import FloatArray
from segshuffle.digits import rounded

#: Bound on the rounding error of an enumerated delta, in units of the mass that is summed, 1 + e^epsilon.
ROUNDING = 1e-13
_SAME_COLUMN = 1e-11


class Witness(NamedTuple):
    """A proven lower bound of delta, and the neighbouring datasets that attain it (rows of the matrix)."""

    delta: float
    victim: tuple[int, ...]
    others: tuple[int, ...]


def worst_datasets(*, matrix: FloatArray, victims: Sequence[tuple[int, int]], n_users: int, epsilon: float) -> Witness:
    """Find the largest divergence of the multiset of messages over the other users' inputs.

    Parameters
    ----------
    matrix : ndarray, shape (inputs, outputs)
        Law of the randomizer; a selection of its inputs gives the worst case over datasets with these inputs.
    victims : sequence of (int, int)
        Changes of the victim's input to try; each is tried in both directions.
    n_users : int
        At least 1, the victim included: the work grows exponentially.
    epsilon : float
        At least 0.

    Returns
    -------
    Witness
        `delta` is rounded down by `ROUNDING` (1 + e^epsilon), at least 0.
    """
    laws, gain = merged_outputs(matrix), math.exp(epsilon)
    shape = (laws.shape[1],) * n_users
    # every place in an array with one axis per message -> the place of the same messages in order
    multiset = np.ravel_multi_index(tuple(np.sort(np.indices(shape), axis=0)), shape).ravel()

    def shuffled(*inputs: int) -> FloatArray:
        """Return the law of the multiset of messages."""
        in_order = reduce(np.multiply.outer, laws[list(inputs)])
        return np.asarray(np.bincount(multiset, weights=in_order.ravel()), dtype=float)

    witnesses = []
    for others in combinations_with_replacement(range(len(laws)), n_users - 1):
        for victim in victims:
            law = {own: shuffled(own, *others) for own in victim}
            for first, second in permutations(victim):
                delta = float(np.maximum(law[first] - gain * law[second], 0.0).sum())
                witnesses.append(Witness(delta, (first, second), others))
    # the first of all datasets whose deltas are equal up to rounding
    worst = max(witnesses, key=lambda each: rounded(each.delta))
    return worst._replace(delta=max(worst.delta - ROUNDING * (1 + gain), 0.0))


def merged_outputs(matrix: FloatArray) -> FloatArray:
    """Add up proportional columns of a law; the result has the shape (inputs, classes).

    Merging outputs is post-processing of every message: a lower bound stays one, whatever is merged; for
    proportional columns nothing is lost.
    """
    sent = matrix[:, matrix.sum(axis=0) > 0]
    shapes = np.round(sent / sent.sum(axis=0) / _SAME_COLUMN)
    _, inverse = np.unique(shapes, axis=1, return_inverse=True)
    return np.array([np.bincount(inverse.ravel(), weights=law) for law in sent])
