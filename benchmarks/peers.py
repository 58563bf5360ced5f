"""Processor time of composing equal collections, as a ratio to dp_accounting, which is given our loss distribution.

    python benchmarks/peers.py
    python benchmarks/peers.py --collections 7,30 --repeats 9

Both take turns, and the ratio is the median. A ratio of deltas below 1 means that ours is the smaller bound.
"""

from __future__ import annotations

import argparse
import statistics
from functools import partial

from timing import seconds_of

from segshuffle.accounting.collections.composition import composed_delta, privacy_loss_distribution
from segshuffle.blankets.poisson import ItemPair

#: One collection of a plan with d = 17, s = 4.
PAIR, PAIRS = ItemPair(400.0, 0.5), 4


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--collections", default="1,10,100,365", help="numbers of collections")
    parser.add_argument("--repeats", type=int, default=5)
    args = parser.parse_args()
    print("collections  epsilon     delta  time ours/theirs  delta ours/theirs")
    for count in map(int, args.collections.split(",")):
        epsilon, collections = 0.3 * count**0.5, [(PAIR, PAIRS)] * count
        ours = partial(composed_delta, collections, epsilon=epsilon)

        def theirs(count: int = count, epsilon: float = epsilon) -> float:
            found = privacy_loss_distribution([(PAIR, PAIRS * count)])
            return float(found.get_delta_for_epsilon(epsilon))

        times = [seconds_of([ours, theirs]) for _ in range(args.repeats)]
        ratio = statistics.median(one / other for one, other in times)
        print(f"{count:>11} {epsilon:>8.3f} {ours():>9.2e} {ratio:>17.2f} {ours() / theirs():>18.6f}")


if __name__ == "__main__":
    main()
