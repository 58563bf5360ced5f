"""What the referee tries: mechanisms, the points of the grid, and the datasets that are enumerated."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping
from itertools import combinations
from typing import Any, Literal, NamedTuple

import numpy as np

from segshuffle.accounting.single_message import randomizers
from segshuffle.accounting.single_message.accountants import Mechanism
from segshuffle.accounting.single_message.mechanisms import mechanism
from segshuffle.arrays import FloatArray
from segshuffle.digits import rounded

Asked = Literal["delta", "epsilon"]

#: Cells of the Laplace mechanism's discretisation: coarser than the default, so all its proven numbers are looser.
LAPLACE_CELLS = 20


class Rows(NamedTuple):
    """Inputs for the enumeration: their laws, and the victim's changes that stand for all up to symmetry."""

    matrix: FloatArray
    victims: tuple[tuple[int, int], ...]


class Point(NamedTuple):
    """One question: delta at `target` = epsilon, or epsilon at `target` = delta."""

    n_users: int
    asked: Asked
    target: float


@dataclasses.dataclass(frozen=True, kw_only=True)
class Case:
    """A mechanism family of the referee.

    Parameters
    ----------
    name : str
        Name of the mechanism for `mechanisms.mechanism` and the command line.
    parameters : mapping
        What it needs beside the local epsilon.
    rows : callable, optional
        local_epsilon -> inputs to enumerate; None if the outputs cannot be listed.
    known : tuple of (local_epsilon, n_users, epsilon)
        Points that are tried beside the grid: counterexamples found by hand.
    """

    name: str
    parameters: Mapping[str, int]
    rows: Callable[[float], Rows] | None = None
    known: tuple[tuple[float, int, float], ...] = ()

    def mechanism(self, local_epsilon: float) -> Mechanism:
        """The mechanism at one local epsilon."""
        made = mechanism(self.name, local_epsilon=local_epsilon, **self.parameters)
        if self.name == "laplace":
            coarse = randomizers.Laplace(local_epsilon=local_epsilon, cells=LAPLACE_CELLS)
            return dataclasses.replace(made, randomizer=coarse)
        return made

    def command(self, local_epsilon: float, point: Point) -> str:
        """Command line that prints every accountant's number at one point, the proven lower bound among them."""
        sizes = " ".join(f"--{name.replace('_', '-')} {value}" for name, value in self.parameters.items())
        given = "epsilon" if point.asked == "delta" else "delta"
        words = ("segshuffle account --randomizer", self.name, sizes, f"--local-epsilon {local_epsilon!r}")
        return " ".join(filter(None, (*words, f"--users {point.n_users} --{given} {point.target!r} --json")))


def _first(matrix: FloatArray, inputs: int = 4) -> Rows:
    """Four inputs: three users and the victim's second input never need more. All pairs are alike."""
    return Rows(matrix[:inputs], ((0, 1),))


def _krr(domain_size: int, *known: tuple[float, int, float]) -> Case:
    def rows(local_epsilon: float) -> Rows:
        chosen = randomizers.KaryRandomizedResponse(local_epsilon=local_epsilon, domain_size=domain_size)
        return _first(chosen.matrix())

    return Case(name="krr", parameters={"domain_size": domain_size}, rows=rows, known=known)


def _encoding(name: str, make: Any) -> Case:
    """Four options stand for a large domain: of the others, a message carries only noise that nobody's input moves."""
    return Case(name=name, parameters={}, rows=lambda e: _first(make(local_epsilon=e, domain_size=4).matrix()))


def _hadamard(order: int) -> Case:
    """All inputs; any two distinct rows of the matrix are alike."""

    def rows(local_epsilon: float) -> Rows:
        matrix = randomizers.HadamardResponse(local_epsilon=local_epsilon, order=order).matrix()
        return Rows(matrix, ((0, 1),))

    return Case(name="hadamard", parameters={"order": order}, rows=rows)


def _subset_selection(domain_size: int, subset_size: int) -> Case:
    sizes = {"domain_size": domain_size, "subset_size": subset_size}

    def rows(local_epsilon: float) -> Rows:
        return _first(randomizers.SubsetSelection(local_epsilon=local_epsilon, **sizes).matrix())

    return Case(name="subset-selection", parameters=sizes, rows=rows)


def _subset_exponential(domain_size: int, subset_size: int) -> Case:
    """Pairs of items: four disjoint ones, and one that shares an item with two of them (a choice of datasets)."""
    sizes = {"domain_size": domain_size, "set_size": 2, "subset_size": subset_size}
    chosen = ((0, 1), (2, 3), (4, 5), (6, 7), (0, 2))

    def rows(local_epsilon: float) -> Rows:
        matrix = randomizers.SubsetExponential(local_epsilon=local_epsilon, **sizes).matrix()
        index = {items: row for row, items in enumerate(combinations(range(domain_size), 2))}
        return Rows(matrix[[index[items] for items in chosen]], ((0, 1), (0, 4)))

    return Case(name="subset-exponential", parameters=sizes, rows=rows)


_LOG3 = math.log(3)

#: Everything that can be tried, by the name used in the configuration, in the order of the tables.
CASES: dict[str, Case] = {
    "krr-2": _krr(2),
    "krr-3": _krr(3),
    "krr-4": _krr(4, (_LOG3, 2, math.log(5 / 2)), (_LOG3, 5, math.log(8 / 5))),
    "krr-10": _krr(10, (_LOG3, 10, math.log(3 / 2)), (_LOG3, 30, math.log(13 / 10))),
    "krr-100": _krr(100),
    "blh": _encoding("blh", randomizers.BinaryLocalHash),
    "rappor": _encoding("rappor", randomizers.Rappor),
    "oue": _encoding("oue", randomizers.OptimizedUnaryEncoding),
    "hadamard-16": _hadamard(16),
    "subset-selection-16-4": _subset_selection(16, 4),
    "subset-exponential-16-2-3": _subset_exponential(16, 3),
    "laplace": Case(name="laplace", parameters={}),
}


def points(grid: Mapping[str, Any], local_epsilon: float, delta_times_n: float) -> list[Point]:
    """Points of one local epsilon: deltas over shares of it at few users, epsilons at delta = delta_times_n/n at many.

    Parameters
    ----------
    grid : mapping
        Section ``referee`` of the configuration.
    local_epsilon : float
        Of the mechanism.
    delta_times_n : float
        delta times the number of users.
    """
    small = [Point(n, "delta", rounded(share * local_epsilon)) for n in grid["few_users"] for share in grid["shares"]]
    return small + [Point(n, "epsilon", rounded(delta_times_n / n)) for n in grid["many_users"]]


def questions(case: Case, grid: Mapping[str, Any], delta_times_n: float) -> dict[float, list[Point]]:
    """All points of a case by local epsilon: the grid's, and its own."""
    found = {local: points(grid, local, delta_times_n) for local in grid["local_epsilons"]}
    for local, n_users, target in case.known:
        found.setdefault(local, []).append(Point(n_users, "delta", target))
    return found


def most_that_local_privacy_leaves(local_epsilon: float, epsilon: float) -> float:
    """Largest delta at `epsilon` of any pure local_epsilon-DP randomizer: that of binary randomized response."""
    return max(0.0, float(-np.expm1(epsilon - local_epsilon)) / (1.0 + math.exp(-local_epsilon)))
