"""The numbers behind every figure and table of the amplification papers, as tidy rows.

docs/amplification.md lists the numbers that the papers do not state.
"""

from collections.abc import Callable, Iterator

from segshuffle.reproduction.studies.amplification import decomposition, personalized, variation
from segshuffle.reproduction.studies.amplification.points import Row
from segshuffle.reproduction.tables import Rows

#: Figure or table -> its points or rows, for so many points of every curve.
FIGURES: dict[str, Callable[[int], Iterator[Row]]] = {
    "decomposition2": decomposition.single_randomizers,
    "decomposition3": decomposition.joint_compositions,
    "decomposition4": decomposition.parallel_composition,
    "decomposition5": decomposition.domain_sizes,
    "decomposition6": decomposition.subsampling,
    "decomposition7": decomposition.distances,
    "decomposition8": decomposition.amplification_variables,
    "variation1": variation.subset_selection,
    "variation2": variation.local_hash,
    "variation3": variation.fake_users,
    "variation4": variation.balls_into_bins,
    "variation5": variation.range_queries,
    "variation-table5": variation.bisections,
    "personalized4": personalized.personal_epsilons,
    "personalized-table2": personalized.personal_deltas,
}


def compute(name: str, *, points: int) -> Rows:
    """Make the tidy table of a figure or table.

    Parameters
    ----------
    name : str
        Figure or table, such as decomposition2.
    points : int
        Points of every curve; tables have the paper's own.

    Returns
    -------
    list of dict
        Column figure, then those that `tidy` is given, one row per point.
    """
    return [{"figure": name, **row} for row in FIGURES[name](points)]
