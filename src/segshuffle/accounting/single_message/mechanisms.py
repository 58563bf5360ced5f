"""Mechanisms by name, with everything the accountants know of them (see `accountants.Mechanism`)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from segshuffle.accounting.numerics.ranges import check_local
from segshuffle.accounting.single_message import randomizers
from segshuffle.accounting.single_message import variation_ratio as vr
from segshuffle.accounting.single_message import variation_ratio_tables as tables
from segshuffle.accounting.single_message.accountants import Mechanism
from segshuffle.errors import ParameterError

#: Largest size of a mechanism whose classes are written down.
LARGEST_SIZE = 10**15
#: Least sizes.
_LEAST = {
    "domain_size": 2,
    "hash_size": 2,
    "order": 4,
    "set_size": 1,
    "subset_size": 1,
    "levels": 1,
}
#: Largest size of a mechanism whose sets are listed item by item.
LARGEST_LISTED = 10_000_000
#: Classes that a joint composition with Laplace noise has room for, and the fewest cells that the noise is cut into.
_LARGEST_JOINT, _LEAST_CELLS = 8_000, 4


class _Maker(NamedTuple):
    """How a mechanism is made: what it is, the parameters beside its local epsilon, and the function of all of them."""

    description: str
    parameters: tuple[str, ...]
    make: Callable[..., Mechanism]
    largest: int = LARGEST_SIZE
    local: bool = True
    """Whether it has a local epsilon: what hides a message is otherwise the blanket, or a distance."""


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
    if name not in MECHANISMS:
        raise ParameterError("randomizer", name, f"one of {', '.join(MECHANISMS)}")
    maker = MECHANISMS[name]
    needed = ", ".join(maker.parameters) or "nothing"
    beside = f"{needed} beside the local epsilon" if maker.local else f"{needed}, and has no local epsilon"
    if maker.local:
        if local_epsilon is None:
            raise ParameterError("local_epsilon", None, f"given: {name} needs {beside}")
        check_local(local_epsilon, least=vr.SMALLEST_LOG_RATIO)
    elif local_epsilon is not None:
        raise ParameterError("local_epsilon", local_epsilon, f"left out: {name} needs {beside}")
    for missing in set(maker.parameters) - set(parameters):
        raise ParameterError(missing, None, f"given: {name} needs {beside}")
    for unknown in set(parameters) - set(maker.parameters):
        raise ParameterError(unknown, parameters[unknown], f"left out: {name} needs {beside}")
    for size in _LEAST.keys() & parameters.keys():
        # not the reals: a share such as cap_area has a range of its own
        if not _LEAST[size] <= parameters[size] <= maker.largest:
            allowed = f"an integer in [{_LEAST[size]}, {maker.largest:g}] for {name}"
            raise ParameterError(size, parameters[size], allowed)
    return maker.make(local_epsilon, **parameters) if maker.local else maker.make(**parameters)


def _made(
    name: str,
    local_epsilon: float,
    randomizer: randomizers.Randomizer | None,
    variation: vr.VariationRatio | None,
    parameters: Mapping[str, int],
    caveat: str = "",
) -> Mechanism:
    return Mechanism(
        name=name,
        local_epsilon=local_epsilon,
        randomizer=randomizer,
        variation=variation,
        caveat=caveat,
        parameters=dict(parameters),
    )


def _general(local_epsilon: float) -> Mechanism:
    return _made("general", local_epsilon, None, tables.general(local_epsilon=local_epsilon), {})


def _krr(local_epsilon: float, domain_size: int) -> Mechanism:
    classes = randomizers.KaryRandomizedResponse(local_epsilon=local_epsilon, domain_size=domain_size)
    variation = tables.randomized_response(local_epsilon=local_epsilon, domain_size=domain_size)
    return _made("krr", local_epsilon, classes, variation, {"domain_size": domain_size})


def _blh(local_epsilon: float) -> Mechanism:
    variation = tables.local_hash(local_epsilon=local_epsilon, hash_size=2)
    return _made("blh", local_epsilon, randomizers.BinaryLocalHash(local_epsilon=local_epsilon), variation, {})


def _rappor(local_epsilon: float) -> Mechanism:
    variation = tables.binary_randomized_response(local_epsilon=local_epsilon)
    return _made("rappor", local_epsilon, randomizers.Rappor(local_epsilon=local_epsilon), variation, {})


def _oue(local_epsilon: float) -> Mechanism:
    classes = randomizers.OptimizedUnaryEncoding(local_epsilon=local_epsilon)
    return _made("oue", local_epsilon, classes, tables.general(local_epsilon=local_epsilon), {})


def _hadamard(local_epsilon: float, order: int) -> Mechanism:
    classes = randomizers.HadamardResponse(local_epsilon=local_epsilon, order=order)
    variation = tables.hadamard_response(local_epsilon=local_epsilon, order=order, set_size=order // 2)
    return _made("hadamard", local_epsilon, classes, variation, {"order": order})


def _subset_selection(local_epsilon: float, domain_size: int, subset_size: int) -> Mechanism:
    sizes = {"domain_size": domain_size, "subset_size": subset_size}
    classes = randomizers.SubsetSelection(local_epsilon=local_epsilon, **sizes)
    variation = tables.subset_selection(local_epsilon=local_epsilon, **sizes)
    return _made("subset-selection", local_epsilon, classes, variation, sizes)


def _subset_exponential(local_epsilon: float, domain_size: int, set_size: int, subset_size: int) -> Mechanism:
    sizes = {"domain_size": domain_size, "set_size": set_size, "subset_size": subset_size}
    classes = randomizers.SubsetExponential(local_epsilon=local_epsilon, **sizes)
    return _made(
        "subset-exponential", local_epsilon, classes, vr.subset_exponential(local_epsilon=local_epsilon, **sizes), sizes
    )


def _laplace(local_epsilon: float) -> Mechanism:
    caveat = "for the inputs 0 and 1, which are not proven to be the worst pair"
    variation = tables.laplace(local_epsilon=local_epsilon)
    return _made("laplace", local_epsilon, randomizers.Laplace(local_epsilon=local_epsilon), variation, {}, caveat)


def _local_hash(local_epsilon: float, hash_size: int) -> Mechanism:
    variation = tables.local_hash(local_epsilon=local_epsilon, hash_size=hash_size)
    classes = randomizers.LocalHash(local_epsilon=local_epsilon, hash_size=hash_size)
    return _made("local-hash", local_epsilon, classes, variation, {"hash_size": hash_size})


def _tabled(name: str, make: Callable[..., vr.VariationRatio], *, proven: bool = False) -> Callable[..., Mechanism]:
    """A mechanism of which only the variation-ratio parameters are known, as published."""

    def made(local_epsilon: float | None = None, **parameters: float) -> Mechanism:
        given = {} if local_epsilon is None else {"local_epsilon": local_epsilon}
        return Mechanism(
            name=name,
            local_epsilon=math.inf if local_epsilon is None else local_epsilon,
            variation=make(**given, **parameters),
            no_left_over=proven,
            parameters=dict(parameters),
        )

    return made


def of_matrix(randomizer: randomizers.MatrixRandomizer) -> Mechanism:
    """The mechanism of a randomizer of one's own, from `randomizers.matrix_randomizer`."""
    log_p, variation = randomizer.local_epsilon, None
    if log_p >= vr.SMALLEST_LOG_RATIO:
        beta = min(randomizer.total_variation, math.tanh(0.5 * log_p))
        variation = vr.VariationRatio(log_p=log_p, beta=beta, log_q=log_p)
    inputs, outputs = randomizer.law.shape
    return _made("matrix", log_p, randomizer, variation, {"inputs": inputs, "outputs": outputs})


COMPOSITIONS = ("joint", "parallel")


def composed(parts: Sequence[Mechanism], how: str, weights: Sequence[float] | None = None) -> Mechanism:
    """Several randomizers in one message.

    Parameters
    ----------
    parts : sequence of Mechanism
        Whose outputs are known as classes, and symmetric in their inputs.
    how : {"joint", "parallel"}
        All of them, on a value each; or one, chosen at random, and the message tells which.
    weights : sequence of float, optional
        "parallel" only: probability of each; default: equal.
    """
    if how not in COMPOSITIONS:
        raise ParameterError("compose", how, f"one of {', '.join(COMPOSITIONS)}")
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
    """Laplace noise in as many cells as its parts together have room for: bounds stay valid, and widen a little."""
    noisy = sum(isinstance(part, randomizers.Laplace) for part in parts)
    if noisy == 0:
        return parts
    others = math.prod(part.blanket("upper").mass.size for part in parts if not isinstance(part, randomizers.Laplace))
    cells = max(int(0.5 * (_LARGEST_JOINT / others) ** (1 / noisy)), _LEAST_CELLS)
    return tuple(
        replace(part, cells=min(part.cells, cells)) if isinstance(part, randomizers.Laplace) else part for part in parts
    )


def subsampled(whole: Mechanism, rate: float) -> Mechanism:
    """Every user takes part with probability `rate` in (0, 1], and sends a constant message otherwise."""
    classes = whole.randomizer
    parameters = {**whole.parameters, "subsample": rate}
    if isinstance(classes, randomizers.MatrixRandomizer):
        return replace(of_matrix(classes.subsampled(rate)), parameters=parameters)
    thinner = randomizers.poisson_subsampled(_classes_of(whole), rate=rate)
    return replace(whole, randomizer=thinner, variation=None, lower=None, parameters=parameters)


def _classes_of(part: Mechanism) -> randomizers.Randomizer:
    if part.randomizer is None or isinstance(part.randomizer, randomizers.MatrixRandomizer):
        names = ", ".join(name for name in COMPOSABLE)
        raise ParameterError("randomizer", part.name, f"one of {names}: only these can be composed")
    return part.randomizer


MECHANISMS: dict[str, _Maker] = {
    "general": _Maker("any randomizer with this local guarantee", (), _general),
    "krr": _Maker("k-ary randomized response on domain_size options", ("domain_size",), _krr),
    "blh": _Maker("binary local hash, large domain", (), _blh),
    "rappor": _Maker("RAPPOR: every bit of the one-hot encoding flipped, large domain", (), _rappor),
    "oue": _Maker("optimized unary encoding, large domain", (), _oue),
    "hadamard": _Maker("Hadamard response with `order` outputs (a power of 2)", ("order",), _hadamard),
    "subset-selection": _Maker(
        "a subset of subset_size options, likelier if it holds the input",
        ("domain_size", "subset_size"),
        _subset_selection,
        LARGEST_LISTED,
    ),
    "subset-exponential": _Maker(
        "a subset of subset_size items, likelier if it meets the user's set of set_size items",
        ("domain_size", "set_size", "subset_size"),
        _subset_exponential,
        LARGEST_LISTED,
    ),
    "laplace": _Maker("Laplace noise on a value in [0, 1]", (), _laplace),
    "local-hash": _Maker("local hash into hash_size values, large domain", ("hash_size",), _local_hash),
    "privunit": _Maker(
        "PrivUnit: likelier on a cap of share cap_area", ("cap_area",), _tabled("privunit", tables.privunit)
    ),
    "sampling-rappor": _Maker(
        "RAPPOR of one of domain_size options, set_size of them held",
        ("domain_size", "set_size"),
        _tabled("sampling-rappor", tables.sampling_rappor),
    ),
    "wheel": _Maker(
        "Wheel: likelier on set_size arcs of arc_length", ("set_size", "arc_length"), _tabled("wheel", tables.wheel)
    ),
    "range-query": _Maker(
        "one of `levels` levels of a binary tree, then krr on its nodes",
        ("levels",),
        _tabled("range-query", tables.range_query),
    ),
    "metric": _Maker(
        "any metric randomizer, inputs at `distance`",
        ("distance", "largest_distance"),
        _tabled("metric", tables.metric_general),
        local=False,
    ),
    "metric-laplace": _Maker(
        "Laplace noise on the line, inputs at `distance`",
        ("distance", "largest_distance"),
        _tabled("metric-laplace", tables.metric_laplace),
        local=False,
    ),
    "planar-laplace": _Maker(
        "planar Laplace noise, inputs at `distance`",
        ("distance", "largest_distance"),
        _tabled("planar-laplace", tables.planar_laplace),
        local=False,
    ),
    "biased-coin-sum": _Maker(
        "a bit among blanket coins of probability `coin`",
        ("coin",),
        _tabled("biased-coin-sum", tables.biased_coin_sum, proven=True),
        local=False,
    ),
    "uniform-coin-sum": _Maker(
        "a bit among fair blanket coins",
        (),
        _tabled("uniform-coin-sum", tables.uniform_coin_sum, proven=True),
        local=False,
    ),
    "flipped-one-hot": _Maker(
        "one-hot vectors, bits flipped with probability `flip`",
        ("flip",),
        _tabled("flipped-one-hot", tables.flipped_one_hot),
        local=False,
    ),
    "balls-into-bins": _Maker(
        "one of special_bins of domain_size bins; uniform blanket",
        ("domain_size", "special_bins"),
        _tabled("balls-into-bins", tables.balls_into_bins, proven=True),
        local=False,
    ),
    "mix-dump": _Maker(
        "krr on domain_size bins that errs with probability `flip`; uniform blanket",
        ("domain_size", "flip"),
        _tabled("mix-dump", tables.mix_dump, proven=True),
        local=False,
    ),
    "pure-dump": _Maker(
        "the true one of domain_size bins; uniform blanket",
        ("domain_size",),
        _tabled("pure-dump", tables.pure_dump, proven=True),
        local=False,
    ),
}
#: Those whose messages hide among blanket messages, not among other users' (Table 4 of the variation-ratio paper).
MULTI_MESSAGE = ("biased-coin-sum", "uniform-coin-sum", "flipped-one-hot", "balls-into-bins", "mix-dump", "pure-dump")
#: Those whose outputs are known as classes.
COMPOSABLE = (
    *("krr", "blh", "rappor", "oue", "hadamard", "subset-selection", "subset-exponential", "laplace", "local-hash"),
)
