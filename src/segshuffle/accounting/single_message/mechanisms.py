"""Mechanisms by name, with everything the accountants know of them (see `accountants.Mechanism`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from segshuffle.accounting.numerics.ranges import check_local
from segshuffle.accounting.single_message import randomizers
from segshuffle.accounting.single_message import variation_ratio as vr
from segshuffle.accounting.single_message import variation_ratio_tables as tables
from segshuffle.accounting.single_message.accountants import Mechanism
from segshuffle.errors import ParameterError

#: Largest size of a mechanism whose classes are written down.
LARGEST_SIZE = 10**15
#: Largest size of a mechanism whose sets are listed item by item.
LARGEST_LISTED = 10_000_000


class _Maker(NamedTuple):
    """How a mechanism is made: what it is, the parameters beside its local epsilon, and the function of all of them."""

    description: str
    parameters: tuple[str, ...]
    make: Callable[..., Mechanism]
    largest: int = LARGEST_SIZE


def mechanism(name: str, *, local_epsilon: float, **parameters: int) -> Mechanism:
    """Return a mechanism.

    Parameters
    ----------
    name : str
        One of `MECHANISMS`.
    local_epsilon : float
        Its local guarantee, in [1e-12, 50].
    **parameters : int
        What the mechanism needs beside: domain_size, subset_size, set_size, order; at most 1e15, and at most 1e7 for
        mechanisms that report subsets.

    Raises
    ------
    ParameterError
        If there is no such mechanism, or a parameter is missing, unknown or outside its range.
    """
    if name not in MECHANISMS:
        raise ParameterError("randomizer", name, f"one of {', '.join(MECHANISMS)}")
    check_local(local_epsilon, least=vr.SMALLEST_LOG_RATIO)
    maker = MECHANISMS[name]
    needed = ", ".join(maker.parameters) or "nothing"
    for missing in set(maker.parameters) - set(parameters):
        raise ParameterError(missing, None, f"given: {name} needs {needed} beside the local epsilon")
    for unknown in set(parameters) - set(maker.parameters):
        raise ParameterError(unknown, parameters[unknown], f"left out: {name} needs {needed} beside the local epsilon")
    for size, value in parameters.items():
        if value > maker.largest:
            raise ParameterError(size, value, f"at most {maker.largest:g} for {name}")
    return maker.make(local_epsilon, **parameters)


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
}
