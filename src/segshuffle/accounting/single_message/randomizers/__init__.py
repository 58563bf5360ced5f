"""Local randomizers as parameter objects: what the single-message accountants need to know of them."""

from segshuffle.accounting.single_message.randomizers.composed import (
    JointComposition,
    ParallelComposition,
    poisson_subsampled,
)
from segshuffle.accounting.single_message.randomizers.encodings import (
    BinaryLocalHash,
    HadamardResponse,
    LocalHash,
    OptimizedUnaryEncoding,
    Rappor,
)
from segshuffle.accounting.single_message.randomizers.laplace import Laplace
from segshuffle.accounting.single_message.randomizers.matrix import MatrixRandomizer, matrix_randomizer
from segshuffle.accounting.single_message.randomizers.reference import Randomizer, ReferenceClasses, Side
from segshuffle.accounting.single_message.randomizers.subsets import (
    KaryRandomizedResponse,
    SubsetExponential,
    SubsetSelection,
)

__all__ = [
    "BinaryLocalHash",
    "HadamardResponse",
    "JointComposition",
    "KaryRandomizedResponse",
    "Laplace",
    "LocalHash",
    "MatrixRandomizer",
    "OptimizedUnaryEncoding",
    "ParallelComposition",
    "Randomizer",
    "Rappor",
    "ReferenceClasses",
    "Side",
    "SubsetExponential",
    "SubsetSelection",
    "matrix_randomizer",
    "poisson_subsampled",
]
