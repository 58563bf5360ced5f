"""The server's full view of Algorithm 2, message by message."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from math import floor
from typing import Any

from oracles.laws import MP, Histogram, Law, MpLaw, to_mpf


def add_message(view: Mapping[Histogram, Any], message: Sequence[tuple[int | None, Any]]) -> dict[Histogram, Any]:
    """Return the law of the histogram after one more independent message; for item ``None`` nothing is sent."""
    result: dict[Histogram, Any] = {}
    for histogram, probability in view.items():
        for item, chance in message:
            if chance == 0:
                continue
            key = histogram
            if item is not None:
                key = (*histogram[:item], histogram[item] + 1, *histogram[item + 1 :])
            term = probability * chance
            result[key] = result[key] + term if key in result else term
    return result


def _user_messages(items: Iterable[int], rate: Fraction) -> list[list[tuple[int | None, Fraction]]]:
    """Return one user's messages: every held item ``floor(rate)`` times, and once more with the rest's probability."""
    rate = Fraction(rate)
    copies, rest = floor(rate), rate - floor(rate)
    messages: list[list[tuple[int | None, Fraction]]] = []
    for item in items:
        messages += [[(item, Fraction(1))]] * copies
        messages.append([(item, rest), (None, 1 - rest)])
    return messages


def segmented_view(
    domain_size: int,
    sets: Sequence[Iterable[int]],
    levels_lambda: Sequence[Fraction],
    blanket_slots: int,
    gamma: Fraction,
) -> Law:
    """Return the exact law of the histogram that the server sees in Algorithm 2, lines 7-20.

    Parameters
    ----------
    domain_size : int
        Number of items ``d``.
    sets : sequence of iterables of int
        The items that each user holds.
    levels_lambda : sequence of Fraction
        Sampling rate of each *user*. A rate above 1 is an expected number of copies: the item is sent ``floor(rate)``
        times, and once more with probability ``rate - floor(rate)``.
    blanket_slots : int
        Bernoulli slots of all users together, ``n * ceil(m)``.
    gamma : Fraction
        Probability ``m / ceil(m)`` that a slot holds a message, whose item is uniform.

    Returns
    -------
    dict
        From ``(c_0, ..., c_{d-1})`` to its probability.
    """
    gamma = Fraction(gamma)
    view: dict[Histogram, Any] = {(0,) * domain_size: Fraction(1)}
    for items, rate in zip(sets, levels_lambda, strict=True):
        for message in _user_messages(items, rate):
            view = add_message(view, message)
    slot: list[tuple[int | None, Fraction]] = [(item, gamma / domain_size) for item in range(domain_size)]
    slot.append((None, 1 - gamma))
    for _ in range(blanket_slots):
        view = add_message(view, slot)
    return view


def poisson_blanket_view(
    domain_size: int, sets: Sequence[Iterable[int]], levels_lambda: Sequence[Fraction], mu: Fraction, cutoff: int
) -> tuple[MpLaw, Any]:
    """Return the law of the server's histogram if each item's blanket count is an independent Poisson(``mu``).

    Parameters
    ----------
    domain_size, sets, levels_lambda
        As in :func:`segmented_view`.
    mu : Fraction
        Mean blanket count of one item, ``n * m / d``.
    cutoff : int
        Only histograms with every count at most ``cutoff`` are kept.

    Returns
    -------
    view : dict
        Truncated law, exact (to :data:`WORKING_DIGITS` digits) on the cells it has.
    lost : mpf
        Probability of the dropped cells.
    """
    mean = to_mpf(mu)
    poisson = [MP.exp(-mean) * mean**x / MP.factorial(x) for x in range(cutoff + 1)]
    view: dict[Histogram, Any] = {(): MP.mpf(1)}
    for _ in range(domain_size):
        view = {(*head, x): p * poisson[x] for head, p in view.items() for x in range(cutoff + 1)}
    for items, rate in zip(sets, levels_lambda, strict=True):
        for message in _user_messages(items, rate):
            view = add_message(view, [(item, to_mpf(chance)) for item, chance in message])
            view = {histogram: p for histogram, p in view.items() if max(histogram) <= cutoff}
    return view, 1 - MP.fsum(view.values())
