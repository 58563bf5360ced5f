"""Processor time of composing equal collections, as a ratio to dp_accounting, which is given our loss distribution.

    python benchmarks/peers.py
    python benchmarks/peers.py --collections 7,30 --repeats 9

First for collections of a plan, then for collections of one message per user. Both sides take turns, and the ratio is
the median. A ratio of deltas below 1 means that ours is the smaller bound.
"""

from __future__ import annotations

import argparse
import math
import statistics
from collections.abc import Callable
from functools import partial

from dp_accounting.pld import privacy_loss_distribution as pld
from timing import seconds_of

from segshuffle.accounting.collections.composition import composed_delta, privacy_loss_distribution
from segshuffle.accounting.single_message.decomposition import BlanketBound
from segshuffle.accounting.single_message.randomizers.subsets import KaryRandomizedResponse
from segshuffle.accounting.single_message.rounds import RoundsBound
from segshuffle.blankets.poisson import ItemPair

#: One collection of a plan with d = 17, s = 4.
PAIR, PAIRS = ItemPair(400.0, 0.5), 4
#: One collection with one message per user: randomized response among ten values, with this local epsilon.
LOCAL_EPSILON, N_USERS = 4.0, 10**4


def of_a_plan(count: int) -> tuple[float, Callable[[], float], Callable[[], float]]:
    """Return an epsilon, and our and their delta of so many collections of a plan."""
    epsilon = 0.3 * count**0.5
    ours = partial(composed_delta, [(PAIR, PAIRS)] * count, epsilon=epsilon)

    def theirs() -> float:
        found = privacy_loss_distribution([(PAIR, PAIRS * count)])
        return float(found.get_delta_for_epsilon(epsilon))

    return epsilon, ours, theirs


def of_one_message(count: int) -> tuple[float, Callable[[], float], Callable[[], float]]:
    """Return the same for one message per user; both are given the table of one collection."""
    epsilon = 0.5 * count**0.5
    one = BlanketBound(randomizer=KaryRandomizedResponse(local_epsilon=LOCAL_EPSILON, domain_size=10), n_users=N_USERS)
    bound = RoundsBound(lambda each: one.delta(epsilon=each).upper, ceiling=LOCAL_EPSILON, rounds=count)
    table = bound.table
    points = range(table.first, table.first + table.mass.size)
    losses = {k: mass * math.exp(k * table.step) for k, mass in zip(points, table.mass.tolist(), strict=True)}

    def ours() -> float:
        return bound.interval(epsilon, 1e-3).upper

    def theirs() -> float:
        found = pld.PrivacyLossDistribution.create_from_rounded_probability(losses, table.zero_mass, table.step)
        return float(found.self_compose(count).get_delta_for_epsilon(epsilon))

    return epsilon, ours, theirs


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--collections", default="1,10,100,365", help="numbers of collections")
    parser.add_argument("--repeats", type=int, default=5)
    args = parser.parse_args()
    for name, case in (("a plan", of_a_plan), ("one message per user", of_one_message)):
        print(f"{name}\ncollections  epsilon     delta  time ours/theirs  delta ours/theirs")
        for count in map(int, args.collections.split(",")):
            epsilon, ours, theirs = case(count)
            times = [seconds_of([ours, theirs]) for _ in range(args.repeats)]
            ratio = statistics.median(one / other for one, other in times)
            print(f"{count:>11} {epsilon:>8.3f} {ours():>9.2e} {ratio:>17.2f} {ours() / theirs():>18.6f}")


if __name__ == "__main__":
    main()
