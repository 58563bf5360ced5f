"""Mechanisms by name, with everything the accountants know of them (see `accountants.Mechanism`)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from segshuffle.accounting.numerics.ranges import check_choice, check_integer, check_kind, check_local
from segshuffle.accounting.single_message import randomizers
from segshuffle.accounting.single_message import variation_ratio as vr
from segshuffle.accounting.single_message import variation_ratio_tables as tables
from segshuffle.accounting.single_message.accountants import Mechanism
from segshuffle.errors import ParameterError

#: Largest size of a mechanism whose classes are written down, and of one whose sets are listed item by item.
LARGEST_SIZE, LARGEST_LISTED = 10**15, 10_000_000
#: Least sizes.
_LEAST = {"domain_size": 2, "hash_size": 2, "order": 4, "set_size": 1, "subset_size": 1, "levels": 1}
#: Classes that a joint composition with Laplace noise has room for, and the fewest cells that the noise is cut into.
_LARGEST_JOINT, _LEAST_CELLS = 8_000, 4


@dataclass(frozen=True)
class _Maker:
    """Describe a mechanism: its parameters beside the local epsilon, and functions of all of them.

    Parameters
    ----------
    description : str
        What it is, in a line.
    parameters : tuple of str
        Names of what it needs beside its local epsilon.
    variation : callable
        Its variation-ratio parameters, as published.
    classes : callable, optional
        Its classes of outputs, where they are known.
    local : bool
        Whether it has a local epsilon: what hides a message is otherwise the blanket, or a distance.
    multi_message : bool
        Whether its messages hide among blanket messages, not among other users'.
    no_left_over, caveat
        As for `Mechanism`.
    largest : int
        Its largest size.
    """

    description: str
    parameters: tuple[str, ...]
    variation: Callable[..., vr.VariationRatio]
    classes: Callable[..., randomizers.Randomizer] | None = None
    local: bool = True
    multi_message: bool = False
    no_left_over: bool = False
    caveat: str = ""
    largest: int = LARGEST_SIZE


def mechanism(name: str, *, local_epsilon: float | None = None, **parameters: float) -> Mechanism:
    """Return a mechanism.

    Parameters
    ----------
    name : str
        One of `MECHANISMS`.
    local_epsilon : float, optional
        Its local guarantee, in [1e-12, 50]; left out for those without one.
    **parameters : int or float
        What the mechanism needs beside: sizes are at most 1e15, and at most 1e7 for mechanisms that report subsets.

    Raises
    ------
    ParameterError
        If there is no such mechanism, or a parameter is missing, unknown or outside its range.
    """
    check_choice("randomizer", name, MECHANISMS)
    maker = MECHANISMS[name]
    needed = ", ".join(maker.parameters) or "nothing"
    beside = f"{needed} beside the local epsilon" if maker.local else f"{needed}, and has no local epsilon"
    given = dict(parameters)
    if maker.local:
        if local_epsilon is None:
            raise ParameterError("local_epsilon", None, f"given: {name} needs {beside}")
        check_local(local_epsilon, least=vr.SMALLEST_LOG_RATIO)
        given["local_epsilon"] = local_epsilon
    elif local_epsilon is not None:
        raise ParameterError("local_epsilon", local_epsilon, f"left out: {name} needs {beside}")
    for missing in set(maker.parameters) - set(parameters):
        raise ParameterError(missing, None, f"given: {name} needs {beside}")
    for unknown in set(parameters) - set(maker.parameters):
        raise ParameterError(unknown, parameters[unknown], f"left out: {name} needs {beside}")
    for size in _LEAST.keys() & parameters.keys():
        # not the reals: a share such as cap_area has a range of its own
        allowed = f"an integer in [{_LEAST[size]}, {maker.largest:g}] for {name}"
        check_integer(size, parameters[size], _LEAST[size], allowed, most=maker.largest)
    return Mechanism(
        name=name,
        local_epsilon=math.inf if local_epsilon is None else local_epsilon,
        randomizer=maker.classes(**given) if maker.classes else None,
        variation=maker.variation(**given),
        caveat=maker.caveat,
        no_left_over=maker.no_left_over,
        parameters=dict(parameters),
    )


def of_matrix(randomizer: randomizers.MatrixRandomizer) -> Mechanism:
    """Make the mechanism of a randomizer of one's own, from `randomizers.matrix_randomizer`."""
    log_p, variation = randomizer.local_epsilon, None
    if log_p >= vr.SMALLEST_LOG_RATIO:
        beta = min(randomizer.total_variation, math.tanh(0.5 * log_p))
        variation = vr.VariationRatio(log_p=log_p, beta=beta, log_q=log_p)
    inputs, outputs = randomizer.law.shape
    return Mechanism(
        name="matrix",
        local_epsilon=log_p,
        randomizer=randomizer,
        variation=variation,
        parameters={"inputs": inputs, "outputs": outputs},
    )


def with_classes(known: Mechanism, **changed: Any) -> Mechanism:
    """Change fields of a mechanism's classes, such as the number of cells that Laplace noise is cut into."""
    return replace(known, randomizer=replace(known.randomizer, **changed))  # type: ignore[type-var]


COMPOSITIONS = ("joint", "parallel")


def composed(parts: Sequence[Mechanism], how: str, weights: Sequence[float] | None = None) -> Mechanism:
    """Put several randomizers into one message.

    Parameters
    ----------
    parts : sequence of Mechanism
        Whose outputs are known as classes, and symmetric in their inputs.
    how : {"joint", "parallel"}
        All of them, on a value each; or one, chosen at random, and the message tells which.
    weights : sequence of float, optional
        "parallel" only: probability of each; default: equal.
    """
    check_choice("compose", how, COMPOSITIONS)
    if not parts:
        raise ParameterError("parts", parts, "a list of at least one Mechanism")
    classes = tuple(_classes_of(part) for part in parts)
    names: dict[str, float | int] = {f"part_{i}": part.name for i, part in enumerate(parts, 1)}  # type: ignore[misc]
    caveat = "; ".join(dict.fromkeys(f"{part.name} {part.caveat}" for part in parts if part.caveat))
    if how == "joint":
        if weights is not None:
            raise ParameterError("weights", tuple(weights), "left out with joint: every part is sent")
        joint = randomizers.JointComposition(components=_cut_into_fewer(classes))
        return Mechanism(name=how, local_epsilon=joint.local_epsilon, randomizer=joint, caveat=caveat, parameters=names)
    shares = tuple(weights) if weights is not None else (1 / len(parts),) * len(parts)
    union = randomizers.ParallelComposition(components=classes, weights=shares)
    return Mechanism(name=how, local_epsilon=union.local_epsilon, randomizer=union, caveat=caveat, parameters=names)


def _cut_into_fewer(parts: tuple[randomizers.Randomizer, ...]) -> tuple[randomizers.Randomizer, ...]:
    """Cut Laplace noise into as many cells as there is room for: bounds stay valid, and widen a little."""
    noisy = sum(isinstance(part, randomizers.Laplace) for part in parts)
    others = math.prod(part.blanket("upper").mass.size for part in parts if not isinstance(part, randomizers.Laplace))
    cells = max(int(0.5 * (_LARGEST_JOINT / others) ** (1 / max(noisy, 1))), _LEAST_CELLS)
    return tuple(
        replace(part, cells=min(part.cells, cells)) if isinstance(part, randomizers.Laplace) else part for part in parts
    )


def subsampled(whole: Mechanism, rate: float) -> Mechanism:
    """Let every user take part with probability `rate` in (0, 1], and send a constant message otherwise."""
    check_kind("mechanism", whole, Mechanism)
    classes = whole.randomizer
    parameters = {**whole.parameters, "subsample": rate}
    if isinstance(classes, randomizers.MatrixRandomizer):
        return replace(of_matrix(classes.subsampled(rate)), parameters=parameters)
    thinner = randomizers.poisson_subsampled(_classes_of(whole), rate=rate)
    return replace(whole, randomizer=thinner, variation=None, lower=None, parameters=parameters)


def _classes_of(part: Mechanism) -> randomizers.Randomizer:
    check_kind("mechanism", part, Mechanism)
    if part.randomizer is None or isinstance(part.randomizer, randomizers.MatrixRandomizer):
        raise ParameterError("randomizer", part.name, f"one of {', '.join(COMPOSABLE)}: only these can be composed")
    return part.randomizer


_DISTANCES = ("distance", "largest_distance")
_HIDDEN: dict[str, Any] = {"local": False, "multi_message": True}
MECHANISMS: dict[str, _Maker] = {
    "general": _Maker("any randomizer with this local guarantee", (), tables.general),
    "krr": _Maker(
        "k-ary randomized response on domain_size options",
        ("domain_size",),
        tables.randomized_response,
        randomizers.KaryRandomizedResponse,
    ),
    "blh": _Maker(
        "binary local hash, large domain", (), partial(tables.local_hash, hash_size=2), randomizers.BinaryLocalHash
    ),
    "rappor": _Maker(
        "RAPPOR: every bit of the one-hot encoding flipped, large domain",
        (),
        tables.binary_randomized_response,
        randomizers.Rappor,
    ),
    "oue": _Maker("optimized unary encoding, large domain", (), tables.general, randomizers.OptimizedUnaryEncoding),
    "hadamard": _Maker(
        "Hadamard response with `order` outputs (a power of 2)",
        ("order",),
        lambda order, **local: tables.hadamard_response(order=order, set_size=order // 2, **local),
        randomizers.HadamardResponse,
    ),
    "subset-selection": _Maker(
        "a subset of subset_size options, likelier if it holds the input",
        ("domain_size", "subset_size"),
        tables.subset_selection,
        randomizers.SubsetSelection,
        largest=LARGEST_LISTED,
    ),
    "subset-exponential": _Maker(
        "a subset of subset_size items, likelier if it meets the user's set of set_size items",
        ("domain_size", "set_size", "subset_size"),
        vr.subset_exponential,
        randomizers.SubsetExponential,
        largest=LARGEST_LISTED,
    ),
    "laplace": _Maker(
        "Laplace noise on a value in [0, 1]",
        (),
        tables.laplace,
        randomizers.Laplace,
        caveat="for the inputs 0 and 1, which are not proven to be the worst pair",
    ),
    "local-hash": _Maker(
        "local hash into hash_size values, large domain", ("hash_size",), tables.local_hash, randomizers.LocalHash
    ),
    "privunit": _Maker("PrivUnit: likelier on a cap of share cap_area", ("cap_area",), tables.privunit),
    "sampling-rappor": _Maker(
        "RAPPOR of one of domain_size options, set_size of them held",
        ("domain_size", "set_size"),
        tables.sampling_rappor,
    ),
    "wheel": _Maker("Wheel: likelier on set_size arcs of arc_length", ("set_size", "arc_length"), tables.wheel),
    "range-query": _Maker(
        "one of `levels` levels of a binary tree, then krr on its nodes", ("levels",), tables.range_query
    ),
    "metric": _Maker("any metric randomizer, inputs at `distance`", _DISTANCES, tables.metric_general, local=False),
    "metric-laplace": _Maker(
        "Laplace noise on the line, inputs at `distance`", _DISTANCES, tables.metric_laplace, local=False
    ),
    "planar-laplace": _Maker(
        "planar Laplace noise, inputs at `distance`", _DISTANCES, tables.planar_laplace, local=False
    ),
    "biased-coin-sum": _Maker(
        "a bit among blanket coins of probability `coin`",
        ("coin",),
        tables.biased_coin_sum,
        no_left_over=True,
        **_HIDDEN,
    ),
    "uniform-coin-sum": _Maker(
        "a bit among fair blanket coins", (), tables.uniform_coin_sum, no_left_over=True, **_HIDDEN
    ),
    "flipped-one-hot": _Maker(
        "one-hot vectors, bits flipped with probability `flip`", ("flip",), tables.flipped_one_hot, **_HIDDEN
    ),
    "balls-into-bins": _Maker(
        "one of special_bins of domain_size bins; uniform blanket",
        ("domain_size", "special_bins"),
        tables.balls_into_bins,
        no_left_over=True,
        **_HIDDEN,
    ),
    "mix-dump": _Maker(
        "krr on domain_size bins that errs with probability `flip`; uniform blanket",
        ("domain_size", "flip"),
        tables.mix_dump,
        no_left_over=True,
        **_HIDDEN,
    ),
    "pure-dump": _Maker(
        "the true one of domain_size bins; uniform blanket",
        ("domain_size",),
        tables.pure_dump,
        no_left_over=True,
        **_HIDDEN,
    ),
}
#: Those whose messages hide among blanket messages, not among other users' (Table 4 of the variation-ratio paper).
MULTI_MESSAGE = tuple(name for name, each in MECHANISMS.items() if each.multi_message)
#: Those whose outputs are known as classes.
COMPOSABLE = tuple(name for name, each in MECHANISMS.items() if each.classes)
