"""Mean positive part of a sum, by enumeration of the multinomial counts: few samples, or few away from one atom."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import special

from segshuffle.accounting.numerics.tilted_inversion.atoms import EPS, AtomLaw, FloatArray, LogInterval, Tilted

_EXACT_STATES = 100_000
"""Up to this many outcomes of the multinomial counts, the sum is enumerated."""
_LARGEST_COUNT = 5000


def enumerable(law: AtomLaw, tilted: Tilted, count: int) -> int:
    """How many samples away from the tilted law's most likely atom to enumerate, -1 if that misses too much."""
    kinds = law.value.size - 1
    limit = 0
    while limit < min(count, _LARGEST_COUNT) and math.comb(limit + 1 + kinds, kinds) <= _EXACT_STATES:
        limit += 1
    rare = count * (1.0 - float(np.max(tilted.mass)))
    return limit if limit == count or limit > rare + 9 * math.sqrt(rare) + 20 else -1


def enumerated(law: AtomLaw, tilted: Tilted, count: int, limit: int) -> LogInterval:
    """Sum over the multinomial counts with at most `limit` samples away from the tilted law's most likely atom.

    The others have e^{lambda (J - limit - 1)} >= 1, J their number: Chernoff in J and in the sum at once.
    """
    common = int(np.argmax(tilted.mass))
    rest = float(np.sum(np.delete(law.mass, common)))
    log_mass = math.log1p(-rest) if rest < 0.5 else math.log(law.mass[common])
    states = _states(np.delete(law.value, common), np.delete(law.mass, common), limit)
    falling = np.concatenate([[0.0], np.cumsum(np.log(count - np.arange(float(limit))))])[states.number]
    log_common = (count - states.number) * log_mass
    total = states.total + (count - states.number) * law.value[common]
    slack = EPS * (law.value.size + 8) * (states.absolute + count * abs(law.value[common]))
    log_all = states.log_weight + falling + log_common
    low, high = (_log_sum(log_all, total + sign * slack) for sign in (-1, 1))
    largest = float(np.max(np.abs(states.log_weight) + falling + np.abs(log_common)))
    error = EPS * (law.value.size + limit + 16) * (largest + 16)
    if limit < count:
        high = float(np.logaddexp(high, _rest(law, tilted, count, limit)))
    return LogInterval(low - math.log(count) - error, high - math.log(count) + error)


class _States(NamedTuple):
    """Vectors of counts c, one per entry; all of shape (states,)."""

    number: npt.NDArray[np.int64]
    """Sum of the counts."""
    total: FloatArray
    """sum_i c_i value_i."""
    absolute: FloatArray
    """sum_i c_i |value_i|."""
    log_weight: FloatArray
    """log prod_i mass_i^c_i / c_i!."""


def _states(value: FloatArray, mass: FloatArray, limit: int) -> _States:
    """All vectors of counts with sum <= limit."""
    states = _States(np.zeros(1, dtype=np.int64), np.zeros(1), np.zeros(1), np.zeros(1))
    for atom, chance in zip(value, mass, strict=True):
        choices = limit - states.number + 1
        owner = np.repeat(np.arange(choices.size), choices)
        taken = np.arange(owner.size) - np.repeat(np.cumsum(choices) - choices, choices)
        log_chance = taken * math.log(chance) - special.gammaln(taken + 1.0)
        states = _States(
            states.number[owner] + taken,
            states.total[owner] + taken * atom,
            states.absolute[owner] + taken * abs(atom),
            states.log_weight[owner] + log_chance,
        )
    return states


def _rest(law: AtomLaw, tilted: Tilted, count: int, limit: int) -> float:
    """Logarithm of a bound on E[max(0, S); more than `limit` samples away from the tilted law's most likely atom]."""
    likely = min(float(np.max(tilted.mass)), 1.0 - 1e-300)
    rates = np.log(np.array([1.5, 2.0, 3.0, 5.0, 10.0, 30.0, 1e2, 1e3, 1e5, 1e8]))
    growth = count * np.log1p(np.expm1(rates) * (1 - likely)) - rates * (limit + 1)
    base = count * (tilted.log_mgf + tilted.log_mgf_error) - 1 - math.log(tilted.theta)
    return base + float(np.min(growth)) + 1e-6


def _log_sum(log_weight: FloatArray, value: FloatArray) -> float:
    """Logarithm of sum e^{log_weight} max(0, value)."""
    positive = (value > 0) & np.isfinite(log_weight)
    if not np.any(positive):
        return -math.inf
    return float(special.logsumexp(log_weight[positive] + np.log(value[positive])))
