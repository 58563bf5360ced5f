"""Speed, width and memory of the blanket bounds, and their growth with the number of users.

Run: ``python benchmarks/blanket.py``. Targets: k-ary randomized response with n = 1e6, one bound in 1 s, a curve of 20
points in 10 s, less than 200 MB.
"""

from __future__ import annotations

import resource
from functools import partial

import numpy as np
from timing import median_seconds

from segshuffle.accounting.single_message.decomposition import BlanketBound, DatasetsBound
from segshuffle.accounting.single_message.randomizers.composed import JointComposition
from segshuffle.accounting.single_message.randomizers.laplace import Laplace
from segshuffle.accounting.single_message.randomizers.reference import Randomizer
from segshuffle.accounting.single_message.randomizers.subsets import KaryRandomizedResponse

REPEATS = 5


def growth(name: str, randomizer: Randomizer) -> None:
    print(f"\n{name}, delta = 0.01/n, rtol = 1e-4: median of {REPEATS}")
    print("       n   eps lower   eps upper  upper s  lower s  delta s  width")
    for n in (10**2, 10**3, 10**4, 10**5, 10**6, 10**7, 10**8, 10**10, 10**12):
        bounds = [bound(randomizer=randomizer, n_users=n) for bound in (BlanketBound, DatasetsBound)]
        high, low = (bound.epsilon(delta=0.01 / n) for bound in bounds)
        upper, lower = (median_seconds(partial(bound.epsilon, delta=0.01 / n), REPEATS) for bound in bounds)
        once = median_seconds(partial(bounds[0].delta, epsilon=high), REPEATS)
        width = bounds[0].delta(epsilon=high).relative_width
        print(f"{n:8.0e} {low:11.6g} {high:11.6g} {upper:8.3f} {lower:8.3f} {once:8.4f}  {width:.1e}")


def all_points(bound: BlanketBound, deltas: list[float]) -> list[float]:
    return [bound.epsilon(delta=delta) for delta in deltas]


def curve(randomizer: Randomizer, n: int) -> None:
    deltas = np.logspace(-12, -5, 20)
    for bound in (BlanketBound, DatasetsBound):
        made = bound(randomizer=randomizer, n_users=n)
        seconds = median_seconds(partial(all_points, made, deltas.tolist()), REPEATS)
        print(f"{bound.__name__}: curve of {deltas.size} points, n = {n:.0e}: {seconds:.2f} s")


def accuracy(randomizer: Randomizer, n: int, epsilon: float) -> None:
    print(f"\nDeltas of both bounds, n = {n:.0e}, by rtol")
    for rtol in (1e-2, 1e-4, 1e-6, 1e-8):
        line = f"{rtol:.0e}"
        for bound in (BlanketBound, DatasetsBound):
            once = partial(bound(randomizer=randomizer, n_users=n, rtol=rtol).delta, epsilon=epsilon)
            line += f"   {median_seconds(once, REPEATS):.4f} s, width {once().relative_width:.1e}"
        print(line)


def main() -> None:
    krr = KaryRandomizedResponse(local_epsilon=4.0, domain_size=10)
    growth("10-RR, epsilon_0 = 4", krr)
    third = KaryRandomizedResponse(local_epsilon=4 / 3, domain_size=10)
    growth("3-joint of 10-RR, epsilon_0 = 3 * 4/3", JointComposition(components=(third,) * 3))
    growth("Laplace on [0, 1], epsilon_0 = 2, 400 cells", Laplace(local_epsilon=2.0))
    print()
    curve(krr, 10**6)
    accuracy(krr, 10**6, 0.05)
    print(f"\npeak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB (imports included)")


if __name__ == "__main__":
    main()
