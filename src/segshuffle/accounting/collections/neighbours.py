"""Collections whose neighbours do not exchange items: a user's items are taken away, or the user with all dummies.

Names are those of dp_accounting: replace-one (exchanged, `product`), replace-special (the user's items are taken away,
its dummies still come), and add-or-remove-one (the user sends nothing at all).

If s items are taken away, s counters have A in one world and B in the other. If a user of n is not there, its dummies
are missing from all d counters: with single dummies, s counters have A at mean mu against B at mu' = mu (n - 1)/n. The
others have Poisson(mu) against Poisson(mu'), and enter by their total alone (docs/proof.md).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from segshuffle.accounting.collections.product import RepeatedPair, check_product, gaussian_scale, on_one_lattice
from segshuffle.blankets.atoms import AtomPair, Atoms
from segshuffle.blankets.base import CounterPair
from segshuffle.blankets.pairs import CountPair
from segshuffle.blankets.poisson import POISSON, ItemPair
from segshuffle.errors import ParameterError
from segshuffle.numerics.intervals import DeltaInterval
from segshuffle.numerics.laws import log_poisson
from segshuffle.numerics.one_sided import ProductBound, both_ways
from segshuffle.numerics.ranges import check_integer
from segshuffle.numerics.search import Bound

#: Relations of neighbours, as dp_accounting spells them in capitals.
NEIGHBOURS = {
    "replace-one": "the user's set is exchanged for another",
    "replace-special": "the user's items are taken away, and its dummies are still sent",
    "add-or-remove-one": "the user takes part or not, dummies included",
}
#: -log of the mass of a tail that counts as a loss of +inf, and cells for every standard deviation of the loss.
_LOG_TAIL, _CELLS = 75.0, 200
#: Largest mean of a total that is tabulated count by count.
_LARGEST_TOTAL = 1e9


@dataclass(frozen=True)
class _Missing(AtomPair):
    """A counter with a user's copies at mean `mean` against one without them at mean `less`."""

    mean: float
    less: float
    copies: float

    @property
    def variance(self) -> float:
        """Variance of the counter without the user."""
        return self.less

    @property
    def zero_mass(self) -> float:
        """Probability of fewer messages than the certain copies."""
        return ItemPair(self.less, self.copies).zero_mass if self.copies else 0.0

    def _atoms(self, log_tail: float) -> Atoms:
        low, high = POISSON.parts(self.less)[0].window(log_tail)
        high = max(high, POISSON.parts(self.mean)[0].window(log_tail)[1])
        pair = ItemPair(self.mean, self.copies) if self.copies else None
        if pair:
            low, high = max(low, pair.floor), high + pair.floor + 1
        count = np.arange(low, high + 1, dtype=float)
        ratio = count * -math.log1p((self.less - self.mean) / self.mean) - (self.mean - self.less)
        error = 1e-13 * float(np.abs(ratio).max()) + 4e-16 * self.mean
        if pair:
            copied = pair.log_ratio(count)
            ratio, error = ratio + copied, error + 1e-13 * (pair.floor + 1) * (float(np.abs(copied).max()) + 1)
        mass = np.exp(log_poisson(count - self.less, self.less))
        return Atoms(ratio, mass, self.zero_mass, 6 * math.exp(-log_tail), 1e-11, error)


class _Worse(Bound):
    """The larger of two bounds, one for each direction."""

    ceiling = math.inf

    def __init__(self, parts: Sequence[RepeatedPair]) -> None:
        tables = on_one_lattice(parts, gaussian_scale([(parts[0][0], 1)]) / _CELLS, _LOG_TAIL)
        directions = zip(*(both_ways(table) for table, _ in tables), strict=True)
        counts = [count for _, count in tables]
        self.bounds = [ProductBound(list(zip(each, counts, strict=True))) for each in directions]

    def interval(self, epsilon: float, rtol: float) -> DeltaInterval:
        """Return [0, the larger upper bound]."""
        return DeltaInterval(0.0, max(each.interval(epsilon, rtol).upper for each in self.bounds))


def taken_away(pair: CounterPair, *, items: int) -> Bound:
    """Return the bound if `items` items of a user are taken away (replace-special; kind: upper).

    Parameters
    ----------
    pair : CounterPair
        Counters of an item that is held and of one that is not, of any blanket with independent counters.
    items : int
        Items s >= 1 of the user, in all collections together.
    """
    check_product(pairs=items)
    return _Worse([(pair, items)])


def absent(pair: CounterPair, *, items: int, n_users: int, domain_size: int, rounds: int = 1) -> Bound:
    """Return the bound if one of n users may be absent, dummies included (add-or-remove-one; kind: upper).

    Parameters
    ----------
    pair : CounterPair
        Counters in a blanket of single dummies, to which all n users contribute equally.
    items : int
        Items s >= 1 that the user holds.
    n_users : int
        Users n >= 2, the one in question included.
    domain_size : int
        Items d >= s that there are.
    rounds : int
        Collections of the same users.

    Raises
    ------
    ParameterError
        If the dummies are not single: for other laws this is not proven.
    """
    if not isinstance(pair, CountPair) or pair.blanket != POISSON:
        raise ParameterError("neighbours", "add-or-remove-one", "proven for single dummies (poisson) only")
    check_integer("users", n_users, 2)
    check_integer("domain_size", domain_size, items)
    check_product(pairs=items * rounds)
    mean, others = pair.blanket_mean, domain_size - items
    less = mean * (n_users - 1) / n_users
    if others * mean > _LARGEST_TOTAL:
        raise ParameterError("domain_size", domain_size, f"at most {_LARGEST_TOTAL:g} dummies in all")
    parts: list[RepeatedPair] = [(_Missing(mean, less, pair.copies), items * rounds)]
    if others:
        parts.append((_Missing(others * mean, others * less, 0.0), rounds))
    return _Worse(parts)
