"""Predicted errors of a plan's estimates, from public numbers."""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from segshuffle.arrays import FloatArray
from segshuffle.errors import ParameterError
from segshuffle.plans.item_variance import ItemVariance, blanket_quantile, coverage_of_nothing
from segshuffle.plans.plan import Plan

#: Probability that an interval contains its item's share; also, that no item that nobody holds is told from zero.
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Expected:
    """Expected errors of a plan's estimates.

    Parameters
    ----------
    deviation : float
        Standard deviation of the estimate of an item that nobody holds, as a share of the users.
    threshold : float
        An item is told from zero if its estimate is larger, as a share of the users.
    smallest : float
        Least share with which an item is told from zero with probability 0.95. With the same probability no item that
        nobody holds is told from zero.
    coverage : float
        Exact probability that the 95 % interval of an item that nobody holds contains 0.
    top : int or None
        Number of top items: the most frequent items of a guess.
    relative : float
        The largest error of a top item: root of its expected squared error (of noise, and of cutting if sizes of sets
        are guessed), divided by its share.
    share : float
        Share of the item with this error.
    lost : float
        Share of an item's holders who do not send it, because larger sets are cut: the error of cutting alone.
    """

    deviation: float
    threshold: float
    smallest: float
    coverage: float
    top: int | None = None
    relative: float = math.nan
    share: float = math.nan
    lost: float = 0.0

    def as_dict(self, n_users: int) -> dict[str, Any]:
        """Return the JSON-ready form, in users and as shares."""
        values: dict[str, Any] = {
            "deviation_users": self.deviation * n_users,
            "deviation": self.deviation,
            "told_from_zero_above": self.threshold,
            "smallest_share_told_from_zero": self.smallest,
            "coverage_of_items_held_by_nobody": self.coverage,
        }
        if self.top is not None:
            values |= {"top": self.top, "top_error": self.relative, "top_share": self.share}
            values["top_error_from_cutting"] = self.lost
        return values

    def sentences(self, n_users: int) -> list[str]:
        """Say these errors in words."""
        sentences = [
            f"The estimate of a rare item has a standard deviation of {self.deviation * n_users:.3g} users "
            f"({100 * self.deviation:.3g} %).",
            f"An estimate above {100 * self.threshold:.3g} % tells its item from zero (recognises it as held). With "
            f"probability {CONFIDENCE:g} all such items really are held.",
            f"An item with at least {100 * self.smallest:.3g} % of the users gets there with probability "
            f"{CONFIDENCE:g}."
            if self.smallest <= 1.0
            else "No item gets there reliably, not even one that all users hold.",
            f"The 95 % interval of an item that nobody holds contains 0 in {100 * self.coverage:.3g} % of all "
            "collections. This is computed exactly; it is not 95 % because counts are whole numbers.",
        ]
        if self.top is not None:
            cutting = f"; cutting alone gives {100 * self.lost:.3g} %" if self.lost else ""
            sentences.append(
                f"Each of the guess's {self.top} most frequent items is off by at most {100 * self.relative:.3g} % "
                f"of its share (root mean square{cutting})."
            )
            sentences.append(
                f"The largest of these errors is that of the item with {100 * self.share:.3g} % of the users."
            )
        return sentences


def expected(plan: Plan, shares: FloatArray | None = None, top: int = 20, kept: float = 1.0) -> Expected:
    """Compute the expected errors of a plan.

    Parameters
    ----------
    plan : Plan
        A plan with a number of copies (messages about a held item) for each level.
    shares : ndarray of float, shape (domain_size,), optional
        A public guess of the items' shares of the users.
    top : int
        Number of top items.
    kept : float
        Share of its holders who still send an item after larger sets are cut.
    """
    variance, z = ItemVariance.of(plan), float(special.ndtri(CONFIDENCE))
    # the share whose estimate exceeds the threshold with probability CONFIDENCE, with the variance at this share
    threshold = threshold_of(plan)
    smallest = float(variance.ends(np.array(threshold), z)[1])
    rare = Expected(math.sqrt(variance.noise), threshold, smallest, coverage_of_nothing(plan, CONFIDENCE))
    if shares is None:
        return rare
    share, number = hardest_share(shares, top), min(top, int(np.count_nonzero(shares)))
    squares = float(variance.at(kept * share)) + loss_of([share], kept, plan.problem.n_users)
    return replace(rare, top=number, relative=math.sqrt(squares) / share, share=share, lost=1.0 - kept)


def loss_of(shares: ArrayLike, kept: float, n_users: int) -> float:
    """Return the expected squared error of cutting alone, summed over items that keep a share `kept` of their holders.

    It has the bias, and a bound on the variance because users choose what they send at random.
    """
    held = np.asarray(shares, dtype=float)
    return float(((1.0 - kept) ** 2 * held**2 + kept * (1.0 - kept) * held / n_users).sum())


def hardest_share(shares: FloatArray, top: int) -> float:
    """Return the share of the least frequent of the top items, which has the largest relative error.

    Raises
    ------
    ParameterError
        If all shares are 0.
    """
    top_shares = np.sort(shares[shares > 0.0])[::-1][:top]
    if not top_shares.size:
        raise ParameterError("frequencies", "all 0", "positive for some item")
    return float(top_shares[-1])


def threshold_of(plan: Plan) -> float:
    """Compute the share above which estimates are told from 0, for all items at once, from the dummies' exact law."""
    most = blanket_quantile(plan, (1.0 - CONFIDENCE) / plan.problem.domain_size)
    return float(plan.scheme.estimate(most, plan.problem.level_counts))
