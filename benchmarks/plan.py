"""Seconds of a plan with certificate: K = 3 levels at several n, and K = 50 levels, with one copy and with copies.

    python benchmarks/plan.py
    python benchmarks/plan.py --repeats 9 --copies-max 32

Each repetition plans for a delta of its own (1e-6 apart, relatively), so that no cache of the process helps it. CPU
seconds of this one process; wall-clock seconds differ on a busy machine.
"""

from __future__ import annotations

import argparse
from functools import partial

import numpy as np
from timing import seconds_of, shown

from segshuffle.plans.plan import PLAIN, Problem
from segshuffle.plans.shares import level_counts
from segshuffle.protocols.proven import ProvenSegmented

DOMAIN_SIZE, SET_SIZE = 128, 8
#: Messages of the last column.
BUDGET = 40.0
CASES = [(3, 5_000), (3, 50_000), (3, 10**6), (3, 10**9), (50, 5_000), (50, 10**6), (50, 10**9)]


def problem_of(levels: int, n_users: int, repeat: int) -> Problem:
    """Return a problem with levels from 0.5 to 2, and equally many users at each."""
    return Problem(
        domain_size=DOMAIN_SIZE,
        set_size=SET_SIZE,
        levels=tuple(np.geomspace(0.5, 2.0, levels).tolist()),
        level_counts=level_counts(n_users, [1 / levels] * levels),
        delta=0.01 / n_users * (1 + 1e-6 * repeat),
        assumptions=PLAIN,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--copies-max", type=float, default=32.0)
    args = parser.parse_args()

    methods = {
        "one copy": ProvenSegmented(),
        "copies": ProvenSegmented(copies_max=args.copies_max),
        f"copies, {BUDGET:g} messages": ProvenSegmented(copies_max=args.copies_max, max_messages=BUDGET),
    }
    print(f"d = {DOMAIN_SIZE}, s = {SET_SIZE}, median CPU seconds of {args.repeats} plans (slowest)")
    print(f"{'K':>3} {'n':>11}" + "".join(f"{name:>26}" for name in methods))
    for levels, n_users in CASES:
        cells = []
        for number, method in enumerate(methods.values()):
            repeats = range(1 + args.repeats * number, 1 + args.repeats * (number + 1))
            plans = (partial(method.plan, problem_of(levels, n_users, repeat)) for repeat in repeats)
            cells.append(shown(seconds_of(plans)))
        print(f"{levels:>3} {n_users:>11}" + "".join(f"{cell:>26}" for cell in cells), flush=True)


if __name__ == "__main__":
    main()
