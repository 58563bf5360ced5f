"""Error, messages and CPU seconds of plans with clustered and with signed dummies, compared with single dummies.

    python benchmarks/blankets.py            # single plans
    python benchmarks/blankets.py --panels   # and the 18 panels: messages for 1.10 times the error of the weighted
                                             # Gaussian curator, and the error with many messages

Errors are divided by the weighted Gaussian curator's. CPU seconds of this one process, without cached calibrations.
"""

from __future__ import annotations

import argparse
import functools
import itertools
import math
import time

from segshuffle.accounting.collections.product import delta_interval
from segshuffle.blankets.signed import Signed
from segshuffle.plans.plan import PLAIN, Plan, Problem
from segshuffle.plans.shares import level_counts
from segshuffle.protocols.central import BEST, DISCRETE_LAPLACE, WEIGHTED
from segshuffle.protocols.proven import SINGLE, ProvenSegmented

SPLITS = {"S1": [0.25, 0.5, 0.25], "S2": [0.5, 0.25, 0.25], "S3": [0.25, 0.25, 0.5]}
LEVELS = (0.5, 1.0, 2.0)
#: Messages, as a multiple of the Poisson plan's, that stand for an unlimited number.
MANY = 8.0


def show(words: str, method: object, problem: Problem) -> Plan:
    began = time.process_time()
    plan: Plan = method.plan(problem)  # type: ignore[attr-defined]
    spent = time.process_time() - began
    error = plan.mse_bound / WEIGHTED.plan(problem).mse_bound
    law = plan.scheme.law.as_dict()
    print(
        f"{words:<34} error {error:.4f}  messages {plan.messages_per_user:8.4f}  dummies {plan.blanket_per_user:8.4f}  "
        f"{spent:5.2f} s  {law}",
        flush=True,
    )
    return plan


clustered, signed = (functools.partial(ProvenSegmented, laws=(SINGLE, name)) for name in ("clustered", "signed"))


def panels() -> None:
    """Print the messages for 1.10 times the weighted Gaussian curator's error, and the errors with many messages."""
    logs, above = [], []
    for (d, s), n, (split, shares) in itertools.product([(17, 4), (128, 4), (128, 8)], [5_000, 50_000], SPLITS.items()):
        problem = Problem(d, s, LEVELS, level_counts(n, shares), 0.01 / n, PLAIN)
        gaussian = WEIGHTED.plan(problem).mse_bound
        single, best = (
            ProvenSegmented(copies_max=32.0, target_error=1.1 * gaussian, laws=laws).plan(problem)
            for laws in ((SINGLE,), (SINGLE, "clustered"))
        )
        ratio = best.messages_per_user / single.messages_per_user
        logs.append(math.log(ratio))
        room = min(curator.plan(problem).mse_bound for curator in (BEST, DISCRETE_LAPLACE)) / gaussian
        many = [ProvenSegmented(copies_max=32.0).plan(problem)]
        for copies in (1.0, 2.0, 4.0):
            single_messages = ProvenSegmented(copies_max=copies).plan(problem).messages_per_user
            many.append(signed(copies_max=copies, max_messages=MANY * single_messages).plan(problem))
        free = min(many, key=lambda plan: plan.mse_bound)
        if room <= 0.95 and free.mse_bound >= gaussian:
            above.append(f"d={d} s={s} n={n} {split}")
        print(
            f"d={d:<4} s={s} n={n:<6} {split}  poisson {single.messages_per_user:7.3f}  clustered "
            f"{best.messages_per_user:7.3f}  ratio {ratio:.3f}  best curator {room:.3f}  many messages: error "
            f"{free.mse_bound / gaussian:.3f} ({free.method}, {free.messages_per_user:.1f} messages)",
            flush=True,
        )
    print(f"geometric mean of ratios {math.exp(sum(logs) / len(logs)):.5f}, largest {math.exp(max(logs)):.4f}")
    print(f"panels with best curator <= 0.95 and many messages >= 1.00: {', '.join(above) or 'none'}")


def every_blanket(words: str, problem: Problem) -> None:
    """Print the CPU seconds of plans with every blanket, as `plan --dummies all` makes them."""
    began = time.process_time()
    for method in (ProvenSegmented, clustered, signed):
        method().plan(problem)
    print(f"all blankets, {words}: {time.process_time() - began:.2f} s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--panels", action="store_true", help="the 18 panels as well: minutes")
    args = parser.parse_args()

    for d, s in ((17, 1), (17, 4)):
        problem = Problem(d, s, LEVELS, level_counts(5_000, SPLITS["S1"]), 2e-6, PLAIN)
        every_blanket(f"three levels, d={d} s={s}", problem)
    eight = Problem(128, 8, (0.5,), (50_000,), 2e-7, PLAIN)
    show("s=8 eps=0.5: Poisson", ProvenSegmented(), eight)
    show("s=8 eps=0.5: clustered", clustered(), eight)
    one = Problem(17, 1, (1.0,), (5_000,), 2e-6, PLAIN)
    show("s=1 eps=1: Poisson", ProvenSegmented(), one)
    for budget in (2.0, 3.0):
        show(f"s=1 eps=1: signed, {budget:g} messages", signed(max_messages=budget), one)
    three = Problem(17, 1, LEVELS, level_counts(5_000, SPLITS["S1"]), 2e-6, PLAIN)
    for method in (ProvenSegmented, clustered, signed):
        show(f"s=1, S1: {method().name}, 4 messages", method(copies_max=4.0, max_messages=4.0), three)
    wide = Problem(10_000, 4, (0.5,), (50_000,), 2e-7, PLAIN)
    single = show("d=10000 s=4 eps=0.5: Poisson", ProvenSegmented(), wide)
    budget = 0.4 * single.messages_per_user
    show(f"  clustered, {budget:.1f} messages", clustered(max_messages=budget), wide)
    began = time.process_time()
    delta_interval(Signed(0.663, 0.85, 0.9863).pair(294.0, 1.0), pairs=1, epsilon=1.0)
    print(f"one certified delta of a signed pair: {time.process_time() - began:.3f} s")
    if args.panels:
        panels()


if __name__ == "__main__":
    main()
