"""Mechanisms by name, with everything the accountants know of them (see `accountants.Mechanism`)."""

import inspect
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from segshuffle.accounting.single_message import variation_ratio_tables as tables
from segshuffle.accounting.single_message.accountants import Mechanism
from segshuffle.accounting.single_message.randomizers import encodings, subsets
from segshuffle.accounting.single_message.randomizers.composed import (
    JointComposition,
    ParallelComposition,
)
from segshuffle.accounting.single_message.randomizers.laplace import Laplace
from segshuffle.accounting.single_message.randomizers.matrix import MatrixRandomizer
from segshuffle.accounting.single_message.randomizers.reference import Randomizer
from segshuffle.accounting.single_message.variation_ratio import VariationRatio
from segshuffle.errors import ParameterError
from segshuffle.numerics.ranges import (
    SMALLEST_LOG_RATIO,
    check_choice,
    check_integer,
    check_kind,
    check_local,
)

#: Largest size of a mechanism whose classes of outputs have formulas, and of one whose sets are listed item by item.
LARGEST_SIZE, LARGEST_LISTED = 10**15, 10_000_000
#: Least sizes.
_LEAST = {"domain_size": 2, "hash_size": 2, "order": 4, "set_size": 1, "subset_size": 1, "levels": 1}
#: Classes that a joint composition with Laplace noise has room for, and the fewest cells that the noise is cut into.
_LARGEST_JOINT, _LEAST_CELLS = 8_000, 4


@dataclass(frozen=True)
class _Maker:
    """Functions that make a mechanism from its parameters.

    Parameters
    ----------
    variation : callable
        Its variation-ratio parameters, as published. The arguments of this function are what the mechanism needs.
    classes : callable, optional
        Its classes of outputs, where they are known.
    no_left_over, caveat
        As for `Mechanism`.
    largest : int
        Its largest size.
    """

    variation: Callable[..., VariationRatio]
    classes: Callable[..., Randomizer] | None = None
    no_left_over: bool = False
    caveat: str = ""
    largest: int = LARGEST_SIZE

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of what it needs."""
        taken = inspect.signature(self.variation).parameters.values()
        return tuple(sorted(each.name for each in taken if each.default is each.empty))

    @property
    def local(self) -> bool:
        """Whether it needs a local epsilon. Others need a blanket that hides the message, or a distance of inputs."""
        return "local_epsilon" in self.parameters


def mechanism(name: str, *, local_epsilon: float | None = None, **parameters: float) -> Mechanism:
    """Return a mechanism.

    Parameters
    ----------
    name : str
        One of `MECHANISMS`.
    local_epsilon : float, optional
        Its local guarantee, in [1e-12, 50]; left out for those without one.
    **parameters : int or float
        What else the mechanism needs. Sizes are at most 1e15, and at most 1e7 for mechanisms that report subsets.

    Raises
    ------
    ParameterError
        If there is no such mechanism, or a parameter is missing, unknown or outside its range.
    """
    check_choice("randomizer", name, MECHANISMS)
    maker = MECHANISMS[name]
    needs = f"{name} needs {', '.join(maker.parameters) or 'nothing'}"
    given = parameters if local_epsilon is None else {**parameters, "local_epsilon": local_epsilon}
    for each in (*maker.parameters, *given):
        if each not in given or each not in maker.parameters:
            raise ParameterError(each, given.get(each), f"{'left out' if each in given else 'given'}: {needs}")
    if local_epsilon is not None:
        check_local(local_epsilon, least=SMALLEST_LOG_RATIO)
    for size in _LEAST.keys() & parameters.keys():
        # sizes only: a share such as cap_area has a range of its own
        allowed = f"an integer in [{_LEAST[size]}, {maker.largest:g}] for {name}"
        check_integer(size, parameters[size], _LEAST[size], allowed, most=maker.largest)
    return Mechanism(
        name=name,
        local_epsilon=math.inf if local_epsilon is None else local_epsilon,
        randomizer=maker.classes(**given) if maker.classes else None,
        variation=maker.variation(**given),
        caveat=maker.caveat,
        no_left_over=maker.no_left_over or (name == "krr" and parameters["domain_size"] == 2),
        parameters=dict(parameters),
    )


def of_matrix(randomizer: MatrixRandomizer) -> Mechanism:
    """Make the mechanism of your own randomizer, from `matrix_randomizer`."""
    log_p = max(randomizer.local_epsilon, SMALLEST_LOG_RATIO)
    beta = min(randomizer.total_variation, math.tanh(0.5 * log_p))
    inputs, outputs = randomizer.law.shape
    return Mechanism(
        name="matrix",
        local_epsilon=randomizer.local_epsilon,
        randomizer=randomizer,
        variation=VariationRatio(log_p=log_p, beta=beta, log_q=log_p),
        parameters={"inputs": inputs, "outputs": outputs},
    )


def with_classes(known: Mechanism, **changed: Any) -> Mechanism:
    """Change fields of a mechanism's classes, such as the number of cells that Laplace noise is cut into."""
    return replace(known, randomizer=replace(known.randomizer, **changed))  # type: ignore[type-var]


def composed(parts: Sequence[Mechanism], how: str, weights: Sequence[float] | None = None) -> Mechanism:
    """Put several randomizers into one message.

    Parameters
    ----------
    parts : sequence of Mechanism
        Mechanisms whose outputs are known as classes, and that are symmetric in their inputs.
    how : {"joint", "parallel"}
        "joint": all of them, on a value each; "parallel": one, chosen at random, and the message says which.
    weights : sequence of float, optional
        "parallel" only: probability of each; default: equal.
    """
    check_choice("compose", how, ("joint", "parallel"))
    classes = tuple(_classes_of(part) for part in parts)
    names: dict[str, Any] = {f"part_{i}": part.name for i, part in enumerate(parts, 1)}
    caveat = "; ".join(dict.fromkeys(f"{part.name} {part.caveat}" for part in parts if part.caveat))
    whole: JointComposition | ParallelComposition
    if how == "joint":
        if weights is not None:
            raise ParameterError("weights", tuple(weights), "left out with joint: every part is sent")
        whole = JointComposition(components=_cut_into_fewer(classes))
    else:
        shares = [1 / len(parts) for _ in parts] if weights is None else weights
        whole = ParallelComposition(components=classes, weights=tuple(shares))
    return Mechanism(name=how, local_epsilon=whole.local_epsilon, randomizer=whole, caveat=caveat, parameters=names)


def _cut_into_fewer(parts: tuple[Randomizer, ...]) -> tuple[Randomizer, ...]:
    """Cut Laplace noise into as many cells as there is room for: bounds stay valid, and widen a little."""
    noisy = sum(isinstance(part, Laplace) for part in parts)
    others = math.prod(part.blankets("upper")[0].mass.size for part in parts if not isinstance(part, Laplace))
    cells = max(int(0.5 * (_LARGEST_JOINT / others) ** (1 / max(noisy, 1))), _LEAST_CELLS)
    return tuple(replace(part, cells=min(part.cells, cells)) if isinstance(part, Laplace) else part for part in parts)


def subsampled(whole: Mechanism, rate: float) -> Mechanism:
    """Return the mechanism if users take part with probability `rate` in (0, 1], and else send a constant message.

    Only one collection of such users can be asked about: the same sample might serve several.
    """
    thinner, variation = ParallelComposition(components=(_classes_of(whole),), weights=(1.0,), rate=rate), None
    if whole.variation and isinstance(whole.randomizer, MatrixRandomizer):
        variation = replace(whole.variation, beta=rate * whole.variation.beta)
    parameters = {**whole.parameters, "subsample": rate}
    return replace(
        whole, randomizer=thinner, variation=variation, lower=None, no_left_over=False, parameters=parameters
    )


def _classes_of(part: Mechanism) -> Randomizer:
    check_kind("mechanism", part, Mechanism)
    if part.randomizer is None:
        raise ParameterError("randomizer", part.name, f"one of {', '.join(COMPOSABLE)}: only these can be composed")
    return part.randomizer


#: Those whose messages hide among blanket messages, not among other users' (Table 4 of the variation-ratio paper).
_MULTI: dict[str, Callable[..., VariationRatio]] = {
    # a bit among blanket coins of probability `coin`, and among fair ones
    "biased-coin-sum": tables.biased_coin_sum,
    "uniform-coin-sum": partial(tables.biased_coin_sum, coin=0.5),
    # one-hot vectors, bits flipped with probability `flip`
    "flipped-one-hot": tables.flipped_one_hot,
    # uniform blanket; the message is one of special_bins bins, krr that errs with probability `flip`, or the true bin
    "balls-into-bins": tables.balls_into_bins,
    "mix-dump": tables.mix_dump,
    "pure-dump": partial(tables.mix_dump, flip=0.0),
}
MULTI_MESSAGE = tuple(_MULTI)
MECHANISMS: dict[str, _Maker] = {
    # any randomizer with this local guarantee
    "general": _Maker(tables.general),
    # k-ary randomized response on domain_size options
    "krr": _Maker(tables.randomized_response, subsets.KaryRandomizedResponse),
    # binary local hash, large domain
    "blh": _Maker(partial(tables.local_hash, hash_size=2), partial(encodings.LocalHash, hash_size=2)),
    # every bit of the one-hot encoding flipped, large domain
    "rappor": _Maker(tables.binary_randomized_response, encodings.Rappor),
    # optimized unary encoding, large domain
    "oue": _Maker(tables.general, encodings.OptimizedUnaryEncoding),
    # Hadamard response with `order` outputs (a power of 2)
    "hadamard": _Maker(tables.hadamard_response, encodings.HadamardResponse),
    # a subset of subset_size options, likelier if it holds the input
    "subset-selection": _Maker(tables.subset_selection, subsets.SubsetSelection, largest=LARGEST_LISTED),
    # a subset of subset_size items, likelier if it meets the user's set of set_size items
    "subset-exponential": _Maker(tables.subset_exponential, subsets.SubsetExponential, largest=LARGEST_LISTED),
    # Laplace noise on a value in [0, 1]
    "laplace": _Maker(
        tables.laplace,
        Laplace,
        caveat="for the inputs 0 and 1, which are not proven to be the worst pair",
    ),
    # local hash into hash_size values, large domain
    "local-hash": _Maker(tables.local_hash, encodings.LocalHash),
    # a point, likelier in a cap of share cap_area of a sphere
    "privunit": _Maker(tables.privunit),
    # RAPPOR of one of domain_size options, set_size of them held
    "sampling-rappor": _Maker(tables.sampling_rappor),
    # likelier on set_size arcs of arc_length on a circle
    "wheel": _Maker(tables.wheel),
    # one of `levels` levels of a binary tree, then krr on its nodes
    "range-query": _Maker(tables.range_query),
    # for inputs at `distance`: any randomizer, Laplace noise on the line, planar Laplace noise
    "metric": _Maker(tables.metric_general),
    "metric-laplace": _Maker(tables.metric_laplace),
    "planar-laplace": _Maker(tables.planar_laplace),
    **{name: _Maker(each, no_left_over=name != "flipped-one-hot") for name, each in _MULTI.items()},
}
#: Those whose outputs are known as classes.
COMPOSABLE = tuple(name for name, each in MECHANISMS.items() if each.classes)
