"""Cost of one certified delta of the published segmented accountant, from a thousand to a trillion users.

    .venv/bin/python benchmarks/delta_over_n.py [--repeats 15]

For every number of users, the epsilon is searched at which delta is about 1e-8. If all items are sent, delta may be
larger at every epsilon; then the largest epsilon tried is used. The time is the median processor time of the calls at
this epsilon. The target is 20 ms for every n.
"""

from __future__ import annotations

import argparse
import math
from functools import partial

from timing import median_seconds

from segshuffle.numerics.hockey_stick import CountPair, hockey_stick
from segshuffle.numerics.laws import BinomialLaw

DOMAIN_SIZE = 128
TARGET_MS = 20.0
#: Delta that is searched for, and the relative width that is asked for.
DELTA, RTOL = 1e-8, 1e-4
LARGEST_EPSILON = 10.0


def published_pair(n_users: int, sampling_rate: float) -> CountPair:
    """Return Theorem 3's pair with one blanket message per user."""
    return CountPair(sampling_rate, math.inf, BinomialLaw(n_users - 1, 2.0 / DOMAIN_SIZE))


def epsilon_for(pair: CountPair) -> float:
    """Find the epsilon by bisection of its logarithm; the largest one tried if delta is above `DELTA` everywhere."""
    low, high = math.log(1e-9), math.log(LARGEST_EPSILON)
    for _ in range(24):
        middle = 0.5 * (low + high)
        if hockey_stick(pair=pair, epsilon=math.exp(middle), rtol=0.05).upper > DELTA:
            low = middle
        else:
            high = middle
    return math.exp(high)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--repeats", type=int, default=15, help="timed calls per row (default: 15)")
    options = parser.parse_args()

    print(f"{'n':>6} {'lambda':>6} {'epsilon':>10} {'ms':>8} {'lower':>14} {'upper':>14} {'rel. width':>10}")
    slowest = 0.0
    for exponent in range(3, 13):
        for sampling_rate in (0.5, 1.0):
            pair = published_pair(10**exponent, sampling_rate)
            epsilon = epsilon_for(pair)
            call = partial(hockey_stick, pair=pair, epsilon=epsilon, rtol=RTOL)
            found, took = call(), 1e3 * median_seconds(call, options.repeats)
            slowest = max(slowest, took)
            print(
                f"{f'1e{exponent}':>6} {sampling_rate:>6g} {epsilon:>10.4g} {took:>8.2f} "
                f"{found.lower:>14.8e} {found.upper:>14.8e} {found.relative_width:>10.2e}"
            )
    print(f"slowest: {slowest:.2f} ms (target: {TARGET_MS:g} ms)")


if __name__ == "__main__":
    main()
