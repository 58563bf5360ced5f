"""What assumptions cost: error on the 18 panels with fewer honest users, and CPU seconds of plans for three levels.

    python benchmarks/assumptions.py
    python benchmarks/assumptions.py --config config/quick.yaml --shares 0.9,0.5

First table: the largest error over all panels of a plan that relies on a share h of the users, over that of a plan that
relies on all, times h; expected errors for uniform frequencies. Second table: each plan is for a delta of its own (1e-6
apart, relatively), so that no cache of the process helps it; CPU seconds of this one process.
"""

from __future__ import annotations

import argparse
import statistics
import time
from dataclasses import replace
from pathlib import Path

import yaml

from segshuffle.pipeline.config import check_config
from segshuffle.pipeline.scenarios import scenarios
from segshuffle.protocols.assumptions import Assumptions
from segshuffle.protocols.base import Problem
from segshuffle.protocols.proven import ProvenSegmented
from segshuffle.studies.planning import problem_of

ROOT = Path(__file__).resolve().parents[1]
#: Three levels of MSNBC's sizes.
MSNBC = Problem(17, 4, (0.5, 1.0, 2.0), (1250, 2500, 1250), 2e-6)
CASES = {
    "none beyond the plain ones": Assumptions(),
    "sets of at most s items": Assumptions(sets="at-most"),
    "80 % honest": Assumptions(honest_fraction=0.8),
    "private levels": Assumptions(private_levels=True),
    **{f"{rounds} rounds": Assumptions(rounds=rounds) for rounds in (2, 10, 100)},
    "all of these, 10 rounds": Assumptions("at-most", 0.8, private_levels=True, rounds=10),
}


def honest_shares(problems: list[Problem], methods: dict[str, ProvenSegmented], shares: list[float]) -> None:
    """Print the largest ratio of errors times h, by method."""
    print(f"largest error over that of relying on all users, times h, {len(problems)} panels")
    print(f"{'h':>6}" + "".join(f"{name:>26}" for name in methods))
    errors = {name: [method.plan(each).mse_bound for each in problems] for name, method in methods.items()}
    for share in shares:
        cells = []
        for name, method in methods.items():
            some = [replace(each, assumptions=Assumptions(honest_fraction=share)) for each in problems]
            found = [method.plan(each).mse_bound for each in some]
            cells.append(share * max(one / all_ for one, all_ in zip(found, errors[name], strict=True)))
        print(f"{share:>6g}" + "".join(f"{cell:>26.4f}" for cell in cells), flush=True)


def seconds(methods: dict[str, ProvenSegmented], repeats: int) -> None:
    """Print the CPU seconds of a plan, by assumption and method."""
    print(f"\nmedian CPU seconds of {repeats} plans for three levels (slowest); d = 17, s = 4, n = 5000")
    print(f"{'assumptions':>28}" + "".join(f"{name:>26}" for name in methods))
    number = 0
    for name, assumptions in CASES.items():
        cells = []
        for method in methods.values():
            spent = []
            for _ in range(repeats):
                number += 1
                problem = replace(MSNBC, delta=MSNBC.delta * (1 + 1e-6 * number), assumptions=assumptions)
                began = time.process_time()
                method.plan(problem)
                spent.append(time.process_time() - began)
            cells.append(f"{statistics.median(spent):.2f} ({max(spent):.2f})")
        print(f"{name:>28}" + "".join(f"{cell:>26}" for cell in cells), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--config", type=Path, default=ROOT / "config/config.yaml", help="whose panels")
    parser.add_argument("--shares", default="0.95,0.9,0.8,0.7,0.6,0.5", help="shares h of honest users")
    parser.add_argument("--copies-max", type=float, default=32.0)
    parser.add_argument("--max-messages", type=float, default=16.0, help="budget of the last columns")
    parser.add_argument("--repeats", type=int, default=3)
    args = parser.parse_args()

    config = yaml.safe_load(args.config.read_text(encoding="utf-8"))
    check_config(config, schema=ROOT / "workflow/schemas/config.schema.yaml", where=str(args.config))
    problems = [problem_of(config, panel.setting, panel.split) for panel in scenarios(config)]
    budget = ProvenSegmented(copies_max=args.copies_max, max_messages=args.max_messages)
    methods = {
        "one copy": ProvenSegmented(),
        f"one copy, {args.max_messages:g} messages": ProvenSegmented(max_messages=args.max_messages),
        f"copies, {args.max_messages:g} messages": budget,
    }
    honest_shares(problems, methods, [float(share) for share in args.shares.split(",")])
    equal = {"equal copies": ProvenSegmented(equal_copies=True)}
    seconds({name: methods[name] for name in list(methods)[::2]} | equal, args.repeats)


if __name__ == "__main__":
    main()
