"""CPU time of every answer of `account --randomizer` over the corners of what it accepts.

    .venv/bin/python benchmarks/account_corners.py [--only krr,laplace] [--slowest 20]

An answer asks all accountants that apply; its time is theirs together, caches emptied before. The figure to reach is
5 s for every answer. The slowest answers are printed with the accountant that took most of it.
"""

from __future__ import annotations

import argparse
import contextlib
import time
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any, NamedTuple

from segshuffle.accounting.single_message import decomposition
from segshuffle.accounting.single_message.accountants import Mechanism
from segshuffle.accounting.single_message.amplification import applicable, ask
from segshuffle.accounting.single_message.mechanisms import mechanism
from segshuffle.errors import ParameterError

TARGET_SECONDS = 5.0
USERS = (2, 3, 4, 10, 1000, 10**6, 10**10, 10**15)
LOCAL_EPSILONS = (1e-6, 0.1, 1.0, 10.0, 50.0)
DELTAS = (1e-280, 1e-30, 1e-6, 0.5)
#: Of the local epsilon: where deltas are asked for.
SHARES = (1e-9, 0.3, 0.999999)
CASES: tuple[tuple[str, dict[str, int]], ...] = (
    ("general", {}),
    ("krr", {"domain_size": 2}),
    ("krr", {"domain_size": 10}),
    ("krr", {"domain_size": 10**15}),
    ("blh", {}),
    ("rappor", {}),
    ("oue", {}),
    ("hadamard", {"order": 4}),
    ("hadamard", {"order": 2**40}),
    ("subset-selection", {"domain_size": 1000, "subset_size": 20}),
    ("subset-exponential", {"domain_size": 100, "set_size": 10, "subset_size": 5}),
    ("subset-exponential", {"domain_size": 10**7, "set_size": 1000, "subset_size": 1000}),
    ("laplace", {}),
)


class Answer(NamedTuple):
    """Seconds of one answer, and whose they are."""

    seconds: float
    question: str
    slowest: str
    of_it: float


def asked(name: str, chosen: Mechanism, n_users: int, **target: float) -> Answer:
    """Ask every accountant apart."""
    decomposition._log_delta.cache_clear()
    decomposition._made_once.cache_clear()
    times: dict[str, float] = {}
    for each in applicable(chosen):
        begin = time.process_time()
        with contextlib.suppress(ParameterError):
            ask(each, chosen, n_users, **target)
        times[each.name] = time.process_time() - begin
    slowest = max(times, key=times.__getitem__)
    goal = ", ".join(f"{key} {value:g}" for key, value in target.items())
    question = f"{name}, n {n_users:g}, local epsilon {chosen.local_epsilon:g}, {goal}"
    return Answer(sum(times.values()), question, slowest, times[slowest])


def answers(only: Sequence[str]) -> Iterator[Answer]:
    """All corners."""
    # the whole grid takes a quarter of an hour of a processor
    for (name, sizes), local_epsilon, n_users in product(CASES, LOCAL_EPSILONS, USERS):
        if only and name not in only:
            continue
        chosen: Any = mechanism(name, local_epsilon=local_epsilon, **sizes)
        said = " ".join([name, *(f"{key} {value:g}" for key, value in sizes.items())])
        for delta in DELTAS:
            yield asked(said, chosen, n_users, delta=delta)
        for share in SHARES:
            yield asked(said, chosen, n_users, epsilon=share * local_epsilon)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the slowest answers; 1 if one is above the target."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", default="", help="names of randomizers, with commas (default: all)")
    parser.add_argument("--slowest", type=int, default=20, help="answers to print (default: 20)")
    options = parser.parse_args(arguments)
    found = sorted(answers([name for name in options.only.split(",") if name]), reverse=True)
    if not found:
        parser.error(f"--only {options.only}: none of {', '.join(dict.fromkeys(name for name, _ in CASES))}")
    for each in found[: options.slowest]:
        print(f"{each.seconds:7.2f} s  {each.question}  ({each.slowest} {each.of_it:.2f} s)")
    above = sum(each.seconds > TARGET_SECONDS for each in found)
    print(f"{len(found)} answers, {above} above {TARGET_SECONDS:g} s; median {found[len(found) // 2].seconds:.3f} s")
    return 1 if above else 0


if __name__ == "__main__":
    raise SystemExit(main())
