"""Privacy loss distributions of collections, which dp_accounting can compose with other mechanisms.

The outcomes of a counter are split onto the lattice of dp_accounting as for our own bounds (docs/proof.md, "Numbers").
The distribution dominates that of the collection. So every delta computed from it is an upper bound, up to the
round-off of dp_accounting, about 1e-15.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from segshuffle.accounting.collections.composition import Collected, ends_of, on_step
from segshuffle.accounting.collections.product import check_product
from segshuffle.accounting.numerics.ranges import check_within
from segshuffle.blankets.base import CounterPair
from segshuffle.errors import ParameterError
from segshuffle.extras import require

if TYPE_CHECKING:
    from dp_accounting.pld.privacy_loss_distribution import PrivacyLossDistribution

#: What is given away of every tail; dp_accounting works with 1e-15 as well.
_LOG_TAIL = -math.log(1e-16)


def privacy_loss_distribution(collections: Sequence[Collected], *, interval: float = 1e-4) -> PrivacyLossDistribution:
    """Loss distribution of collections of the same users, pessimistic, as dp_accounting's own.

    Parameters
    ----------
    collections : sequence of (CounterPair, int)
        What one user is exchanged in, and the number of pairs t >= 1, for every collection; none reveal nothing.
    interval : float, default 1e-4
        dp_accounting's value_discretization_interval, in [1e-7, 1]: that of what it is composed with.

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
    for pair, pairs in collections:
        check_product(pairs=pairs)
        for losses, infinite in counter_losses(pair, interval):
            one = pld.PrivacyLossDistribution.create_from_rounded_probability(losses, infinite, interval)
            result = result.compose(one.self_compose(pairs))
    return result


def counter_losses(pair: CounterPair, interval: float) -> list[tuple[Mapping[int, float], float]]:
    """Probabilities of the losses of both counters of a pair, on the lattice, and that of a loss of +inf.

    Returns
    -------
    list of (mapping, float)
        Lattice index -> probability, which is never below the true one by more than the infinite loss makes up for.
        First the counter of the item that the user holds, then that of the item exchanged for it.
    """
    table = on_step(pair.loss_table(interval, _LOG_TAIL), interval)
    if table.step != interval:
        raise ParameterError("interval", interval, f"at least {table.step:.3g}, for the losses that this plan has")
    index, mass = ends_of(table)
    # a wrong ratio moves the loss: what that can add to any delta goes to +inf
    given_away = table.truncated + 4 * table.ratio_error
    grown = 1 + table.mass_error
    held = mass * np.exp(index * table.step) * grown
    return [
        (dict(zip(index.tolist(), held.tolist(), strict=True)), given_away),
        (dict(zip((-index).tolist(), (mass * grown).tolist(), strict=True)), given_away + table.zero_mass * grown),
    ]
