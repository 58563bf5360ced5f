"""Certified hockey-stick divergences of products of exchange pairs, by tilted FFT on a loss lattice.

An *exchange pair* comes from two laws A and B on one line: P = A x B and Q = B x A. Its privacy loss is log r(a) - log
r(b), r = dA/dB, with a drawn from A and b from B. The product of t such pairs has the hockey-stick divergence::

    delta(epsilon) = D_{e^epsilon}(P^(x)t || Q^(x)t) = E_P[(1 - e^(epsilon - L))_+],   L the sum of the losses.

Both bounds start from one table: the line is cut into cells, cell k holding the points whose log r lies in [g_k, g_k
+ h), g_k = k h; the table keeps the mass q_k of B and the mean m_k >= 1 of r e^(-g_k) under B restricted to the cell.

Upper bound. Each cell is replaced by the two points with ratios e^(g_k) and e^(g_k + h) that keep both of its masses.
The ratio in a cell is a mean-preserving contraction of that of these two points, and every hockey-stick
divergence is convex in the ratio of one factor with the others held fixed, so the divergence can only grow ("connect
the dots").

Lower bound. The event "sum of index differences > epsilon / h" is one test between P and Q, so P(event) - e^epsilon
Q(event), with the *exact* masses of both, never exceeds the divergence.

Both errors are of second order in h. The sums of indices have lattice laws, computed by FFT from weights multiplied by
e^(tilt * loss): the law is then centred at epsilon, and the accuracy is relative however small delta is. Wrapped-around
mass (Chernoff bound), round-off (norm-wise FFT bound) and errors of the masses are added to the upper bound and
subtracted from the lower one.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import fft

from segshuffle.arrays import FloatArray
from segshuffle.digits import added
from segshuffle.errors import SegshuffleError

ComplexArray = npt.NDArray[np.complex128]

LARGEST_TRANSFORM = 9 * 2**18
"""Longest FFT; a target that needs a longer one is refused."""

_ROUND_OFF = math.ulp(1.0)
# Higham, Accuracy and Stability of Numerical Algorithms, Theorem 24.2 gives about 3.5 eps log2(N) for radix 2 with
# accurate twiddle factors; pocketfft mixes radices up to 11, so the constant is more than doubled.
_FFT_CONSTANT = 8.0
#: Bound on the mass of a tilted law outside its window, which the transform wraps around: about its round-off.
_OUTSIDE = 1e-15
#: A window may as well hold all indices up to this one.
_FEW = 32
#: Rate of Chernoff's bound, times the deviation, that is best for a Gaussian law, e^(-8.4^2/2) = 5e-16; and the rates
#: that are tried, as shares of it: longer tails need smaller ones.
_STEEPEST, _RATES = 8.4, (1.0, 0.5, 0.25, 0.12)
# From 10000 terms on OpenBLAS starts threads in every dot product of a direct convolution.
_LONGEST_CONVOLUTION = 2**13
# If round-off is more than this share of a bound, a direct convolution, of positive numbers only, replaces the FFT.
# This happens when single rare counters, not sums of many, make the loss large: no tilt centres such a law.
_NOISE = 5e-5
_CUT = 700.0  # exponents of cells with mass are below 691, exp() overflows at 709
# Largest tilt times step. Near the largest loss that a law has, the best tilt grows without limit. With 300, a delta
# of 1e-74 was lost in round-off, and bounded by 1; with 700, the weights of all cells but the last one vanish.
_STEEPEST_CELL = 30.0
_LOG_NEGLIGIBLE = -580.0  # log delta below which nobody asks for accuracy


class AccuracyError(SegshuffleError, ArithmeticError):
    """The accuracy is out of reach: the lattice would be too fine, or a pair has no table."""


@dataclass(frozen=True)
class LossTable:
    """Cells of the loss of one exchange pair; see the module's text.

    Parameters
    ----------
    first : int
        Lattice index k of the first cell, in g_k = k h.
    step : float
        Lattice step h > 0.
    mass : ndarray, shape (K,)
        B's mass q_k >= 0 of each cell.
    excess : ndarray, shape (K,)
        m_k - 1 in [0, e^h - 1], m_k the mean of r e^(-g_k) in cell k; 0 for an empty cell.
    zero_mass : float
        B's mass where r = 0: a loss of +inf in both bounds.
    truncated : float
        Upper bound on A's plus B's mass outside the cells (and not in `zero_mass`).
    mass_error : float
        Bound on the relative error of every mass; common to A and B.
    ratio_error : float
        Bound on the absolute error of every log ratio.
    missing : float
        Bound on the part of `truncated` that may lie anywhere, also at losses inside the cells. In the lower bound all
        of it counts as Q's mass in the event.
    one_sided : bool
        Whether the pair is P = A, Q = B, not an exchange pair; for upper bounds only, and index 0 must be in the table.
        Then `zero_mass` is the mass of a loss of +inf.
    """

    first: int
    step: float
    mass: FloatArray
    excess: FloatArray
    zero_mass: float
    truncated: float
    mass_error: float
    ratio_error: float
    missing: float = 0.0
    one_sided: bool = False


@dataclass(frozen=True)
class _Frame:
    """Window of `size` indices from `start` on that holds all but `outside` of a tilted law's mass 1."""

    start: int
    size: int
    outside: float

    def window(self, transform: ComplexArray) -> FloatArray:
        """Return the inverse transform, in the order of the window."""
        law, first = fft.irfft(transform, self.size), self.start % self.size
        return np.concatenate([law[first:], law[:first]])

    @property
    def relative_error(self) -> float:
        """Bound on the norm-wise relative error of one transform of this size."""
        return _FFT_CONSTANT * _ROUND_OFF * math.log2(self.size)


class _Part(NamedTuple):
    """Tilted factors of one pair, shape (2, K), each row of sum 1; log of their scale; how many pairs have them."""

    weights: FloatArray
    log_scale: float
    pairs: int


def _reach(parts: Sequence[_Part]) -> int:
    """Return the largest sum over the pairs of the first counter's index minus the second's."""
    return sum(pairs * (weights.shape[1] - 1) for weights, _, pairs in parts)


def _log_moments(parts: Sequence[_Part], rate: float) -> tuple[float, float]:
    """Bound the logarithms of E[e^(rate S)] and of E[e^(-rate S)] for the sum S of all indices."""
    up = down = 0.0
    # All cells of a block count as its worst one, at most e times the bound: exp() of every cell would take too long.
    width = 1 + int(1 / (rate * sum(part.pairs for part in parts)))
    for weights, _, pairs in parts:
        u, v = np.add.reduceat(weights, np.arange(0, weights.shape[1], width), axis=1)
        # Centring the exponent on the middle of the table keeps exp() in range; the shifts of u and v cancel.
        grow = np.exp(rate * width * (np.arange(u.size) - 0.5 * (u.size - 1)))
        shrink = 1 / grow
        up += pairs * (math.log((u @ grow) * (v @ shrink)) + rate * (width - 1))
        down += pairs * (math.log((u @ shrink) * (v @ grow)) + rate * (width - 1))
    return up, down


def _frame(parts: Sequence[_Part]) -> _Frame:
    """Return a window for the sum over all pairs of (index from the first factor) - (index from the second)."""
    variance = 0.0
    for factors, _, pairs in parts:
        for weights in factors:
            index = np.arange(weights.size)
            variance += pairs * (weights @ (index - weights @ index) ** 2)
    reach, longest = _reach(parts), max(part.weights.shape[1] for part in parts)
    # Chernoff's bounds on the mass beyond either end. A rate above 300 / K would overflow exp().
    steepest, room = min(_STEEPEST / max(math.sqrt(variance), 1.0), 300.0 / longest), math.log(2 / _OUTSIDE)
    low, high = -reach, reach
    if reach > _FEW:
        for rate in (share * steepest for share in _RATES):
            up, down = _log_moments(parts, rate)
            low, high = max(low, -int((down + room) / rate)), min(high, int((up + room) / rate))
    size = fft.next_fast_len(max(high - low + 1, longest), real=True)
    if size > LARGEST_TRANSFORM:
        raise AccuracyError(
            f"This accuracy needs a transform of {size} points, more than {LARGEST_TRANSFORM}: raise rtol."
        )
    return _Frame(-reach, size, 0.0) if size > 2 * reach else _Frame(low, size, _OUTSIDE)


def _power(b: ComplexArray, exponent: int) -> ComplexArray:
    """Return b^t, t = `exponent`, by doubling."""
    power = b.copy()
    for bit in bin(exponent)[3:]:
        power *= power
        if bit == "1":
            power *= b
    return power


def _power_and_sum(a: ComplexArray, b: ComplexArray, exponent: int) -> tuple[ComplexArray, ComplexArray]:
    """Return b^t and the sum of a^i b^(t - 1 - i) over i < t, t = `exponent`, by doubling."""
    total, power_a, power_b = np.ones_like(a), a, b
    for bit in bin(exponent)[3:]:
        total, power_a, power_b = total * (power_a + power_b), power_a * power_a, power_b * power_b
        if bit == "1":
            total, power_a, power_b = total * a + power_b, power_a * a, power_b * b
    return power_b, total


def _convolved(u: FloatArray, v: FloatArray, pairs: int) -> FloatArray:
    """Compute the law of the sum without FFT, on indices from -reach to reach: slowly, but with relative accuracy."""
    law = one = np.convolve(u, v[::-1])
    for bit in bin(pairs)[3:]:
        law = np.convolve(law, law)
        law = np.convolve(law, one) if bit == "1" else law
    return law


def _convolution_error(size: int, pairs: int) -> float:
    """Bound the relative round-off of every entry of `_convolved`; a squaring doubles the error it starts from."""
    return 4 * _ROUND_OFF * size * (1 + math.log2(pairs))


def _whole(reach: int, total: float, noise: float, logs: tuple[float, ...]) -> _Frame | None:
    """Return the frame of a direct convolution up to index `reach`; None if it is not needed, no help, or too long."""
    needed = noise > _NOISE * total and math.log(max(abs(total) + noise, 1e-300)) + added(logs) >= _LOG_NEGLIGIBLE
    return _Frame(-reach, 2 * reach + 1, 0.0) if needed and reach <= _LONGEST_CONVOLUTION else None


def _norm(vector: FloatArray) -> float:
    """Return the Euclidean norm without BLAS, whose threads cost a hundred times as much for 10000 terms."""
    return math.sqrt(np.square(vector).sum())


def _payoff(frame: _Frame, step: float, epsilon: float, tilt: float) -> tuple[int, FloatArray, FloatArray]:
    """Return where in the window losses L > epsilon begin, e^(tilt (epsilon - L)), and 1 - e^(epsilon - L) times it."""
    begin = min(max(math.floor(epsilon / step) + 1 - frame.start, 0), frame.size)
    above = np.maximum((np.arange(begin, frame.size) + frame.start) * step - epsilon, 0.0)
    weight = np.exp(-tilt * above)
    return begin, weight, weight * -np.expm1(-above)


def _tilted(table: LossTable, pairs: int, tilt: float, mass: FloatArray) -> _Part:
    """Tilt masses on the first K or K + 1 lattice points.

    The rows are multiplied by e^((1 + tilt) g_k) and by e^(-tilt g_k).
    """
    points = (table.first + np.arange(table.mass.size + 1)) * table.step
    up, down = (1 + tilt) * points, -tilt * points
    # Masses and factors both span hundreds of decades: scale by the largest product. Cells with mass keep their
    # factor below the cut of exp(), because the table holds no mass below 1e-300.
    log_mass = np.log(np.maximum(table.mass, 1e-307))
    scale_up, scale_down = np.max(up[1:] + log_mass), np.max(down[:-1] + log_mass)
    scaled = np.stack((up - scale_up, down - scale_down))[:, : mass.size]
    weights = mass * np.exp(np.minimum(scaled, _CUT))
    if table.one_sided:
        weights[1], scale_down = np.arange(mass.size) == -table.first, 0.0
    sums = weights.sum(axis=1)
    return _Part(weights / sums[:, np.newaxis], float(scale_up + scale_down + np.log(sums).sum()), pairs)


def _log_delta(finite: float, logs: tuple[float, ...], infinite: float) -> tuple[float, float]:
    """Return the logarithm of ``finite * exp(sum(logs)) + infinite`` and a bound on its round-off."""
    log_finite = math.log(finite) + added(logs) if finite > 0 else -math.inf
    log_infinite = math.log(infinite) if infinite > 0 else -math.inf
    return float(np.logaddexp(log_finite, log_infinite)), 16 * _ROUND_OFF * (1 + added(abs(value) for value in logs))


def infinite_loss(*masses: tuple[float, int]) -> float:
    """Return the probability that some counter falls where r = 0, given B's mass there and the number of pairs."""
    return -math.expm1(added(pairs * math.log1p(-min(mass, 1 - _ROUND_OFF)) for mass, pairs in masses))


def split_masses(table: LossTable) -> FloatArray:
    """Return B's mass at the lattice points, every cell split between its two ends so that its mean ratio is kept."""
    right = np.minimum(table.excess / math.expm1(table.step), 1.0) * table.mass
    split = np.append(table.mass - right, 0.0)
    split[1:] += right
    return split


def log_delta_upper(composed: Sequence[tuple[LossTable, int]], epsilon: float, tilt: float) -> float:
    """Return the logarithm of a certified upper bound of the divergence of a product of pairs, which may differ.

    Parameters
    ----------
    composed : sequence of (LossTable, int)
        Tables of one step, and the number of pairs >= 1 that each stands for.
    epsilon : float
        Privacy loss, >= 0.
    tilt : float
        Exponential tilt >= 0; any value gives a valid bound, the saddle point an accurate one.

    Returns
    -------
    float
        log(upper bound), at most 0; -inf only if no mass has a loss above epsilon.

    Raises
    ------
    AccuracyError
        If the lattice is finer than the largest transform allows.
    """
    step, all_pairs = composed[0][0].step, sum(pairs for _, pairs in composed)
    if any(table.step != step for table, _ in composed):
        raise ValueError("tables of different steps cannot be composed")
    tilt = min(tilt, _STEEPEST_CELL / step)
    parts = [_tilted(table, pairs, tilt, split_masses(table)) for table, pairs in composed]
    frame = _frame(parts)
    product: ComplexArray | float = 1.0
    for weights, _, pairs in parts:
        transforms = fft.rfft(weights, frame.size, axis=1)
        product = product * _power(transforms[0] * transforms[1].conj(), pairs)
    law = frame.window(np.asarray(product))
    # |transform| <= 1, so errors e_u and e_v of the factors give at most t (e_u + e_v) in the product to first order
    # (1.1 covers the rest), and the multiplications add at most 8 t eps of the product itself.
    norm, relative = _norm(law), frame.relative_error
    spread = added(pairs * np.linalg.norm(weights, axis=1).sum() for weights, _, pairs in parts)
    error = 1.1 * (relative * (spread + norm) + 8 * (all_pairs + len(parts) - 1) * _ROUND_OFF * norm)
    # With ratios within e^(+-e), p - e^eps q <= e^(t e) (p' - e^(eps - 2 t e) q'), p' and q' from the table.
    wrong = added(pairs * table.ratio_error for table, pairs in composed)
    shifted = epsilon - 2 * wrong
    total, noise = _mean_payoff(frame, law, error, step, shifted, tilt)
    noise += min(_reach(parts) * step + epsilon - shifted, 1.0) * frame.outside
    logs = (added(part.pairs * part.log_scale for part in parts), -tilt * shifted, wrong)
    whole = _whole(_reach(parts), total, noise, logs)
    if whole is not None:
        direct = reduce(np.convolve, (_convolved(u, v, pairs) for (u, v), _, pairs in parts))
        total, noise = _mean_payoff(whole, direct, 0.0, step, shifted, tilt)
        noise = len(parts) * _convolution_error(whole.size, all_pairs) * total + 1e-290
    grown = math.exp(added(4 * pairs * math.log1p(table.mass_error) for table, pairs in composed))
    infinite = infinite_loss(*((table.zero_mass * (1 + table.mass_error), pairs) for table, pairs in composed))
    infinite += added(pairs * table.truncated for table, pairs in composed)
    value, round_off = _log_delta((total + noise) * grown, logs, infinite)
    return min(value + round_off, 0.0)


def _mean_payoff(
    frame: _Frame, law: FloatArray, error: float, step: float, epsilon: float, tilt: float
) -> tuple[float, float]:
    """Return the mean of the tilted (1 - e^(epsilon - L))_+ on the window, and a bound of its round-off."""
    begin, _, payoff = _payoff(frame, step, epsilon, tilt)
    return float(payoff @ np.maximum(law[begin:], 0.0)), _norm(payoff) * error


def log_delta_lower(table: LossTable, pairs: int, epsilon: float, tilt: float) -> float:
    """Return the logarithm of a certified lower bound of the divergence of `pairs` pairs.

    The laws of the sum under P (ratio m on the first counter) and under Q (on the second) differ little when the loss
    of one pair is small, so their difference is transformed, not the two of them: P^t - Q^t = (P - Q) (P^(t-1) + ...
    + Q^(t-1)).

    Parameters
    ----------
    table : LossTable
        Cells of one pair.
    pairs : int
        Number t >= 1 of pairs in the product.
    epsilon, tilt : float
        As for `log_delta_upper`.

    Returns
    -------
    float
        log(lower bound), -inf if the bound is 0.

    Raises
    ------
    AccuracyError
        If the lattice is finer than the largest transform allows.
    """
    tilt = min(tilt, _STEEPEST_CELL / table.step)
    part = _tilted(table, pairs, tilt, table.mass)
    weights, frame = part.weights, _frame([part])
    laws = _lower_laws(weights, weights * table.excess, pairs, frame)
    total, noise = _test(table, pairs, epsilon, tilt, frame, laws)
    logs = (pairs * part.log_scale, -tilt * epsilon)
    whole = _whole(_reach([part]), total, noise, logs)
    if whole is not None:
        total, noise = _test(table, pairs, epsilon, tilt, whole, _lower_laws_direct(weights, table.excess, pairs))
    total -= noise
    value, round_off = _log_delta(total, logs, infinite_loss((table.zero_mass * (1 - table.mass_error), pairs)))
    value -= round_off
    if table.missing and value > -math.inf:
        # Q may have that mass in the event, too
        share = epsilon + math.log(pairs * table.missing) - value
        value += math.log1p(-math.exp(share)) if share < 0 else -math.inf
    return value


class _LowerLaws(NamedTuple):
    """Law of the sum under Q, law under P minus law under Q, and bounds of the Euclidean norm of their round-off."""

    under_q: FloatArray
    difference: FloatArray
    error_q: float
    error_difference: float
    relative: float = 0.0
    """Bound of each entry's round-off, relative to ``2 * under_q + difference``; 0 if norms bound it."""


def _lower_laws(weights: FloatArray, extra: FloatArray, pairs: int, frame: _Frame) -> _LowerLaws:
    """Return the laws by FFT; `extra` is what the ratio adds to each of the two rows of `weights`.

    With |base| <= 1 and |extra| <= its sum c: an error in one of 2 t factors of a product reaches the product
    multiplied by at most (1 + c)^t; in the difference it is multiplied by c once more, except for the errors of
    `extra` itself.
    """
    transforms = fft.rfft(np.concatenate((weights, extra)), frame.size, axis=1)
    base_u, base_v, extra_u, extra_v = transforms[0], transforms[1].conj(), transforms[2], transforms[3].conj()
    power_q, series = _power_and_sum((base_u + extra_u) * base_v, base_u * (base_v + extra_v), pairs)
    under_q = frame.window(power_q)
    difference = frame.window((extra_u * base_v - base_u * extra_v) * series)
    relative = 1.1 * (frame.relative_error + 16 * _ROUND_OFF)
    change = float(extra.sum())
    growth = (1 + change) ** pairs
    spread, spread_extra = (float(np.linalg.norm(rows, axis=1).sum()) for rows in (weights, extra))
    error_q = relative * (growth * pairs * (spread + spread_extra) + pairs * _norm(under_q))
    both = pairs * spread_extra + 2 * pairs**2 * change * (spread + spread_extra)
    error_difference = relative * (growth * both + pairs * _norm(difference))
    return _LowerLaws(under_q, difference, error_q, error_difference)


def _lower_laws_direct(weights: FloatArray, excess: FloatArray, pairs: int) -> _LowerLaws:
    """Return the laws by direct convolution."""
    under_p = _convolved(weights[0] * (1 + excess), weights[1], pairs)
    under_q = _convolved(weights[0], weights[1] * (1 + excess), pairs)
    return _LowerLaws(under_q, under_p - under_q, 1e-290, 1e-290, _convolution_error(under_q.size, pairs))


def _test(
    table: LossTable, pairs: int, epsilon: float, tilt: float, frame: _Frame, laws: _LowerLaws
) -> tuple[float, float]:
    """Return P(event) - e^epsilon Q(event), tilted, for the event "lattice loss > epsilon", and a bound on errors."""
    begin, weight, payoff = _payoff(frame, table.step, epsilon, tilt)
    under_q, difference = laws.under_q[begin:], laws.difference[begin:]
    growth = math.exp(min(pairs * table.step, _CUT))  # bounds the product of t factors 1 + excess
    size = _norm(weight)
    mass_q = float((weight - payoff) @ under_q) + size * laws.error_q + growth * frame.outside
    total = float(weight @ difference) + float(payoff @ under_q)
    noise = size * laws.error_difference + _norm(payoff) * laws.error_q
    noise += laws.relative * float(weight @ (2 * under_q + difference))
    largest = min(pairs * (table.mass.size - 1) * table.step, 1.0)
    noise += frame.outside * (growth - 1 + growth * largest)
    # With ratios within e^(+-e), P(E) - e^eps Q(E) >= e^(-t e) (P'(E) - e^(eps + 2 t e) Q'(E)).
    noise += math.expm1(2 * pairs * table.ratio_error) * mass_q - math.expm1(-pairs * table.ratio_error) * abs(total)
    # Misclassified outcomes, with p < e^epsilon q in the event, have a loss within 2 t h of epsilon; the mass error
    # acts on them and on the others apart.
    wrong = math.expm1(min(2 * pairs * table.step, _CUT)) * mass_q
    return total, noise + 4 * pairs * table.mass_error * (abs(total) + wrong)
