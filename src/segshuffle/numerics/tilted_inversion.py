r"""Certified mean positive part of a sum of many independent copies, (1/n) E[max(0, G_1 + ... + G_n)].

The law of G has few atoms; n may be 1 or 1e15. With K(s) = log E[e^{sG}] and S = G_1 + ... + G_n, for every tilt
theta > 0 and every width w >= 0, Z a standard normal,

    E[max(0, S + w Z)] = (1/2 pi) int e^{n K(theta + it) + w^2 (theta + it)^2 / 2} / (theta + it)^2 dt,
    E[w phi(S / w)]    = (1/2 pi) int e^{n K(theta + it) + w^2 (theta + it)^2 / 2} w^2 dt  (phi the normal density).

The atoms enter their characteristic function with their exact values. So no value is rounded to a grid, and nothing is
raised to a power by repeated convolution. The width w takes the place of the grid:

* upper bound: max(0, .) is convex and w Z has mean zero, so E[max(0, S)] <= E[max(0, S + w Z)] (Jensen);
* lower bound: E[max(0, s + w Z)] - max(0, s) = w (phi(x) - |x| Phi(-|x|)) <= w phi(x) with x = s/w, so
  E[max(0, S)] >= E[max(0, S + w Z)] - E[w phi(S / w)].

The gap is about w^2 theta^2 in relative terms: second order. Both integrals are computed as discrete Fourier sums with
the step 2 pi / L (trapezoid rule). By Poisson's summation formula the rule gives, exactly,

    sum_j e^{-theta j L} E[max(0, S + w Z + j L)],    and    sum_j e^{-theta j L} E[w phi((S + j L) / w)],

all terms of which are >= 0: the aliases j != 0 only raise the upper bound, and the lower one subtracts their bound by
Chernoff, max(0, x) <= e^{eta x}/(e eta). What remains is the tail of the sum and round-off. The tail is bounded by the
factor e^{-w^2 t^2/2}, and for |t| <= pi/range also by |e^{K(theta + it) - K(theta)}|^2 <= 1 - 4 t^2 v/pi^2, v the
tilted variance. Round-off is bounded node by node. The tilt makes everything relative to the answer, so deltas of
1e-200 cost no digits.

The number of nodes does not depend on n: about L/w ~ 1/sqrt(rtol) of them, and once n is large only the ones within a
few 1/sqrt(n v) of zero. Round-off grows like sqrt(n) only, as log1p(E[e^{itG} - 1]) has no cancellation.
"""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from segshuffle.arrays import FloatArray
from segshuffle.digits import added
from segshuffle.numerics.atom_sums import (
    EPS,
    AtomLaw,
    Side,
    Tilted,
    enumerable,
    enumerated,
    log_mgfs,
    saddle,
)

_LARGEST_WORK = 1.0e7
"""Most nodes of one Fourier sum times (atoms + `_NODE_COST`): about a tenth of a second."""
_NODE_COST = 32
_LARGEST_BLOCK = 2**13
"""Nodes that are evaluated at once."""
_ONE_THREAD = 2**16
"""Size of a matrix product that BLAS does in one thread: more threads cost more than they save, and change the sum."""
_ATTEMPTS = 6
_ALIAS_SHARE = 0.02
_SHRINK_AT_LEAST = 0.7
#: Tilts of the Chernoff bounds on the aliases: shares of theta, and steps above it.
_ALIAS_SHARES = np.array([0.01, 0.03, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9])
_ALIAS_STEPS = np.array([0.5, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 10.0, 12.0, 16.0])
_PERIODS = 1.15 ** np.arange(34.0)
#: Value of (width theta)^2/2 from which on round-off alone exceeds Chernoff's bound by far, and products may overflow.
_HOPELESS = 300.0
#: Logarithm of a value that nobody asks about.
_NEGLIGIBLE = -700.0


def mean_positive_part(law: AtomLaw, *, count: int, rtol: float, side: Side) -> float:
    """Return the logarithm of one certified end of an interval around (1/n) E[max(0, G_1 + ... + G_n)]; -inf for 0.

    Parameters
    ----------
    law : AtomLaw
        The law of G, with atoms whose squares neither overflow nor underflow; for "upper" any law above it in the
        increasing convex order, for "lower" any below it.
    count : int
        Number n >= 1 of copies.
    rtol : float
        Relative distance of the end from the value, in (0, 1); larger where it would be too much work.
    side : {"upper", "lower"}
        Which end.
    """
    above = largest_mean(law, count)
    end = -math.inf if side == "lower" else above
    if above >= _NEGLIGIBLE:
        tilted = saddle(law, count)
        if (limit := enumerable(tilted)) >= 0:
            end = enumerated(tilted, limit, side)
        elif tilted.std > 0.0:
            end = inverted(tilted, rtol, side)
    return end if side == "lower" else min(end, above)


def largest_mean(law: AtomLaw, count: int) -> float:
    """Return a quick upper bound of the same logarithm, by Chernoff; -inf if no atom is positive."""
    return saddle(law, count).chernoff - math.log(count) if law.largest > 0 else -math.inf


@dataclass(frozen=True)
class Nodes:
    """Where the Fourier sum is evaluated: nodes k * step for k = 0, ..., last; all bounds hold for any of these."""

    width: float
    period: float
    reach: float

    @property
    def step(self) -> float:
        """Distance of two nodes."""
        return 2 * math.pi / self.period

    @property
    def last(self) -> int:
        """Index of the last node."""
        return math.ceil(self.reach / self.step)


class _Sums(NamedTuple):
    """Results of one Fourier sum, in units of e^{n K(theta)} / theta^2."""

    value: float
    smoothing: float
    error: float


def inverted(tilted: Tilted, rtol: float, side: Side) -> float:
    """Find one certified end by Fourier inversion; the width is refined until the end is near enough to the value."""
    sign = 1 if side == "upper" else -1
    nodes = _first_nodes(tilted, rtol)
    best, work = sign * math.inf, 0.0
    for _ in range(_ATTEMPTS):
        if 0.5 * (nodes.width * tilted.theta) ** 2 > _HOPELESS:
            break
        work += nodes.last * (tilted.value.size + _NODE_COST)
        sums, alias = _fourier_sums(tilted, nodes), _aliases(tilted, nodes.width, np.array([nodes.period]))[0]
        gap = sums.smoothing + alias
        end = sums.value + sums.error if sign > 0 else sums.value - gap - sums.error
        best = sign * min(sign * best, sign * _log_end(end, tilted, sign))
        # a smaller width narrows the gap, but not round-off
        if gap + 2 * sums.error <= rtol * sums.value or gap <= 0.2 * sums.error or work > 0.5 * _LARGEST_WORK:
            break
        wanted = 0.9 * rtol * (sums.value + sums.error)
        width, longer = nodes.width, alias > 0.1 * wanted
        if sums.smoothing > wanted:
            width *= min(math.sqrt(max(wanted, 0.0) / sums.smoothing), _SHRINK_AT_LEAST)
        before, nodes = nodes, _within_work(tilted, rtol, width, nodes.period * (1.4 if longer else 1.0))
        if nodes.width >= 0.95 * before.width and not longer:
            break
    return best


def _log_end(scaled: float, tilted: Tilted, sign: int) -> float:
    """Return the logarithm of (1/n) e^{n K} scaled / theta^2, rounded outwards."""
    if scaled <= 0:
        return -math.inf
    parts = (tilted.count * tilted.log_mgf, math.log(scaled), -2 * math.log(tilted.theta), -math.log(tilted.count))
    slack = tilted.count * tilted.log_mgf_error + 8 * EPS * (1 + added(abs(part) for part in parts))
    return math.fsum(parts) + sign * slack


def _aliases(tilted: Tilted, width: float, period: FloatArray) -> FloatArray:
    """Bound all aliases of a law's sum together by Chernoff, in units of e^{n K(theta)} / theta^2, for every period."""
    theta = tilted.theta
    eta, growth = _growth(tilted)
    gap = np.multiply.outer(period, np.abs(eta - theta))
    exponent = growth + 0.5 * (width * eta) ** 2 - gap - np.log(-np.expm1(-gap))
    logs = np.minimum(exponent - 1 - np.log(eta) + 2 * math.log(theta), 600.0)
    below = _ALIAS_SHARES.size
    return np.asarray(np.exp(logs[:, :below].min(axis=1)) + np.exp(logs[:, below:].min(axis=1)))


@lru_cache(maxsize=8)
def _growth(tilted: Tilted) -> tuple[FloatArray, FloatArray]:
    """Return the tilts eta of the Chernoff bounds on aliases, and bounds on n (K(eta) - K(theta))."""
    eta = np.concatenate([tilted.theta * _ALIAS_SHARES, tilted.theta + _ALIAS_STEPS / tilted.deviation])
    log_mgf, error = log_mgfs(tilted.law, eta)
    return eta, tilted.count * (log_mgf - tilted.log_mgf + error + tilted.log_mgf_error)


def _first_nodes(tilted: Tilted, rtol: float) -> Nodes:
    """Choose a width for a smoothing error of about 0.8 rtol, and a period that keeps the aliases well below rtol."""
    deviation = tilted.deviation
    width = 0.9 * math.sqrt(rtol) / tilted.theta
    periods = (8 * deviation + 8 / tilted.theta) * _PERIODS
    enough = np.flatnonzero(_aliases(tilted, width, periods) <= _ALIAS_SHARE * rtol * 0.2 / deviation)
    period = float(periods[enough[0] if enough.size else -1])
    return _within_work(tilted, rtol, width, period)


def _within_work(tilted: Tilted, rtol: float, width: float, period: float) -> Nodes:
    """Choose the nodes for a width and a period, with a larger width if there would be too many."""
    # a Gaussian factor e^{-x^2/2} matters no longer after so many standard deviations
    cutoff = math.sqrt(2 * (math.log(1 / rtol) + 14))
    alone = cutoff * tilted.law.spread / math.pi
    nodes_limit = 2 * math.pi * _LARGEST_WORK / (tilted.value.size + _NODE_COST)
    width = max(width, cutoff * period / nodes_limit)
    if width < alone:
        return Nodes(width, period, cutoff / width)
    # Up to |t| = pi/range the law itself decays. Beyond, the factor of the width `alone` suffices.
    reach = min(cutoff * math.pi / (2 * tilted.deviation), cutoff / alone)
    return Nodes(alone, min(period, nodes_limit / reach), reach)


def _fourier_sums(tilted: Tilted, nodes: Nodes) -> _Sums:
    """Evaluate both discrete Fourier sums and a bound on what they lack: their tails and round-off."""
    count = nodes.last + 1
    # rectangles of nodes, about square; nodes beyond the last do no harm
    columns = math.ceil(math.sqrt(min(count, _LARGEST_BLOCK)))
    rows = math.ceil(count / columns)
    at_once = min(rows, columns)
    row = np.arange(rows, dtype=np.float64) * columns * nodes.step
    column = np.arange(columns, dtype=np.float64) * nodes.step
    parts = [_partial_sums(tilted, nodes.width, row[i : i + at_once], column) for i in range(0, rows, at_once)]
    value, smoothing, rounding, size = (math.fsum(column) for column in zip(*parts, strict=True))
    unit = nodes.step / (2 * math.pi)
    error = unit * (rounding + 64 * EPS * size) + _tail(tilted, nodes)
    atom, atom_error = _all_zero(tilted, nodes.width)
    return _Sums(unit * value - atom, max(unit * smoothing - atom, 0.0), error + 2 * atom_error)


def _all_zero(tilted: Tilted, width: float) -> tuple[float, float]:
    """Return what "all G_i are 0" adds to both sums, Pr[it] w phi(0), and its error; max(0, S) is 0 there.

    With few users it is the one large atom of S in the kink of max(0, .), where the width would act to first order.
    """
    rest = np.sum(tilted.law.mass[tilted.value != 0])
    if rest >= 1.0 or not np.any(tilted.value == 0):
        return 0.0, 0.0
    log_part = tilted.count * (math.log1p(-rest) - tilted.log_mgf)
    part = width * tilted.theta**2 / math.sqrt(2 * math.pi) * math.exp(min(log_part, 600.0))
    relative = tilted.count * (tilted.log_mgf_error + 8 * EPS * rest / (1 - rest)) + EPS * (16 + abs(log_part))
    return part, part * math.expm1(min(2 * relative, 600.0))


def _change(tilted: Tilted, rows: FloatArray, columns: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return real and imaginary part of E[e^{itG} - 1] under the tilted law, t any sum of a row and a column.

    With u = e^{iaG} - 1 of a row and v = e^{ibG} - 1 of a column, e^{i(a + b)G} - 1 = u + v + u v: sines and cosines of
    the rows and of the columns alone, and one product of matrices.
    """
    row, column = _phase(rows, tilted.value), _phase(columns, tilted.value)
    weighted = row * tilted.mass
    change = weighted.sum(axis=1)[:, None] + (column * tilted.mass).sum(axis=1)[None, :]
    few = max(_ONE_THREAD // change.size, 1)
    for first in range(0, tilted.value.size, few):
        change += weighted[:, first : first + few] @ column[:, first : first + few].T
    flat = change.ravel()
    return flat.real, flat.imag


def _phase(node: FloatArray, value: FloatArray) -> npt.NDArray[np.complex128]:
    """Return e^{i node value} - 1, shape (nodes, atoms), with an error of at most 5 eps |node value|."""
    half = 0.5 * np.multiply.outer(node, value)
    sine = np.sin(half)
    phase = np.empty(half.shape, dtype=np.complex128)
    phase.real = -2 * sine**2
    phase.imag = 2 * sine * np.cos(half)
    return phase


def _change_error(tilted: Tilted, node: FloatArray) -> FloatArray:
    """Bound the error of `_change`: c eps t E|G|.

    Phases: 2 * 5 + 5 for u v + u + v at |u|, |v| <= 2, and 3 for the rounding of the nodes and of the sum; the tilted
    masses: 8 + 2 theta max|G|; inner products of m complex terms: 3 (m + 2).
    """
    constant = 3 * tilted.value.size + 40 + 2 * tilted.theta * tilted.law.size
    return constant * EPS * node * (tilted.mass @ np.abs(tilted.value))


def _partial_sums(
    tilted: Tilted, width: float, rows: FloatArray, columns: FloatArray
) -> tuple[float, float, float, float]:
    """Sum over a block the real parts of both integrands, a bound on their round-off together, and their size.

    Only nodes t >= 0 are summed; those that stand for -t, too, count twice. The error of the n-th power of the
    characteristic function follows from that of the function by |a^n - b^n| <= n |a - b| max(|a|, |b|)^(n-1).
    """
    theta, count = tilted.theta, tilted.count
    real, imaginary = _change(tilted, rows, columns)
    node = np.add.outer(rows, columns).ravel()
    absolute = _change_error(tilted, node)
    square = np.maximum(real * (2 + real) + imaginary**2, -1.0)
    damping = 0.5 * width**2 * (theta**2 - node**2)
    twice = np.where(node == 0, 1.0, 2.0)
    level = (width * theta) ** 2
    with np.errstate(divide="ignore"):
        log_abs = 0.5 * np.log1p(square)
    angle = np.arctan2(imaginary, 1 + real)
    ratio = node / theta
    amplitude = np.exp(count * log_abs + damping)
    turn = count * angle + width**2 * theta * node
    decay = 1 / (1 + ratio**2)
    value = amplitude * decay * np.cos(turn - 2 * np.arctan(ratio))
    smoothing = level * amplitude * np.cos(turn)
    size = amplitude * (decay + level)
    with np.errstate(divide="ignore", invalid="ignore"):
        amplified = np.exp(np.minimum((count - 1) * np.log(np.exp(log_abs) + absolute) + damping, 600.0))
        relative = count * (np.abs(np.where(amplitude > 0, log_abs, 0.0)) + np.abs(angle)) + (width * node) ** 2
    amplified = np.where(np.isnan(amplified), np.exp(np.minimum(damping, 600.0)), amplified)
    # an infinite error bound is valid: it says nothing, and the caller takes another way
    with np.errstate(over="ignore"):
        error = count * absolute * amplified * (decay + level) + EPS * (32 + 4 * relative) * size
        rounding = float(twice @ error)
    return float(twice @ value), float(twice @ smoothing), rounding, float(twice @ size)


def _tail(tilted: Tilted, nodes: Nodes) -> float:
    """Bound the part of both sums beyond the last node, in units of e^{n K(theta)} / theta^2."""
    begin = nodes.last * nodes.step
    level = (nodes.width * tilted.theta) ** 2
    scale = math.exp(min(0.5 * level, 600.0)) * ((tilted.theta / begin) ** 2 + level) / math.pi
    far = begin
    near = 0.0
    turn = math.pi / tilted.law.spread
    if begin < turn:
        rate = 0.998 * 2 * tilted.count * (tilted.std / math.pi) ** 2
        near = math.exp(-rate * begin**2) / (2 * rate * begin)
        far = turn
    return scale * (near + math.exp(-0.5 * (nodes.width * far) ** 2) / (nodes.width**2 * far))
