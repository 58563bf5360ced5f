"""Brute-force oracles for the privacy accountants, independent of everything under ``src/``.

Each function builds a law message by message, or sums a definition term by term, and shares no formula with the
accountant that it tests. Exact results are :class:`fractions.Fraction`; what cannot be rational (Poisson weights,
binomial tails at 1e12 trials) is an ``mpf`` of the context :data:`MP`, which keeps its own precision of
:data:`WORKING_DIGITS` digits whatever the global ``mpmath.mp`` is set to.

Conventions
-----------
* A law is a ``dict`` from outcome to probability. A truncated law is exact on the cells it has and comes with
  ``lost``, an upper bound on the probability of all the cells it does not have; feed both to
  :func:`hockey_stick_bounds`.
* The hockey-stick divergence takes ``exp_epsilon = e**eps`` itself, so that it can be rational.
* Items, inputs and outputs are numbered from 0.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import combinations, permutations
from math import ceil, comb, floor, lcm
from typing import Any

import numpy as np
from mpmath import MPContext
from numpy.typing import NDArray
from scipy.stats import binom

RESULT_DIGITS = 50
WORKING_DIGITS = 90
DIRECT_SUM_TERMS = 4000

MP = MPContext()
MP.dps = WORKING_DIGITS

Histogram = tuple[int, ...]
Law = dict[Any, Fraction]
MpLaw = dict[Any, Any]
Matrix = list[list[Fraction]]


def to_mpf(value: Any) -> Any:
    """Convert an int, float (exactly), Fraction or mpf to an ``mpf`` of :data:`MP`."""
    if isinstance(value, Fraction):
        return MP.mpf(value.numerator) / value.denominator
    return MP.mpf(value)


# --------------------------------------------------------------------------------------------------------------------
# Divergences and coarse views
# --------------------------------------------------------------------------------------------------------------------


def hockey_stick(p: Mapping[Hashable, Any], q: Mapping[Hashable, Any], exp_epsilon: Fraction) -> Any:
    """Hockey-stick divergence ``sum_x max(0, p(x) - exp_epsilon * q(x))``.

    Parameters
    ----------
    p, q : mapping
        Laws over a finite set; a missing outcome has probability 0. All values are Fractions, or all are ``mpf``.
    exp_epsilon : Fraction
        ``e**eps`` (not ``eps``).

    Returns
    -------
    Fraction or mpf
        Fraction if the laws are made of Fractions (the result is then exact).
    """
    total: Any = Fraction(0)
    for outcome, probability in p.items():
        is_exact = isinstance(probability, (int, Fraction))
        factor = exp_epsilon if is_exact else to_mpf(exp_epsilon)
        excess = probability - factor * q.get(outcome, 0)
        if excess > 0:
            total = excess + (total if is_exact else to_mpf(total))
    return total


def hockey_stick_bounds(
    p: Mapping[Hashable, Any], q: Mapping[Hashable, Any], exp_epsilon: Fraction, lost: Any
) -> tuple[Any, Any]:
    """Lower and upper value of the hockey-stick divergence of two truncated laws.

    Parameters
    ----------
    p, q : mapping
        Laws truncated to the *same* cells, exact on them.
    exp_epsilon : Fraction
        ``e**eps``.
    lost : mpf
        Upper bound on the probability that ``p`` gives to the missing cells.

    Returns
    -------
    lower, upper : mpf
        ``lower`` drops the missing cells; ``upper`` counts all their probability as excess.
    """
    lower = to_mpf(hockey_stick(p, q, exp_epsilon))
    return lower, lower + lost


def push_forward(law: Mapping[Any, Any], function: Callable[[Any], Hashable]) -> dict[Any, Any]:
    """Law of ``function(X)`` for ``X`` distributed by ``law``."""
    image: dict[Any, Any] = {}
    for outcome, probability in law.items():
        key = function(outcome)
        image[key] = image[key] + probability if key in image else probability
    return image


def product_law(*laws: Mapping[Any, Any]) -> dict[Any, Any]:
    """Law of the tuple of independent outcomes, one per given law."""
    result: dict[Any, Any] = {(): 1}
    for law in laws:
        result = {(*head, tail): p * q for head, p in result.items() for tail, q in law.items()}
    return result


# --------------------------------------------------------------------------------------------------------------------
# The pair of counts (Theorem 1 of the paper, Theorem 4.7 of variation-ratio)
# --------------------------------------------------------------------------------------------------------------------


def _victim_law(heads: Fraction, tails: Fraction) -> list[tuple[int, int, Fraction]]:
    """Values of ``(D1, D2)`` with their probabilities."""
    return [(1, 0, heads), (0, 1, tails), (0, 0, 1 - heads - tails)]


def count_pair(trials: int, clone_probability: Fraction, heads: Fraction, tails: Fraction) -> tuple[Law, Law]:
    """Exact joint laws of the dominating pair of counts.

    ``P = (A + D1, C - A + D2)`` and ``Q = (A + D2, C - A + D1)`` with ``C ~ Binomial(trials, clone_probability)``,
    ``A ~ Binomial(C, 1/2)`` and ``(D1, D2)`` equal to (1, 0) with probability ``heads``, (0, 1) with probability
    ``tails`` and (0, 0) otherwise.

    Parameters
    ----------
    trials : int
        Number of blanket messages that may hit one of the two items.
    clone_probability : Fraction
        Segmented protocol: ``2 * gamma / d``. Variation ratio: ``2 * r``.
    heads, tails : Fraction
        Segmented protocol: ``lambda, 0``. Variation ratio: ``p * alpha, alpha``.

    Returns
    -------
    p, q : dict
        From ``(count0, count1)`` to its probability.
    """
    p: defaultdict[Any, Fraction] = defaultdict(Fraction)
    q: defaultdict[Any, Fraction] = defaultdict(Fraction)
    for c in range(trials + 1):
        clones = comb(trials, c) * clone_probability**c * (1 - clone_probability) ** (trials - c)
        for a in range(c + 1):
            blanket = clones * Fraction(comb(c, a), 2**c)
            for d1, d2, victim in _victim_law(heads, tails):
                p[a + d1, c - a + d2] += blanket * victim
                q[a + d2, c - a + d1] += blanket * victim
    return dict(p), dict(q)


def count_pair_poisson(mu2: Fraction, heads: Fraction, tails: Fraction, cutoff: int) -> tuple[MpLaw, MpLaw, Any]:
    """Laws of the pair of :func:`count_pair` with ``C ~ Poisson(mu2)``, on the cells with total at most ``cutoff``.

    Parameters
    ----------
    mu2 : Fraction
        Mean of ``C``; ``2 * mu`` for two counters of mean ``mu`` each.
    heads, tails : Fraction
        As in :func:`count_pair`.
    cutoff : int
        Largest ``count0 + count1`` that is kept.

    Returns
    -------
    p, q : dict
        Truncated laws, exact (to :data:`WORKING_DIGITS` digits) on the cells they have.
    lost : mpf
        Upper bound on the probability of the dropped cells, the same for ``p`` and ``q``.
    """
    p: defaultdict[Any, Any] = defaultdict(MP.mpf)
    q: defaultdict[Any, Any] = defaultdict(MP.mpf)
    mean = to_mpf(mu2)
    for c in range(cutoff + 1):
        clones = MP.exp(-mean) * mean**c / MP.factorial(c)
        for a in range(c + 1):
            blanket = clones * comb(c, a) / MP.mpf(2) ** c
            for d1, d2, victim in _victim_law(heads, tails):
                if c + d1 + d2 <= cutoff:
                    p[a + d1, c - a + d2] += blanket * to_mpf(victim)
                    q[a + d2, c - a + d1] += blanket * to_mpf(victim)
    return dict(p), dict(q), _missing_mass(p.values())


def count_pair_divergence_float(
    trials: int, clone_probability: float, heads: float, exp_epsilon: float, tails: float = 0.0, width: float = 14.0
) -> float:
    """Hockey-stick divergence of :func:`count_pair` at realistic sizes, in double precision.

    Enumerates every cell ``(a, c - a)`` with ``c`` within ``width`` standard deviations (and 50 counts) of its mean;
    no threshold formula is used. The relative error is about 1e-9 for divergences above 1e-15, and the cells cut off
    have probability below 1e-30 at the default width.

    Returns
    -------
    float
        The divergence.
    """
    mean = trials * clone_probability
    spread = width * np.sqrt(mean * (1 - clone_probability)) + 50
    total = 0.0
    for c in range(max(0, floor(mean - spread)), ceil(mean + spread) + 1):
        a = np.arange(c + 1)
        # Cell (a, c - a): no victim message on top of c blanket ones, or one on top of c - 1 of them.
        silent = binom.pmf(c, trials, clone_probability) * binom.pmf(a, c, 0.5)
        below: NDArray[np.float64] = np.zeros(c + 1)
        above: NDArray[np.float64] = np.zeros(c + 1)
        if c > 0:
            clones = binom.pmf(c - 1, trials, clone_probability)
            below[1:] = clones * binom.pmf(a[1:] - 1, c - 1, 0.5)
            above[:-1] = clones * binom.pmf(a[:-1], c - 1, 0.5)
        p = heads * below + tails * above + (1 - heads - tails) * silent
        q = tails * below + heads * above + (1 - heads - tails) * silent
        total += float(np.maximum(0.0, p - exp_epsilon * q).sum())
    return total


# --------------------------------------------------------------------------------------------------------------------
# The server's full view of Algorithm 2
# --------------------------------------------------------------------------------------------------------------------


def _add_message(view: Mapping[Histogram, Any], message: Sequence[tuple[int | None, Any]]) -> dict[Histogram, Any]:
    """Law of the histogram after one more independent message; item ``None`` means that nothing is sent."""
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
    """Messages of one user: every held item ``floor(rate)`` times, and once more with the remaining probability."""
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
    """Exact law of the histogram that the server sees in Algorithm 2, lines 7-20.

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
            view = _add_message(view, message)
    slot: list[tuple[int | None, Fraction]] = [(item, gamma / domain_size) for item in range(domain_size)]
    slot.append((None, 1 - gamma))
    for _ in range(blanket_slots):
        view = _add_message(view, slot)
    return view


def poisson_blanket_view(
    domain_size: int, sets: Sequence[Iterable[int]], levels_lambda: Sequence[Fraction], mu: Fraction, cutoff: int
) -> tuple[MpLaw, Any]:
    """Law of the server's histogram when each item's blanket count is an independent Poisson(``mu``).

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
        Upper bound on the probability of the dropped cells.
    """
    mean = to_mpf(mu)
    poisson = [MP.exp(-mean) * mean**x / MP.factorial(x) for x in range(cutoff + 1)]
    view: dict[Histogram, Any] = {(): MP.mpf(1)}
    for _ in range(domain_size):
        view = {(*head, x): p * poisson[x] for head, p in view.items() for x in range(cutoff + 1)}
    for items, rate in zip(sets, levels_lambda, strict=True):
        for message in _user_messages(items, rate):
            view = _add_message(view, [(item, to_mpf(chance)) for item, chance in message])
            view = {histogram: p for histogram, p in view.items() if max(histogram) <= cutoff}
    return view, _missing_mass(view.values())


def _missing_mass(probabilities: Iterable[Any]) -> Any:
    """One minus the sum, with a margin for the rounding of :data:`MP`, and never negative."""
    return max(MP.mpf(0), 1 - MP.fsum(probabilities)) + MP.mpf(10) ** (-RESULT_DIGITS - 20)


# --------------------------------------------------------------------------------------------------------------------
# Shuffled single messages
# --------------------------------------------------------------------------------------------------------------------


def krr(k: int, exp_eps0: Fraction) -> Matrix:
    """k-ary randomized response: the true value with odds ``exp_eps0``, every other one with odds 1."""
    exp_eps0 = Fraction(exp_eps0)
    return [[(exp_eps0 if x == y else Fraction(1)) / (exp_eps0 + k - 1) for y in range(k)] for x in range(k)]


def subsets(domain_size: int, size: int) -> list[tuple[int, ...]]:
    """All subsets of ``range(domain_size)`` with ``size`` elements, in the order of :func:`subset_exponential`."""
    return list(combinations(range(domain_size), size))


def subset_exponential(domain_size: int, set_size: int, k: int, exp_eps: Fraction) -> Matrix:
    """Subset exponential mechanism (PrivSet) as a row-stochastic matrix.

    Parameters
    ----------
    domain_size, set_size, k : int
        Items, size of the input sets, size of the output sets.
    exp_eps : Fraction
        Weight of an output that meets the input; the others have weight 1.

    Returns
    -------
    list of list of Fraction, shape (binom(domain_size, set_size), binom(domain_size, k))
        Rows and columns in the order of :func:`subsets`.
    """
    matrix = []
    for x in subsets(domain_size, set_size):
        weights = [Fraction(exp_eps) if set(x) & set(z) else Fraction(1) for z in subsets(domain_size, k)]
        matrix.append([weight / sum(weights) for weight in weights])
    return matrix


def single_message_view(randomizer: Sequence[Sequence[Fraction]], inputs: Sequence[int]) -> Law:
    """Exact law of the histogram of outputs when every user sends one shuffled message.

    Parameters
    ----------
    randomizer : matrix of Fraction, rows = inputs, columns = outputs
        Row-stochastic.
    inputs : sequence of int
        Row of each user.

    Returns
    -------
    dict
        From the histogram of the outputs to its probability.
    """
    # Integer weights over one common denominator per row: the same numbers as with Fractions, several times faster.
    view: dict[Histogram, int] = {(0,) * len(randomizer[0]): 1}
    denominator = 1
    for x in inputs:
        scale = lcm(*(entry.denominator for entry in randomizer[x]))
        view = _add_message(view, [(y, int(entry * scale)) for y, entry in enumerate(randomizer[x])])
        denominator *= scale
    return {histogram: Fraction(weight, denominator) for histogram, weight in view.items()}


def merge_proportional_outputs(randomizer: Sequence[Sequence[Fraction]], rows: Iterable[int]) -> Matrix:
    """Merge the outputs whose columns are proportional on ``rows``, and drop those that no row of ``rows`` can send.

    When all users hold inputs from ``rows``, the merged histogram is a sufficient statistic: which output of a class
    occurred has the same conditional law for every input. So divergences stay the same, and larger n are feasible.

    Returns
    -------
    list of list of Fraction
        All rows of the randomizer, over the classes; only ``rows`` are sure to be stochastic.
    """
    rows = sorted(set(rows))
    classes: dict[tuple[Fraction, ...], list[int]] = {}
    for y in range(len(randomizer[0])):
        column = [randomizer[x][y] for x in rows]
        if sum(column):
            classes.setdefault(tuple(entry / sum(column) for entry in column), []).append(y)
    return [[sum((row[y] for y in members), Fraction(0)) for members in classes.values()] for row in randomizer]


def shuffled_divergence(
    randomizer: Sequence[Sequence[Fraction]], victim: tuple[int, int], others: Sequence[int], exp_epsilon: Fraction
) -> Fraction:
    """Exact hockey-stick divergence of the shuffled messages, victim's input ``victim[0]`` against ``victim[1]``.

    Uses :func:`merge_proportional_outputs`, that is the second, grouped way to the same number.
    """
    merged = merge_proportional_outputs(randomizer, [*victim, *others])
    p = single_message_view(merged, [*others, victim[0]])
    q = single_message_view(merged, [*others, victim[1]])
    return hockey_stick(p, q, exp_epsilon)


def variation_ratio_pair(users: int, p: Fraction, beta: Fraction, q: Fraction) -> tuple[Law, Law]:
    """The pair ``P_{p,beta}^q, Q_{p,beta}^q`` of Theorem 4.7 of variation-ratio (``users - 1`` trials)."""
    alpha = Fraction(beta) / (p - 1)
    return count_pair(users - 1, 2 * alpha * p / q, p * alpha, alpha)


# --------------------------------------------------------------------------------------------------------------------
# Expected squared errors
# --------------------------------------------------------------------------------------------------------------------


def item_frequencies(domain_size: int, sets: Sequence[Iterable[int]]) -> list[Fraction]:
    """Share of the users that hold each item."""
    members = [set(items) for items in sets]
    return [Fraction(sum(j in items for items in members), len(members)) for j in range(domain_size)]


def expected_squared_error(view: Mapping[Histogram, Any], offset: Any, scale: Any, target: Sequence[Any]) -> Any:
    """``E sum_j ((c_j - offset) / scale - target_j)**2`` for a histogram ``c`` distributed by ``view``."""
    total: Any = 0
    for histogram, probability in view.items():
        error = sum(((c - offset) / scale - w) ** 2 for c, w in zip(histogram, target, strict=True))
        total = total + probability * error
    return total


def segmented_protocol_error(
    domain_size: int,
    sets: Sequence[Iterable[int]],
    levels_lambda: Sequence[Fraction],
    blanket_slots: int,
    gamma: Fraction,
) -> Fraction:
    """Exact expected squared error of Algorithm 2 for a fixed assignment of levels to users.

    The estimator is ``what_j = (C_j - n m / d) / N`` with ``n m = blanket_slots * gamma`` and ``N = sum_i lambda_i``;
    the error is against the users' own frequencies ``w_j``. Parameters as in :func:`segmented_view`.

    Returns
    -------
    Fraction
        ``E sum_j (what_j - w_j)**2``.
    """
    sets = [tuple(items) for items in sets]
    view = segmented_view(domain_size, sets, levels_lambda, blanket_slots, gamma)
    offset = Fraction(blanket_slots) * gamma / domain_size
    scale = sum((Fraction(rate) for rate in levels_lambda), Fraction(0))
    return expected_squared_error(view, offset, scale, item_frequencies(domain_size, sets))


def segmented_protocol_error_averaged(
    domain_size: int,
    sets: Sequence[Iterable[int]],
    level_rates: Sequence[Fraction],
    level_counts: Sequence[int],
    blanket_slots: int,
    gamma: Fraction,
) -> Fraction:
    """Mean of :func:`segmented_protocol_error` over all assignments with ``level_counts[k]`` users at level ``k``."""
    sets = [tuple(items) for items in sets]
    rates = [Fraction(rate) for rate, count in zip(level_rates, level_counts, strict=True) for _ in range(count)]
    assignments = sorted(set(permutations(rates)))
    errors = [segmented_protocol_error(domain_size, sets, rates, blanket_slots, gamma) for rates in assignments]
    return sum(errors, Fraction(0)) / len(assignments)


def subset_exponential_rates(domain_size: int, set_size: int, k: int, exp_eps: Fraction) -> tuple[Fraction, Fraction]:
    """``a = Pr[j in z | j in x]`` and ``b = Pr[j in z | j not in x]``, read off the matrix.

    Raises
    ------
    ValueError
        If the two probabilities depend on ``x`` or ``j``, in which case the estimator would be biased.
    """
    matrix = subset_exponential(domain_size, set_size, k, exp_eps)
    inside: set[Fraction] = set()
    outside: set[Fraction] = set()
    for x, row in zip(subsets(domain_size, set_size), matrix, strict=True):
        for j in range(domain_size):
            hit = sum((entry for z, entry in zip(subsets(domain_size, k), row, strict=True) if j in z), Fraction(0))
            (inside if j in x else outside).add(hit)
    if len(inside) != 1 or len(outside) != 1:
        raise ValueError(f"inclusion probabilities are not constant: {inside}, {outside}")
    return inside.pop(), outside.pop()


def subset_exponential_error(domain_size: int, sets: Sequence[Iterable[int]], k: int, exp_eps: Fraction) -> Fraction:
    """Exact expected squared error of ``what_j = (c_j / n - b) / (a - b)`` under the subset exponential mechanism.

    Parameters
    ----------
    domain_size : int
        Number of items.
    sets : sequence of iterables of int
        The items of each user, all of the same number.
    k : int
        Size of the output sets.
    exp_eps : Fraction
        Weight of an output that meets the input.

    Returns
    -------
    Fraction
        ``E sum_j (what_j - w_j)**2``, by enumeration of the counts ``c``.
    """
    inputs = [tuple(sorted(items)) for items in sets]
    set_size, n = len(inputs[0]), len(inputs)
    a, b = subset_exponential_rates(domain_size, set_size, k, exp_eps)
    matrix = subset_exponential(domain_size, set_size, k, exp_eps)
    rows = dict(zip(subsets(domain_size, set_size), matrix, strict=True))
    counts: dict[Histogram, Fraction] = {(0,) * domain_size: Fraction(1)}
    for x in inputs:
        after: defaultdict[Histogram, Fraction] = defaultdict(Fraction)
        for histogram, probability in counts.items():
            for z, chance in zip(subsets(domain_size, k), rows[x], strict=True):
                after[tuple(c + (j in z) for j, c in enumerate(histogram))] += probability * chance
        counts = dict(after)
    return expected_squared_error(counts, n * b, n * (a - b), item_frequencies(domain_size, inputs))


# --------------------------------------------------------------------------------------------------------------------
# Binomial probabilities to 50 digits
# --------------------------------------------------------------------------------------------------------------------


def mp_binomial_pmf(n: int, p: Any, k: int) -> Any:
    """``Pr[Binomial(n, p) = k]`` to :data:`RESULT_DIGITS` relative digits, for n up to 1e12 and beyond.

    ``p`` is a Fraction, float (taken exactly) or mpf.
    """
    p = to_mpf(p)
    if not 0 <= k <= n:
        return MP.mpf(0)
    if p in (0, 1):
        return MP.mpf(int(k == n * p))
    log_choose = MP.loggamma(n + 1) - MP.loggamma(k + 1) - MP.loggamma(n - k + 1)
    return MP.exp(log_choose + k * MP.log(p) + (n - k) * MP.log1p(-p))


def _direct_upper_tail(n: int, p: Any, k: int) -> Any | None:
    """Sum of the pmf from ``k`` > mean upwards, or None if :data:`DIRECT_SUM_TERMS` terms are not enough."""
    odds = p / (1 - p)
    term = total = MP.mpf(1)  # relative to the pmf at k
    tolerance = MP.mpf(10) ** (-RESULT_DIGITS - 10)
    for i in range(k, min(n, k + DIRECT_SUM_TERMS)):
        ratio = odds * (n - i) / (i + 1)  # decreases with i, and is below 1 past the mean
        term *= ratio
        total += term
        if ratio < 1 and term * ratio / (1 - ratio) < tolerance * total:
            break
    else:
        if n > k + DIRECT_SUM_TERMS:
            return None
    return mp_binomial_pmf(n, p, k) * total


def _integrated_upper_tail(n: int, p: Any, k: int) -> Any:
    """Upper tail from ``k`` > mean by ``Pr[X >= k] = n!/((k-1)!(n-k)!) int_0^p t^(k-1) (1-t)^(n-k) dt``.

    The integrand, divided by its value at ``t = p``, falls from 1 there to nothing in O(1/sqrt(n)), and it is
    log-concave and smooth: Gauss-Legendre on pieces over the part above 1e-75 converges to full precision. (A
    continued fraction needs O(sqrt(n)) steps here, a million of them at n = 1e12.)
    """

    def log_ratio(v: Any) -> Any:
        """Logarithm of the integrand at ``p - v``, relative to the integrand at ``p``."""
        return (k - 1) * MP.log1p(-v / p) + (n - k) * MP.log1p(v / (1 - p))

    floor_log = -75 * MP.log(10)
    width = 1 / MP.sqrt(n * p * (1 - p)) * p
    while width < p and log_ratio(width) > floor_log:
        width *= 2
    low, high = width / 2, min(width, p)
    for _ in range(20):
        middle = (low + high) / 2
        low, high = (middle, high) if log_ratio(middle) > floor_log else (low, middle)
    # By concavity, the part beyond `high` is below 1e-75 times its own length over a slope that only steepens.
    points = [high * i / 16 for i in range(17)]
    integral, error = MP.quad(lambda v: MP.exp(log_ratio(v)), points, error=True, method="gauss-legendre")
    if error > integral * MP.mpf(10) ** (-RESULT_DIGITS - 8):
        raise ArithmeticError(f"quadrature did not converge at n={n}, k={k}: {error} of {integral}")
    return mp_binomial_pmf(n, p, k) * k / p * integral


def mp_binomial_upper_tail(n: int, p: Any, k: int) -> Any:
    """``Pr[Binomial(n, p) >= k]`` to :data:`RESULT_DIGITS` relative digits, for any n up to 1e12 and beyond."""
    p = to_mpf(p)
    if k <= 0:
        return MP.mpf(1)
    if k > n or p == 0:
        return MP.mpf(0)
    if p == 1:
        return MP.mpf(1)
    if k <= n * p:  # the mirrored event, Binomial(n, 1 - p) >= n - k + 1, is beyond its own mean
        return 1 - mp_binomial_upper_tail(n, 1 - p, n - k + 1)
    direct = _direct_upper_tail(n, p, k)
    return _integrated_upper_tail(n, p, k) if direct is None else direct


def mp_binomial_half_tail(c: int, t: int) -> Any:
    """``Pr[Binomial(c, 1/2) >= t]`` to :data:`RESULT_DIGITS` relative digits."""
    return mp_binomial_upper_tail(c, Fraction(1, 2), t)


def mp_binomial_cdf_interval(n: int, p: Any, lo: int, hi: int) -> Any:
    """``Pr[lo <= Binomial(n, p) <= hi]``, 0 if the interval is empty.

    Relative accuracy is :data:`RESULT_DIGITS` digits: differences are taken between tails on the same side of the
    mean, and the working precision leaves room for the O(sqrt(n)) that a narrow interval then loses.
    """
    p = to_mpf(p)
    lo, hi = max(lo, 0), min(hi, n)
    if lo > hi:
        return MP.mpf(0)
    if hi - lo <= 200:
        return MP.fsum(mp_binomial_pmf(n, p, k) for k in range(lo, hi + 1))
    if hi < n * p:  # both ends below the mean: lower tails, as upper tails of n - X
        return mp_binomial_upper_tail(n, 1 - p, n - hi) - mp_binomial_upper_tail(n, 1 - p, n - lo + 1)
    if lo <= n * p:  # straddles the mean
        return 1 - mp_binomial_upper_tail(n, 1 - p, n - lo + 1) - mp_binomial_upper_tail(n, p, hi + 1)
    return mp_binomial_upper_tail(n, p, lo) - mp_binomial_upper_tail(n, p, hi + 1)
