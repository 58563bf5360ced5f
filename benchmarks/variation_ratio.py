"""Speed and accuracy of the variation-ratio accountant, and its growth with the number of users.

Run: ``python benchmarks/variation_ratio.py``. Target: general randomizers, n = 1e8, delta = 0.01/n, epsilon to
a relative 1e-6 in 50 ms (the paper's Table 5: 106 s and 118 s for 20 bisections).

Times are medians of the processor time of this process; wall-clock time is printed for the target.
"""

from __future__ import annotations

import math
import resource
import time
from functools import partial

from timing import median_seconds

from segshuffle.accounting.single_message import variation_ratio_tables as vr
from segshuffle.accounting.single_message.variation_ratio import LowerVariationBound, VariationBound, VariationRatio

REPEATS = 7


def growth(name: str, randomizer: VariationRatio) -> None:
    print(f"\n{name}, delta = 0.01/n, rtol = 1e-6: median of {REPEATS}")
    print("       n     epsilon    analytic  asymptotic  epsilon ms  delta ms  width")
    for n in (10**3, 10**4, 10**5, 10**6, 10**7, 10**8, 10**9, 10**10, 10**12):
        bound = VariationBound(variation=randomizer, n_users=n)
        search = partial(bound.epsilon, delta=0.01 / n)
        found = search()
        once = partial(bound.delta, epsilon=min(found, 300.0))
        closed = [form(delta=0.01 / n) for form in (bound.analytic_epsilon, bound.asymptotic_epsilon)]
        times = [1e3 * median_seconds(function, REPEATS) for function in (search, once)]
        width = once().relative_width
        print(
            f"{n:8.0e} {found:11.6g} {closed[0]:11.6g} {closed[1]:11.6g} {times[0]:11.1f} {times[1]:9.1f}  {width:.1e}"
        )


def table_5() -> None:
    print("\nTable 5: general randomizers, delta = 0.01/n; milliseconds: processor | wall")
    print("eps0       n     epsilon      T = 20      T = 10   rtol 1e-6       T = 20")
    for local in (1.0, 3.0):
        for n in (10**4, 10**6, 10**8):
            bound = VariationBound(variation=vr.general(local_epsilon=local), n_users=n)
            line = f"{local:4.1f} {n:7.0e} {bound.epsilon(delta=0.01 / n):11.6g}"
            for iterations in (20, 10):
                line += f" {bound.bisected_epsilon(delta=0.01 / n, iterations=iterations):11.6g}"
            for function in (bound.epsilon, partial(bound.bisected_epsilon, iterations=20)):
                call = partial(function, delta=0.01 / n)
                times = [1e3 * median_seconds(call, REPEATS, clock) for clock in (time.process_time, time.perf_counter)]
                line += f" {times[0]:5.0f}|{times[1]:5.0f}"
            print(line)


def lower_bound() -> None:
    print("\nLower bound, q = 6, q' = 2 (uneven split), epsilon = 3/sqrt(n), rtol = 1e-4")
    lower = VariationRatio(log_p=1.0, beta=0.2, log_q=math.log(6.0), log_q_other=math.log(2.0))
    for n in (10**3, 10**6, 10**9, 10**12):
        call = partial(LowerVariationBound(lower=lower, n_users=n).delta, epsilon=3.0 / math.sqrt(n))
        took = 1e3 * median_seconds(call, REPEATS)
        print(f"{n:8.0e} {call().lower:11.6g} {took:9.1f} ms  width {call().relative_width:.1e}")


def main() -> None:
    table_5()
    growth("general, epsilon_0 = 1", vr.general(local_epsilon=1.0))
    growth("general, epsilon_0 = 3", vr.general(local_epsilon=3.0))
    growth("10-RR, epsilon_0 = 4", vr.randomized_response(local_epsilon=4.0, domain_size=10))
    growth("balls into 64 bins", vr.balls_into_bins(domain_size=64, special_bins=1))
    lower_bound()
    print(f"\npeak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB (imports included)")


if __name__ == "__main__":
    main()
