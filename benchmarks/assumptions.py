"""What assumptions cost: error on the 24 panels with fewer honest users, and CPU seconds of plans for three levels.

    python benchmarks/assumptions.py
    python benchmarks/assumptions.py --config config/quick.yaml --shares 0.9,0.5

First table: h times the error of a plan that relies on a share h of the users, divided by that of a plan that relies on
all of them. The largest value of all panels is printed, for equally frequent items. Second table: CPU seconds of this
one process. Each plan is for a delta of its own (1e-6 apart, relatively), so that no cache of the process helps it.
"""

from __future__ import annotations

import argparse
import itertools
from dataclasses import replace
from functools import partial
from pathlib import Path

import yaml
from timing import seconds_of, shown

from segshuffle.plans.plan import PLAIN, Assumptions, Problem
from segshuffle.protocols.proven import ProvenSegmented
from segshuffle.reproduction.config import check_config
from segshuffle.reproduction.scenarios import scenarios
from segshuffle.reproduction.studies.planning import problem_of

ROOT = Path(__file__).resolve().parents[1]
#: Three levels of MSNBC's sizes.
MSNBC = Problem(17, 4, (0.5, 1.0, 2.0), (1250, 2500, 1250), 2e-6, PLAIN)
CASES = {
    "exactly s items, all honest": PLAIN,
    "sets of at most s items": Assumptions(sets="at-most"),
    "80 % honest": Assumptions("exactly", honest_fraction=0.8),
    "private levels": Assumptions("exactly", private_levels=True),
    **{f"{rounds} rounds": Assumptions("exactly", rounds=rounds) for rounds in (2, 10, 100)},
    "all of these, 10 rounds": Assumptions("at-most", 0.8, private_levels=True, rounds=10),
}


def honest_shares(problems: list[Problem], methods: dict[str, ProvenSegmented], shares: list[float]) -> None:
    """Print the largest ratio of errors times h, by method."""
    print(f"error divided by that of relying on all users, times h: largest of {len(problems)} panels")
    print(f"{'h':>6}" + "".join(f"{name:>26}" for name in methods))
    errors = {name: [method.plan(each).mse_bound for each in problems] for name, method in methods.items()}
    for share in shares:
        cells = []
        for name, method in methods.items():
            some = [replace(each, assumptions=Assumptions("exactly", honest_fraction=share)) for each in problems]
            found = [method.plan(each).mse_bound for each in some]
            cells.append(share * max(one / all_ for one, all_ in zip(found, errors[name], strict=True)))
        print(f"{share:>6g}" + "".join(f"{cell:>26.4f}" for cell in cells), flush=True)


def seconds(methods: dict[str, ProvenSegmented], repeats: int) -> None:
    """Print the CPU seconds of a plan, by assumption and method."""
    print(f"\nmedian CPU seconds of {repeats} plans for three levels (slowest); d = 17, s = 4, n = 5000")
    print(f"{'assumptions':>28}" + "".join(f"{name:>26}" for name in methods))
    number = itertools.count(1)
    for name, assumptions in CASES.items():
        cells = []
        for method in methods.values():
            deltas = (MSNBC.delta * (1 + 1e-6 * next(number)) for _ in range(repeats))
            problems = (replace(MSNBC, delta=delta, assumptions=assumptions) for delta in deltas)
            cells.append(shown(seconds_of(partial(method.plan, problem) for problem in problems)))
        print(f"{name:>28}" + "".join(f"{cell:>26}" for cell in cells), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--config", type=Path, default=ROOT / "config/config.yaml", help="configuration of the panels")
    parser.add_argument("--shares", default="0.95,0.9,0.8,0.7,0.6,0.5", help="shares h of honest users")
    parser.add_argument("--repeats", type=int, default=3)
    args = parser.parse_args()

    config = yaml.safe_load(args.config.read_text(encoding="utf-8"))
    check_config(config, schema=ROOT / "workflow/schemas/config.schema.yaml", where=str(args.config))
    problems = [problem_of(config, panel.setting, panel.split) for panel in scenarios(config)]
    methods = {
        "one copy": ProvenSegmented(),
        "one copy, 16 messages": ProvenSegmented(max_messages=16.0),
        "copies, 16 messages": ProvenSegmented(copies_max=32.0, max_messages=16.0),
    }
    honest_shares(problems, methods, [float(share) for share in args.shares.split(",")])
    equal = {"equal copies": ProvenSegmented(equal_copies=True)}
    seconds({name: methods[name] for name in list(methods)[::2]} | equal, args.repeats)


if __name__ == "__main__":
    main()
