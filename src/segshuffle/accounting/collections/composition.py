"""Several collections of the same users with different plans: one epsilon and delta for all of them, or their losses.

Random numbers are fresh in every collection, so the likelihood ratios multiply. The pairs of all collections, each with
its own blanket and copies, form one product (docs/proof.md). T collections with the same plan do not need this module:
they count as t T pairs (`Problem.pairs`).

dp_accounting can compose their losses with other mechanisms. The outcomes of a counter are split onto dp_accounting's
lattice as for our own bounds (docs/proof.md, "Numbers"). The distribution dominates that of the collections. So every
delta computed from it is an upper bound, up to the round-off of dp_accounting, about 1e-15.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from segshuffle.accounting.collections.blanket_cap import (
    TAIL_SHARE,
    cap_overflow,
    capped_delta,
    capped_epsilon,
    overflow_of_all,
    uncapped_target,
)
from segshuffle.accounting.collections.calibration import epsilon_upper
from segshuffle.accounting.collections.product import (
    EPSILON_LIMIT,
    RepeatedPair,
    check_product,
    ends_of,
    log_delta_bound,
    on_step,
    rounded_delta,
)
from segshuffle.blankets.base import CounterPair
from segshuffle.digits import rounded_up
from segshuffle.errors import ParameterError
from segshuffle.extras import require
from segshuffle.numerics.dominating import dominating_pair
from segshuffle.numerics.ranges import check_within
from segshuffle.numerics.search import reached_epsilon

if TYPE_CHECKING:
    from dp_accounting.pld.privacy_loss_distribution import PrivacyLossDistribution

#: Twice how far the bound of delta is above the exact value, about.
_RTOL = 2e-5
#: -log of the mass of a tail that counts as a loss of +inf for dp_accounting, which itself cuts tails of about 1e-15.
_LOG_TAIL = -math.log(1e-16)
#: Most losses of a distribution with the cost of a cap.
_MOST_LOSSES = 3e6


def composed_delta(
    collections: Sequence[RepeatedPair], *, epsilon: float, caps: Sequence[Mapping[str, Any]] = ()
) -> float:
    """Return the delta that all collections together have at `epsilon`, rounded up.

    Parameters
    ----------
    collections : sequence of (CounterPair, int)
        For every collection, the two counters that change if one item is exchanged, and the number t >= 1 of such
        pairs.
    epsilon : float
        In [0, 100].
    caps : sequence of mapping
        Of every collection with a cap on the dummies of a user, the parameters of `cap_overflow` except epsilon and
        delta.

    Returns
    -------
    float
        Upper bound of the delta of the product (kind: upper). It is about a relative 1e-5 above the exact value, or
        more if collections differ so much that a common lattice is coarse for one of them.

    Raises
    ------
    ParameterError
        If a parameter is outside its range.
    AccuracyError
        If a pair has no table: its laws with and without copies hardly overlap, or have too many values.
    """
    check_product(epsilon=epsilon)
    sent = _checked(collections)
    bound = rounded_delta(log_delta_bound(sent, epsilon, _RTOL))
    if caps and bound > 0:
        overflow = overflow_of_all(caps, epsilon=epsilon, delta=bound)
        inner, _ = uncapped_target(epsilon=epsilon, delta=bound, overflow=overflow)
        if inner < 0:
            return 1.0
        uncapped = rounded_delta(log_delta_bound(sent, inner, _RTOL))
        bound = capped_delta(uncapped=uncapped, delta=bound, overflow=overflow)
    # six digits: where delta is flat, it does not rise by what is only round-off
    return rounded_up(bound, 6)


def composed_epsilon(
    collections: Sequence[RepeatedPair], *, delta: float, caps: Sequence[Mapping[str, Any]] = ()
) -> float:
    """Return the epsilon that all collections together have at `delta`, rounded up.

    Parameters
    ----------
    collections : sequence of (CounterPair, int)
        As for `composed_delta`.
    delta : float
        Target in [1e-110, 1).
    caps : sequence of mapping
        As for `composed_delta`.

    Returns
    -------
    float
        An epsilon in [0, 100] whose delta is at most `delta` by `composed_delta`, too; without caps at most about a
        relative 1e-6 above the least such epsilon. +inf if there is none (kind: upper).

    Raises
    ------
    ParameterError, AccuracyError
        As for `composed_delta`.
    """
    check_product(delta=delta)
    sent = _checked(collections)
    bound = capped_epsilon(lambda delta: epsilon_upper(sent, delta=delta, rtol=_RTOL), caps, delta=delta)
    return reached_epsilon(
        lambda epsilon: composed_delta(sent, epsilon=epsilon, caps=caps), bound, delta, most=EPSILON_LIMIT
    )


def _checked(collections: Sequence[RepeatedPair]) -> list[RepeatedPair]:
    """Return the collections in which something is sent."""
    for _, pairs in collections:
        check_product(pairs=pairs)
    return [(pair, pairs) for pair, pairs in collections if pair.copies > 0]


# -- for other mechanisms --------------------------------------------------------------------------------------------


def privacy_loss_distribution(
    collections: Sequence[RepeatedPair], *, interval: float = 1e-4
) -> PrivacyLossDistribution:
    """Return the loss distribution of collections of the same users, rounded up, as an object of dp_accounting.

    Parameters
    ----------
    collections : sequence of (CounterPair, int)
        As for `composed_delta`. There may be no collection.
    interval : float, default 1e-4
        dp_accounting's value_discretization_interval, in [1e-7, 1]. Distributions with which this one is composed
        must have the same interval.

    Returns
    -------
    PrivacyLossDistribution
        Its deltas are upper bounds (kind: upper), down to about 1e-13.

    Raises
    ------
    ParameterError
        If a parameter is outside its range, or the interval is too small for the losses that there are.
    MissingExtraError
        If dp_accounting is not installed.
    """
    check_within("interval", interval, 1e-7, 1)
    require("pld", "A loss distribution for dp_accounting")
    from dp_accounting.pld import privacy_loss_distribution as pld

    result = pld.identity(value_discretization_interval=interval)
    for pair, pairs in _checked(collections):
        for losses, infinite in counter_losses(pair, interval):
            one = pld.PrivacyLossDistribution.create_from_rounded_probability(losses, infinite, interval)
            result = result.compose(one.self_compose(pairs))
    return result


def counter_losses(pair: CounterPair, interval: float) -> list[tuple[Mapping[int, float], float]]:
    """Return the probabilities of the losses of both counters of a pair, on the lattice, and that of a loss of +inf.

    Returns
    -------
    list of (mapping, float)
        Lattice index -> probability. The infinite loss makes up for probabilities that are below the true ones.
        First the counter of the item that the user holds, then that of the item exchanged for it.
    """
    table = on_step(pair.loss_table(interval, _LOG_TAIL), interval)
    if table.step != interval:
        raise ParameterError("interval", interval, f"at least {table.step:.3g}, for the losses that this plan has")
    index, mass = ends_of(table)
    # a wrong ratio moves the loss: what that can add to any delta goes to +inf
    given_away = table.truncated + 4 * table.ratio_error
    grown = 1 + table.mass_error
    with_item = mass * np.exp(index * table.step) * grown
    return [
        (dict(zip(index.tolist(), with_item.tolist(), strict=True)), given_away),
        (dict(zip((-index).tolist(), (mass * grown).tolist(), strict=True)), given_away + table.zero_mass * grown),
    ]


def capped_distribution(
    free: PrivacyLossDistribution, *, cap: Mapping[str, Any], epsilon: float, delta: float, interval: float
) -> PrivacyLossDistribution:
    """Return the loss distribution of collections with a cap on the dummies of a user, from the one without it.

    Parameters
    ----------
    free : PrivacyLossDistribution
        From `privacy_loss_distribution`.
    cap : mapping
        Parameters of `cap_overflow`, except epsilon and delta.
    epsilon, delta : float
        About what is asked of the collections; deltas far below this one are not reached.
    interval : float
        As for `privacy_loss_distribution`.

    Returns
    -------
    PrivacyLossDistribution
        Its deltas are upper bounds (kind: upper).

    Raises
    ------
    ParameterError
        If nothing is proven with this cap, or the interval is so small that there would be more than three million
        losses.
    """
    from dp_accounting.pld import privacy_loss_distribution as pld

    overflow = cap_overflow(**cap, epsilon=epsilon, delta=delta)
    if overflow >= 1:
        raise ParameterError("blanket_cap", cap["cap"], "larger: with this one nothing is proven")
    lost = TAIL_SHARE * delta * math.exp(-epsilon)
    # from where e^epsilon theta is 1 on, the theorem says nothing
    check_within("interval", interval, -math.log(lost) / _MOST_LOSSES, 1)
    points = np.arange(1, math.ceil(-math.log(lost) / interval))
    epsilons = points * interval
    deltas = np.asarray(free.get_delta_for_epsilon((epsilons + math.log1p(-overflow)).tolist()))
    deltas = np.minimum((deltas + lost * np.exp(epsilons)) / (1 - overflow), 1.0)
    least = int(np.argmin(deltas)) + 1
    table = dominating_pair(np.arange(least + 1), np.minimum.accumulate(np.append(1.0, deltas[:least])), interval)
    index = table.first + np.arange(table.mass.size)
    with_item = table.mass * np.exp(index * interval)
    losses = dict(zip(index.tolist(), with_item.tolist(), strict=True))
    return pld.PrivacyLossDistribution.create_from_rounded_probability(losses, table.zero_mass, interval)
