"""Probability tables of local randomizers, written down from their definitions, in rational arithmetic.

Rows are inputs, columns are outputs. Total variations and ratios are computed from the tables, not by an accountant.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product

from oracles.laws import Matrix


def total_variation(first: list[Fraction], second: list[Fraction]) -> Fraction:
    """Sum the positive parts of first - second."""
    return sum((max(a - b, Fraction(0)) for a, b in zip(first, second, strict=True)), Fraction(0))


def largest_total_variation(matrix: Matrix) -> Fraction:
    """Return the largest total variation of two rows."""
    return max(total_variation(x, y) for x, y in combinations(matrix, 2))


def largest_ratio(first: Matrix, second: Matrix) -> Fraction | float:
    """Return the largest first[x][y]/second[x'][y] over rows and outputs; +inf where second is 0 and first is not."""
    ratios: list[Fraction | float] = []
    for x, z in product(first, second):
        for a, b in zip(x, z, strict=True):
            if a > 0:
                ratios.append(a / b if b else float("inf"))
    return max(ratios)


def favoured(sets: list[frozenset[int]], outputs: int, gain: Fraction) -> Matrix:
    """Make outputs `gain` times as likely if they are in the input's set."""
    matrix = []
    for members in sets:
        weights = [gain if y in members else Fraction(1) for y in range(outputs)]
        matrix.append([weight / sum(weights) for weight in weights])
    return matrix


def caps_on_a_circle(points: int, width: int, gain: Fraction) -> Matrix:
    """Make PrivUnit on a circle of `points` points: input x favours the `width` points from x on."""
    return favoured([frozenset((x + i) % points for i in range(width)) for x in range(points)], points, gain)


def subset_selection(domain_size: int, subset_size: int, gain: Fraction) -> Matrix:
    """Make subsets `gain` times as likely if they hold the input."""
    outputs = list(combinations(range(domain_size), subset_size))
    sets = [frozenset(i for i, z in enumerate(outputs) if x in z) for x in range(domain_size)]
    return favoured(sets, len(outputs), gain)


def flipped_bits(words: list[tuple[int, ...]], flip: Fraction) -> Matrix:
    """Flip every bit of the input's word independently."""
    matrix = []
    for word in words:
        row = []
        for output in product((0, 1), repeat=len(word)):
            chance = Fraction(1)
            for sent, held in zip(output, word, strict=True):
                chance *= 1 - flip if sent == held else flip
            row.append(chance)
        matrix.append(row)
    return matrix


def one_hot(domain_size: int) -> list[tuple[int, ...]]:
    """Return the unit vectors."""
    return [tuple(int(i == x) for i in range(domain_size)) for x in range(domain_size)]


def mixture(rows: list[list[Fraction]]) -> list[Fraction]:
    """Return the law of one of the rows, drawn uniformly."""
    return [sum(column, Fraction(0)) / len(rows) for column in zip(*rows, strict=True)]


def local_hash(domain_size: int, hash_size: int, gain: Fraction) -> Matrix:
    """Send a uniformly random function together with randomized response of the input's hash."""
    functions = list(product(range(hash_size), repeat=domain_size))
    matrix = []
    for x in range(domain_size):
        row = []
        for function in functions:
            for y in range(hash_size):
                chance = (gain if function[x] == y else Fraction(1)) / (gain + hash_size - 1)
                row.append(chance / len(functions))
        matrix.append(row)
    return matrix


def hadamard_sets(order: int) -> list[frozenset[int]]:
    """Return the columns with +1 in the rows 1, ..., order - 1 of Sylvester's matrix."""
    return [frozenset(y for y in range(order) if (x & y).bit_count() % 2 == 0) for x in range(1, order)]


def wheel(points: int, arcs: list[tuple[int, ...]], width: int, gain: Fraction) -> Matrix:
    """Make the wheel on a circle of `points` points; an input is the starting points of its arcs, which may overlap.

    A covered point has the probability gain/(gain s w + points - s w) with s arcs of width w, whatever overlaps; the
    points that are not covered share the rest.
    """
    matrix = []
    for starts in arcs:
        covered = {(start + i) % points for start in starts for i in range(width)}
        full = len(starts) * width
        high = gain / (gain * full + points - full)
        low = (1 - high * len(covered)) / (points - len(covered))
        matrix.append([high if y in covered else low for y in range(points)])
    return matrix
