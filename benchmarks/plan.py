"""Seconds of a plan with certificate: K = 3 levels at several n, and K = 50 levels, with one copy and with copies.

    python benchmarks/plan.py
    python benchmarks/plan.py --repeats 9 --copies-max 32

Each repetition plans for a delta of its own (1e-6 apart, relatively), so that no cache of the process helps it. CPU
seconds of this one process; wall-clock seconds differ on a busy machine.
"""

from __future__ import annotations

import argparse
import statistics
import time

import numpy as np

from segshuffle.pipeline.design import level_counts
from segshuffle.protocols.base import Problem
from segshuffle.protocols.proven import ProvenSegmented

CASES = [(3, 5_000), (3, 50_000), (3, 10**6), (3, 10**9), (50, 5_000), (50, 10**6), (50, 10**9)]


def problem_of(levels: int, n_users: int, repeat: int, args: argparse.Namespace) -> Problem:
    """Levels from 0.5 to 2, as many users at each."""
    return Problem(
        domain_size=args.domain_size,
        set_size=args.set_size,
        levels=tuple(np.geomspace(0.5, 2.0, levels).tolist()),
        level_counts=level_counts(n_users, [1 / levels] * levels),
        delta=0.01 / n_users * (1 + 1e-6 * repeat),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--domain-size", type=int, default=128)
    parser.add_argument("--set-size", type=int, default=8)
    parser.add_argument("--copies-max", type=float, default=32.0)
    parser.add_argument("--max-messages", type=float, default=40.0, help="budget of the last column")
    args = parser.parse_args()

    methods = {
        "one copy": ProvenSegmented(),
        "copies": ProvenSegmented(copies_max=args.copies_max),
        f"copies, {args.max_messages:g} messages": ProvenSegmented(
            copies_max=args.copies_max, max_messages=args.max_messages
        ),
    }
    print(f"d = {args.domain_size}, s = {args.set_size}, median CPU seconds of {args.repeats} plans (slowest)")
    print(f"{'K':>3} {'n':>11}" + "".join(f"{name:>26}" for name in methods))
    for levels, n_users in CASES:
        cells = []
        for number, method in enumerate(methods.values()):
            spent = []
            for repeat in range(args.repeats):
                problem = problem_of(levels, n_users, 1 + repeat + args.repeats * number, args)
                began = time.process_time()
                method.plan(problem)
                spent.append(time.process_time() - began)
            cells.append(f"{statistics.median(spent):.2f} ({max(spent):.2f})")
        print(f"{levels:>3} {n_users:>11}" + "".join(f"{cell:>26}" for cell in cells), flush=True)


if __name__ == "__main__":
    main()
