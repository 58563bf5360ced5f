"""The signed blanket: messages (item, +) and (item, -), and a flood of both that cancels in the estimate.

Per item the server counts N+ = Z1 + Z3 + M and N- = Z2 + Z3. M is the number of copies. Z1 and Z2, the *noise*, are
independent and of one law. Z3 is the *flood*: each of its units sends one + and one -. The estimate is N+ - N-, so only
the noise adds to its error. The flood hides N+ and N- themselves. With geometric noise the difference is the discrete
Laplace mechanism.

The law of (N-, N+ - N-) is tabulated as a matrix. Its entries are sums over the flood, within windows of all three
laws. The mass outside these windows is missing from the entries, and the bounds allow for it (`LossTable.missing`).
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from segshuffle.arrays import FloatArray, IntArray
from segshuffle.blankets.atoms import Atoms
from segshuffle.blankets.base import (
    BLANKET_MEAN_RANGE,
    LARGEST_P,
    TAIL_STEP,
    Blanket,
    Space,
    in_millionths,
    within,
)
from segshuffle.blankets.pairs import BlanketPair
from segshuffle.blankets.parts import Part
from segshuffle.numerics.laws import mass_error
from segshuffle.numerics.loss_distribution import AccuracyError
from segshuffle.numerics.ranges import check_within

#: Products of two masses that one matrix may take; a larger one would take seconds and hundreds of megabytes.
MOST_PRODUCTS = 6e9
_LARGEST_MEAN = 1e6
#: How far a tail goes at least and at most, as -log of the mass beyond.
_SHORTEST_TAIL, _LONGEST_TAIL = 24.0, 72.0
_GEMM_ERROR = 2.3e-16
#: Entries of a table that are worked on together, such that they fit into the processor's cache.
_TOGETHER = 2**15
#: Distance of sampled counts of N-, in standard deviations: with 1, delta of one pair was wrong by up to 60 %.
_SPACING = 0.5
#: Relative allowance for round-off in the mass outside the windows.
_ROUND_OFF = 1e-9
#: Range of the dispersion that plans choose from (`Signed.space`).
_DISPERSIONS = (2.5, 100.0)
#: Where a search begins among few dummies: the noise is then nearly geometric.
_FEW_DISPERSION = 0.125
#: Values of p for the flood, the largest first. The flood's r is at least this multiple of log(delta)^2/sqrt(pairs):
#: with a smaller r the error was up to a tenth larger.
_FLOOD_PS, _FLOOD_SIZE = np.linspace(0.98, 1e-4, 1000), 0.075
#: The mean, times pairs, is at most this multiple of variance + log(delta)^2: more dummies would hide hardly more.
_ENOUGH = 20.0
#: How far the tails go when the size of a table is judged, as -log of their mass over delta. With longer ones the best
#: blankets were left out, with shorter ones plans took up to three times as long.
_GUIDED_TAIL = 18.0
#: How often the range of means is halved to find the largest one whose table is small enough.
_HALVINGS = 11


@dataclass(frozen=True)
class Signed(Blanket):
    """Signed dummies that do not cancel, and a flood that does.

    Parameters
    ----------
    p, flood_p : float
        Cluster parameters of the noise and of the flood, in [0, 0.99]; 0 is Poisson.
    flood : float
        Share of the dummy messages that belong to the flood, in (0, 1).

    Raises
    ------
    ParameterError
        If a value is outside its range.
    """

    p: float
    flood_p: float
    flood: float
    name = "signed"
    phrase = "about random items, with random signs"
    has_signs = True
    spends = 2.0

    def __post_init__(self) -> None:
        check_within("p", self.p, 0, LARGEST_P)
        check_within("flood_p", self.flood_p, 0, LARGEST_P)
        check_within("flood", self.flood, 0, 1, "()")

    @property
    def means(self) -> tuple[float, float]:
        """Means at which r is at least 1 for noise and flood."""
        return float(_least_mean(self.p, self.flood_p, self.flood)), _LARGEST_MEAN

    @classmethod
    def space(cls, pairs: int, delta: float) -> Space:
        """Return the dispersion of the noise, and the mean; all messages that are not noise belong to the flood.

        The best r of the noise is near 1 if the flood is large beside the noise, and grows with the pairs. So r - 1 is
        about sqrt(2 r variance)/mean, the share of the noise, times pairs^(2/3) and a dispersion. The best dispersion
        was between 5 and 50 wherever that was tried, but for few dummies, where it was smaller (0.6). The r of the
        flood follows from the rest: with the best one the error was less than 1 % smaller.
        """
        log_delta = math.log(delta)
        least_flood_size = _FLOOD_SIZE * log_delta**2 / math.sqrt(pairs)
        # the flood is 0 with probability delta^(1 + 1/pairs) at most; this is -log of it for each unit of the mean
        silence = -np.log1p(-_FLOOD_PS) * (1 - _FLOOD_PS) / _FLOOD_PS

        def parts(variance: FloatArray, dispersion: FloatArray, mean: FloatArray) -> FloatArray:
            """Return p and mean of noise and flood, and the products that a table takes."""
            rise = dispersion * pairs ** (2 / 3) * np.sqrt(2 * variance) / mean
            size = (rise + np.sqrt(rise**2 + 4)) ** 2 / 4
            half = 1 + size / variance
            # size p = variance (1 - p)^2/2
            p = np.minimum(in_millionths(half - np.sqrt(half**2 - 1)), LARGEST_P)
            noise = 0.5 * variance * (1 - p)
            flood = np.maximum(0.5 * mean - noise, 1e-3)
            flood_p = np.interp(-(1 + 1 / pairs) * log_delta / flood, silence, _FLOOD_PS)
            flood_p = np.round(np.minimum(flood_p, flood / (flood + least_flood_size)), 4)
            products = _products(_GUIDED_TAIL - log_delta, Part(noise, p), Part(flood, flood_p))
            return np.array([p, noise, flood_p, flood, products])

        def make(variance: Any, dispersion: Any, mean: Any) -> tuple[tuple[FloatArray, ...], FloatArray]:
            mean = np.minimum(mean, _ENOUGH * (variance + log_delta**2) / pairs)
            found = parts(variance, dispersion, mean)
            large = found[-1] > MOST_PRODUCTS
            if large.any():
                # nearly the most dummies whose table is small enough, so that the error has no jump here
                choice = variance[large], dispersion[large]
                low, high = np.zeros(large.sum()), np.log(mean[large])
                for _ in range(_HALVINGS):
                    middle = (low + high) / 2
                    is_small = parts(*choice, np.exp(middle))[-1] <= MOST_PRODUCTS
                    low, high = np.where(is_small, middle, low), np.where(is_small, high, middle)
                found[:, large] = parts(*choice, np.exp(low))
            p, noise, flood_p, flood, products = found
            share = np.clip(np.round(flood / (flood + noise), 8), 1e-8, 1 - 1e-8)
            least = _least_mean(p, flood_p, share)
            has_law = (p > 0) & (flood > 1) & (products <= MOST_PRODUCTS)
            return (p, flood_p, share), np.where(has_law, within(2 * (flood + noise), least, _LARGEST_MEAN), math.nan)

        return Space((_DISPERSIONS, (2.0, _LARGEST_MEAN)), (_FEW_DISPERSION,), make)

    def parts(self, mean: float) -> tuple[Part, ...]:
        """Return the noise of either sign, and the flood."""
        share = Fraction(self.flood) if isinstance(mean, Fraction) else self.flood
        noise, flood = (1 - share) * mean / 2, share * mean / 2
        return Part(noise, self.p, (1,)), Part(noise, self.p, (-1,)), Part(flood, self.flood_p, (1, -1))

    def pair(self, mean: float, copies: float) -> SignedPair:
        """Return the counters of an exchanged item."""
        return SignedPair(mean, copies, self)

    def rough(self) -> SampledSigned:
        """Return nearly the same law, which tabulates only some counts of N-."""
        return SampledSigned(**vars(self))


@dataclass(frozen=True)
class SampledSigned(Signed):
    """The same blanket with only some counts of N-, each weighted for its neighbours too; an estimate, not a bound."""

    def pair(self, mean: float, copies: float) -> SignedPair:
        """Return the counters of an exchanged item."""
        return SignedPair(mean, copies, self, sampled=True)


def _least_mean(p: float | FloatArray, flood_p: float | FloatArray, flood: float | FloatArray) -> FloatArray:
    """Return the least mean at which r is at least 1 for noise and flood."""
    least = 2 * np.maximum(p / (1 - p) / (1 - flood), flood_p / (1 - flood_p) / flood) * (1 + 1e-14)
    return np.asarray(np.maximum(least, BLANKET_MEAN_RANGE[0]))


def _sample(mean: float, variance: float, low: int, high: int) -> tuple[IntArray, FloatArray]:
    """Return some of the counts low..high of N-, and how many neighbours each stands for, itself included.

    They are about `_SPACING` standard deviations apart, those of the law tilted to each count. The deviations are those
    of a negative binomial law with this mean and variance, whose variance at mean x is x + bend x^2.
    """
    bend = max(variance / mean - 1, 1e-9) / mean
    first, last = 2 * np.arcsinh(np.sqrt(bend * np.array([low, high]))) / math.sqrt(bend)
    places = np.linspace(first, last, math.ceil((last - first) / _SPACING) + 1)
    counts = np.unique(np.rint(np.sinh(places * math.sqrt(bend) / 2) ** 2 / bend).astype(np.int64))
    middles = (counts[1:] + counts[:-1]) / 2
    return counts, np.diff(middles, prepend=low - 0.5, append=high + 0.5)


def _products(log_tail: float, noise: Part, flood: Part) -> Any:
    """Bound the number of products of two masses in a table, by Bernstein's windows.

    The time is proportional to this number. The parts may have arrays of means.
    """

    def width(part: Part) -> Any:
        deviations = np.sqrt(2 * log_tail * part.variance)
        return np.minimum(deviations, part.mean) + deviations + log_tail / (1 - part.p) + 2

    return 2.0 * (width(noise) + width(flood)) * width(noise) ** 2


def _negative_columns(half: FloatArray) -> FloatArray:
    """Return columns -k, ..., -1 of the law of (N-, N+ - N-) from columns 0, ..., k, by the exchange of N+ and N-.

    Column -j of row n is column j of row n - j. One column further the entry is k places further in the flat array.
    """
    rows, most = half.shape[0], half.shape[1] - 1
    flat = np.concatenate([np.zeros((most, most + 1)), half]).ravel()
    windows = sliding_window_view(flat[most:], most * (most - 1) + 1)
    return windows[:: most + 1, :: max(most, 1)][:rows, :most]


@functools.lru_cache(maxsize=8)
def _joint(blanket: Signed, mean: float, log_tail: float, sampled: bool) -> tuple[FloatArray, float, float]:
    """Return the law of (N-, N+ - N-) for the blanket alone, with bounds on the missing mass and on the relative error.

    Sum over the flood, as a product of matrices: row n, column k is the sum over z of g(z) f(n - z) f(n - z + k).
    """
    noise, _, flood = blanket.parts(mean)
    window, flood_window = noise.window(log_tail), flood.window(log_tail)
    f, g = noise.masses(window), flood.masses(flood_window)
    n, error = f.size, 2 * mass_error(window, noise.mean) + mass_error(flood_window, flood.mean)
    if not sampled and _products(log_tail, noise, flood) > MOST_PRODUCTS:
        raise AccuracyError(
            f"The counters of {blanket} at {mean:g} messages per item have too many values for a table: take fewer "
            "messages."
        )
    # differences N+ - N- with hardly any mass are left out: k is at most `most` either way
    totals, tail = np.correlate(f, f, "full"), math.exp(-log_tail)
    most = n - 1 - int(np.searchsorted(np.cumsum(totals), tail))
    lost = float(totals[: n - 1 - most].sum() + totals[n + most :].sum())
    # column k holds f(j) f(j + k)
    least = -most if sampled else 0
    padded = np.concatenate([np.zeros(-least), f, np.zeros(most)])
    products = f[:, None] * sliding_window_view(padded, most - least + 1)
    # row i of the band matrix holds g(i - j) at column j
    band = sliding_window_view(np.concatenate([np.zeros(n - 1), g, np.zeros(n - 1)]), n)[:, ::-1]
    if sampled:
        low = window[0] + flood_window[0]
        counts, weights = _sample(
            noise.mean + flood.mean, noise.variance + flood.variance, low, window[1] + flood_window[1]
        )
        mass = (band[counts - low] * weights[:, None]) @ products
        mass /= mass.sum()
    else:
        half = band @ products
        mass = np.concatenate([_negative_columns(half), half], axis=1)
    return mass, (6 * tail + lost) * (1 + _ROUND_OFF), error + n * _GEMM_ERROR


@dataclass(frozen=True)
class SignedPair(BlanketPair):
    """The counters, two for each item, that tell one item of a user from another, in a signed blanket.

    Parameters
    ----------
    sampled : bool
        Whether only some counts of N- are tabulated.
    """

    blanket: Signed
    sampled: bool = False

    def _atoms(self, log_tail: float) -> Atoms:
        noise, _, flood = self.parts
        tail = min(TAIL_STEP * math.ceil(log_tail / TAIL_STEP), _LONGEST_TAIL)
        # shorter tails if the table would be too large; the bounds are then wider
        while tail > _SHORTEST_TAIL and _products(tail, noise, flood) > MOST_PRODUCTS:
            tail -= TAIL_STEP
        return _atoms(self, tail)

    def coarse_law(self, log_tail: float) -> tuple[FloatArray, FloatArray]:
        """Return groups of values with similar ratios, for some counts of N-; quick, and nearly exact."""
        return replace(self, sampled=True)._atoms(log_tail).coarse()


@functools.lru_cache(maxsize=2)
def _atoms(pair: SignedPair, log_tail: float) -> Atoms:
    """Return the ratios of the law with copies to the law without; copies shift only the difference N+ - N-."""
    joint, missing, error = _joint(pair.blanket, pair.blanket_mean, log_tail, pair.sampled)
    # Two things count as truncated: what copies shift beyond the last column, and corners where both laws have hardly
    # any mass. Sampled laws keep their corners, because tilts depend on the ends of a law.
    tiny = 0.0 if pair.sampled else math.exp(-log_tail) / joint.size
    ratios, masses, zero_mass, beyond = list[FloatArray](), list[FloatArray](), 0.0, 0.0
    together = max(_TOGETHER // joint.shape[1], 1)
    for first in range(0, len(joint), together):
        rows = joint[first : first + together]
        a, b = _with_copies(rows, pair.floor, pair.fraction), rows[:, pair.floor :]
        kept = ((a > tiny) | (b > tiny)) & (a > 0) & (b > 0)
        masses.append(b[kept])
        ratios.append(np.log(a[kept] / masses[-1]))
        other_a, other_b = a[~kept], b[~kept]
        zero_mass += float(rows[:, : pair.floor].sum() + other_b[other_a == 0].sum())
        shifted_out = rows[:, max(rows.shape[1] - pair.floor - 1, 0) :]
        beyond += float(shifted_out.sum() + other_a.sum() + other_b[other_a > 0].sum())
    # both laws lack `missing`
    return Atoms(
        np.concatenate(ratios),
        np.concatenate(masses),
        zero_mass,
        2 * missing + beyond,
        error,
        4 * error,
        missing=2 * missing,
    )


def _with_copies(rows: FloatArray, floor: int, fraction: float) -> FloatArray:
    """Return the law of (N-, N+ - N-) with floor or floor + 1 copies, from difference `floor` columns on."""
    moved = rows[:, : max(rows.shape[1] - floor, 0)]
    a = (1 - fraction) * moved
    if fraction:
        a[:, 1:] += fraction * moved[:, :-1]
    return a


LAW = Signed
