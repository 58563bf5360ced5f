"""Randomizers with their full laws, written down once more here in rational numbers."""

import math
from fractions import Fraction
from itertools import product

import oracles as o
from oracles import tables

from segshuffle.accounting.single_message.randomizers.composed import ParallelComposition
from segshuffle.accounting.single_message.randomizers.encodings import (
    HadamardResponse,
    LocalHash,
    OptimizedUnaryEncoding,
    Rappor,
)
from segshuffle.accounting.single_message.randomizers.laplace import Laplace
from segshuffle.accounting.single_message.randomizers.subsets import (
    KaryRandomizedResponse,
    SubsetExponential,
    SubsetSelection,
)

EXP = Fraction(9)  # e^eps_0; its root is rational, too (RAPPOR splits the budget over two bits)
ROOT = Fraction(3)
E0 = math.log(9)


def oue_matrix(d):
    raised = 1 / (1 + EXP)

    def chance(x, y):
        return math.prod(Fraction(1, 2) if j == x else (raised if y[j] else 1 - raised) for j in range(d))

    return [[chance(x, y) for y in product((0, 1), repeat=d)] for x in range(d)]


def case(randomizer, matrix, star, other=1, **sizes):
    """Return a randomizer, its matrix, the pair of inputs (0, other), and the input x* of all others."""
    return randomizer(local_epsilon=E0, **sizes), matrix, (0, other), star


def bits(d):
    return tables.flipped_bits(tables.one_hot(d), 1 / (1 + ROOT))


def hadamard(order):
    return tables.favoured(tables.hadamard_sets(order), order, EXP)


def privset(d, star):
    subsets = o.subsets(d, 2)
    matrix = o.subset_exponential(d, 2, 2, EXP)
    pair = {"star": subsets.index(star), "other": subsets.index((2, 3))}
    return case(SubsetExponential, matrix, **pair, domain_size=d, set_size=2, subset_size=2)


CASES = {
    "krr2": case(KaryRandomizedResponse, o.krr(2, EXP), 1, domain_size=2),
    "krr3": case(KaryRandomizedResponse, o.krr(3, EXP), 2, domain_size=3),
    "krr5": case(KaryRandomizedResponse, o.krr(5, EXP), 2, domain_size=5),
    "blh2": case(LocalHash, tables.local_hash(2, 2, EXP), 1, hash_size=2, domain_size=2),
    "blh4": case(LocalHash, tables.local_hash(4, 2, EXP), 2, hash_size=2, domain_size=4),
    "hash3": case(LocalHash, tables.local_hash(3, 3, EXP), 2, hash_size=3, domain_size=3),
    "rappor2": case(Rappor, bits(2), 1, domain_size=2),
    "rappor4": case(Rappor, bits(4), 2, domain_size=4),
    "oue2": case(OptimizedUnaryEncoding, oue_matrix(2), 1, domain_size=2),
    "oue4": case(OptimizedUnaryEncoding, oue_matrix(4), 2, domain_size=4),
    "hadamard4": case(HadamardResponse, hadamard(4), 2, order=4),
    "hadamard8": case(HadamardResponse, hadamard(8), 3, order=8),
    "selection4": case(SubsetSelection, tables.subset_selection(4, 2, EXP), 2, domain_size=4, subset_size=2),
    "selection5": case(SubsetSelection, tables.subset_selection(5, 3, EXP), 2, domain_size=5, subset_size=3),
    "privset6": privset(6, (4, 5)),
    "privset5": privset(5, (0, 4)),
}


def blanket_row(matrix):
    return [min(column) for column in zip(*matrix, strict=True)]


#: Functions that make a randomizer from its local epsilon.
MAKERS = [
    lambda e: KaryRandomizedResponse(local_epsilon=e, domain_size=7),
    lambda e: LocalHash(local_epsilon=e, hash_size=2),
    lambda e: LocalHash(local_epsilon=e, hash_size=2, domain_size=2),
    lambda e: Rappor(local_epsilon=e, domain_size=6),
    lambda e: OptimizedUnaryEncoding(local_epsilon=e, domain_size=3),
    lambda e: HadamardResponse(local_epsilon=e, order=16),
    lambda e: SubsetExponential(local_epsilon=e, domain_size=30, set_size=4, subset_size=5),
    lambda e: SubsetExponential(local_epsilon=e, domain_size=7, set_size=4, subset_size=2),
    lambda e: Laplace(local_epsilon=e, cells=20),
    lambda e: ParallelComposition(
        components=(KaryRandomizedResponse(local_epsilon=e, domain_size=5),), weights=(1.0,), rate=0.3
    ),
]
