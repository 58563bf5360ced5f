r"""Certified mean positive part of a sum of many independent copies, (1/n) E[max(0, G_1 + ... + G_n)].

The law of G has few atoms; n may be 1 or 1e15. With K(s) = log E[e^{sG}] and S = G_1 + ... + G_n, for every tilt
theta > 0 and every width w >= 0, Z a standard normal,

    E[max(0, S + w Z)] = (1/2 pi) int e^{n K(theta + it) + w^2 (theta + it)^2 / 2} / (theta + it)^2 dt,
    E[w phi(S / w)]    = (1/2 pi) int e^{n K(theta + it) + w^2 (theta + it)^2 / 2} w^2 dt  (phi the normal density).

The atoms enter by their characteristic function, at the places where they are: no grid of values, nothing is rounded
to it, and nothing is raised to a power by repeated convolution. What replaces the grid is the width w:

* upper bound: max(0, .) is convex and w Z has mean zero, so E[max(0, S)] <= E[max(0, S + w Z)] (Jensen);
* lower bound: E[max(0, s + w Z)] - max(0, s) = w (phi(x) - |x| Phi(-|x|)) <= w phi(x) with x = s/w, so
  E[max(0, S)] >= E[max(0, S + w Z)] - E[w phi(S / w)].

The gap is about w^2 theta^2 in relative terms: second order. Both integrals are discrete Fourier sums with the step
2 pi / L (trapezoid rule). By Poisson's summation formula the rule gives, exactly,

    sum_j e^{-theta j L} E[max(0, S + w Z + j L)],    and    sum_j e^{-theta j L} E[w phi((S + j L) / w)],

all terms of which are >= 0: the aliases j != 0 only raise the upper bound, and the lower one subtracts their bound by
Chernoff, max(0, x) <= e^{eta x}/(e eta). The rest is the tail of the sum (the factor e^{-w^2 t^2/2}; and for
|t| <= pi/range also |e^{K(theta + it) - K(theta)}|^2 <= 1 - 4 t^2 v/pi^2, v the tilted variance) and round-off, bounded
node by node. The tilt makes everything relative to the answer, so deltas of 1e-200 cost no digits.

The number of nodes does not depend on n: about L/w ~ 1/sqrt(rtol) of them, and once n is large only the ones within a
few 1/sqrt(n v) of zero. Round-off grows like sqrt(n) only, as log1p(E[e^{itG} - 1]) has no cancellation.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from segshuffle.accounting.numerics.tilted_inversion.atoms import EPS, AtomLaw, FloatArray, LogInterval, Tilted, tilt

_LARGEST_WORK = 1.0e7
"""Nodes times atoms of one Fourier sum: about a quarter of a second and 20 MB."""
_CHUNK = 2**18
_ATTEMPTS = 6
_ALIAS_SHARE = 0.02
_SHRINK_AT_LEAST = 0.7


@dataclass(frozen=True)
class Plan:
    """Where the Fourier sum is evaluated: nodes k * step for k = 0, ..., last; all bounds hold for any plan."""

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


def inverted(laws: tuple[AtomLaw, AtomLaw], tilts: tuple[Tilted, Tilted], count: int, rtol: float) -> LogInterval:
    """Fourier inversion, with the width refined until the interval is narrow enough."""
    (upper, lower), (above, below) = laws, tilts
    best = LogInterval(-math.inf, math.inf)
    aliases = _Aliases(lower, below, count)
    plan = _first_plan(upper, above, count, rtol, aliases)
    work = 0.0
    for _ in range(_ATTEMPTS):
        work += plan.last * upper.value.size
        high, low = _fourier_sums(upper, above, count, plan), _fourier_sums(lower, below, count, plan)
        alias = aliases.bound(plan)
        ends = (low.value - low.smoothing - low.error - alias, high.value + high.error)
        logs = (_log_end(ends[0], below, count, -1), _log_end(ends[1], above, count, 1))
        best = LogInterval(max(best.lower, logs[0]), min(best.upper, logs[1]))
        gap = low.smoothing + alias
        # A gap that is not the smoothing's or the aliases' (round-off, different laws) is not narrowed by a finer plan.
        if best.upper - best.lower <= rtol or gap <= 0.1 * (ends[1] - ends[0]) or work > 0.5 * _LARGEST_WORK:
            break
        wanted = 0.9 * rtol * ends[1]
        shrink = math.sqrt(max(wanted, 0.0) / low.smoothing) if low.smoothing > 0.5 * wanted else 1.0
        finer = _finer(upper, above, count, rtol, plan, min(shrink, 1.0), alias > 0.1 * wanted)
        if finer is None:
            break
        plan = finer
    return best


def _log_end(scaled: float, tilted: Tilted, count: int, sign: int) -> float:
    """Logarithm of (1/n) e^{n K} scaled / theta^2, rounded outwards."""
    if scaled <= 0:
        return -math.inf
    parts = (count * tilted.log_mgf, math.log(scaled), -2 * math.log(tilted.theta), -math.log(count))
    slack = count * tilted.log_mgf_error + 8 * EPS * (1 + sum(abs(part) for part in parts))
    return math.fsum(parts) + sign * slack


class _Aliases:
    """Chernoff bounds on the aliases of the lower law's sum, for any period and width."""

    def __init__(self, law: AtomLaw, tilted: Tilted, count: int) -> None:
        unit = 1 / (tilted.std * math.sqrt(count))
        below = tilted.theta * np.array([0.01, 0.03, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9])
        above = tilted.theta + unit * np.array([0.5, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 10.0, 12.0, 16.0])
        self._below = below.size
        self._eta = np.concatenate([below, above])
        self._theta = tilted.theta
        others = [tilt(law, float(eta)) for eta in self._eta]
        growth = [count * (o.log_mgf - tilted.log_mgf + o.log_mgf_error + tilted.log_mgf_error) for o in others]
        self._growth = np.array(growth)

    def bound(self, plan: Plan) -> float:
        """Bound on all aliases together, in units of e^{n K(theta)} / theta^2."""
        gap = np.abs(self._eta - self._theta) * plan.period
        exponent = self._growth + 0.5 * (plan.width * self._eta) ** 2 - gap - np.log(-np.expm1(-gap))
        logs = exponent - 1 - np.log(self._eta) + 2 * math.log(self._theta)
        best = min(float(np.min(logs[: self._below])), 600.0), min(float(np.min(logs[self._below :])), 600.0)
        return math.exp(best[0]) + math.exp(best[1])


def _cutoff(rtol: float) -> float:
    """Number of standard deviations after which a Gaussian factor e^{-x^2/2} no longer matters."""
    return math.sqrt(2 * (math.log(1 / rtol) + 14))


def _first_plan(law: AtomLaw, tilted: Tilted, count: int, rtol: float, aliases: _Aliases) -> Plan:
    """Width for a smoothing error of about 0.8 rtol, and a period that keeps the aliases well below rtol."""
    deviation = tilted.std * math.sqrt(count)
    width = 0.9 * math.sqrt(rtol) / tilted.theta
    plan = Plan(width, 8 * deviation + 8 / tilted.theta, 1.0)
    longest = 100 * plan.period
    while plan.period < longest and aliases.bound(plan) > _ALIAS_SHARE * rtol * 0.2 / deviation:
        plan = replace(plan, period=1.15 * plan.period)
    return _within_work(law, tilted, count, rtol, plan)


def _within_work(law: AtomLaw, tilted: Tilted, count: int, rtol: float, plan: Plan) -> Plan:
    """The plan with its reach, and a larger width if it would need too many nodes."""
    cutoff = _cutoff(rtol)
    alone = cutoff * law.spread / math.pi
    nodes_limit = 2 * math.pi * _LARGEST_WORK / law.value.size
    width = max(plan.width, cutoff * plan.period / nodes_limit)
    if width < alone:
        return replace(plan, width=width, reach=cutoff / width)
    # Up to |t| = pi/range the law itself decays, beyond it the factor of w does: the least such w costs nothing.
    reach = cutoff * math.pi / (2 * tilted.std * math.sqrt(count))
    reach = min(reach, cutoff / alone)
    return Plan(alone, min(plan.period, nodes_limit / reach), reach)


def _finer(
    law: AtomLaw, tilted: Tilted, count: int, rtol: float, plan: Plan, shrink: float, longer: bool
) -> Plan | None:
    """The next finer plan, or None if the work does not allow one."""
    width = plan.width * min(shrink, _SHRINK_AT_LEAST) if shrink < 1 else plan.width
    period = plan.period * (1.4 if longer else 1.0)
    finer = _within_work(law, tilted, count, rtol, Plan(width, period, plan.reach))
    return finer if finer.width < 0.95 * plan.width or longer else None


def _fourier_sums(law: AtomLaw, tilted: Tilted, count: int, plan: Plan) -> _Sums:
    """Both discrete Fourier sums and a bound on what they lack: their tails and round-off."""
    value, smoothing, rounding, size = [], [], [], []
    for node, twice in _nodes(plan, law.value.size):
        v, s, r, z = _integrands(law, tilted, count, plan.width, node)
        value.append(float(twice @ v))
        smoothing.append(float(twice @ s))
        rounding.append(float(twice @ r))
        size.append(float(twice @ z))
    unit = plan.step / (2 * math.pi)
    error = unit * (math.fsum(rounding) + 64 * EPS * math.fsum(size)) + _tail(law, tilted, count, plan)
    atom, atom_error = _all_zero(law, tilted, count, plan.width)
    return _Sums(unit * math.fsum(value) - atom, max(unit * math.fsum(smoothing) - atom, 0.0), error + 2 * atom_error)


def _all_zero(law: AtomLaw, tilted: Tilted, count: int, width: float) -> tuple[float, float]:
    """Part of both sums that the event "all G_i are 0" adds, w phi(0), where max(0, S) has nothing; and its error.

    With few users it is the one large atom of S in the kink of max(0, .), where the width would act to first order.
    """
    rest = float(np.sum(law.mass[law.value != 0]))
    if rest >= 1.0 or not np.any(law.value == 0):
        return 0.0, 0.0
    log_part = count * (math.log1p(-rest) - tilted.log_mgf)
    part = width * tilted.theta**2 / math.sqrt(2 * math.pi) * math.exp(min(log_part, 600.0))
    relative = count * (tilted.log_mgf_error + 8 * EPS * rest / (1 - rest)) + EPS * (16 + abs(log_part))
    return part, part * math.expm1(min(2 * relative, 600.0))


def _nodes(plan: Plan, atoms: int) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Nodes t >= 0 in chunks, with weight 2 for those that stand for -t too."""
    size = max(_CHUNK // atoms, 64)
    for begin in range(0, plan.last + 1, size):
        index = np.arange(begin, min(begin + size, plan.last + 1), dtype=np.float64)
        yield index * plan.step, np.where(index == 0, 1.0, 2.0).astype(np.float64)


def _integrands(
    law: AtomLaw, tilted: Tilted, count: int, width: float, node: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Real parts of both integrands at the nodes, a bound on their round-off together, and their size.

    The characteristic function f of the tilted law has an error of at most e(t) = c eps |t| E|G| (sines of rounded
    angles, the rounded tilted masses and the dot products), and |a^n - b^n| <= n |a - b| max(|a|, |b|)^(n-1).
    """
    half = 0.5 * np.multiply.outer(node, law.value)
    sine = np.sin(half)
    real = -2 * (sine**2 @ tilted.mass)
    imaginary = 2 * ((sine * np.cos(half)) @ tilted.mass)
    with np.errstate(divide="ignore"):
        log_abs = 0.5 * np.log1p(np.maximum(real * (2 + real) + imaginary**2, -1.0))
    angle = np.arctan2(imaginary, 1 + real)
    ratio = node / tilted.theta
    damping = 0.5 * width**2 * (tilted.theta**2 - node**2)
    amplitude = np.exp(count * log_abs + damping)
    turn = count * angle + width**2 * tilted.theta * node
    decay, level = 1 / (1 + ratio**2), (width * tilted.theta) ** 2
    value = amplitude * decay * np.cos(turn - 2 * np.arctan(ratio))
    smoothing = level * amplitude * np.cos(turn)
    constant = law.value.size + 24 + 2 * tilted.theta * float(np.max(np.abs(law.value)))
    absolute = constant * EPS * node * tilted.mean_abs
    size = amplitude * (decay + level)
    with np.errstate(divide="ignore", invalid="ignore"):
        amplified = np.exp(np.minimum((count - 1) * np.log(np.exp(log_abs) + absolute) + damping, 600.0))
        relative = count * (np.abs(np.where(amplitude > 0, log_abs, 0.0)) + np.abs(angle)) + width**2 * node**2
    error = (
        count
        * absolute
        * np.where(np.isnan(amplified), np.exp(np.minimum(damping, 600.0)), amplified)
        * (decay + level)
    )
    return value, smoothing, error + EPS * (32 + 4 * relative) * size, size


def _tail(law: AtomLaw, tilted: Tilted, count: int, plan: Plan) -> float:
    """Bound on the part of both sums beyond the last node, in units of e^{n K(theta)} / theta^2."""
    begin = plan.last * plan.step
    level = (plan.width * tilted.theta) ** 2
    scale = math.exp(min(0.5 * level, 600.0)) * ((tilted.theta / begin) ** 2 + level) / math.pi
    far = begin
    near = 0.0
    turn = math.pi / law.spread
    if begin < turn:
        rate = 0.998 * 2 * count * (tilted.std / math.pi) ** 2
        near = math.exp(-rate * begin**2) / (2 * rate * begin)
        far = turn
    return scale * (near + math.exp(-0.5 * (plan.width * far) ** 2) / (plan.width**2 * far))
