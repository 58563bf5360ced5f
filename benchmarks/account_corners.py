"""CPU time of the answers of `account` for one message per user, at extreme values of what it accepts.

    .venv/bin/python benchmarks/account_corners.py [--only krr,laplace] [--slowest 20] [--inverse]

For every answer all accountants that apply are asked. Its time is the sum of their times, with empty caches. The target
is 5 s for every answer. Answers above the target and warnings are printed at once, and the slowest answers at the end.
Each answer is printed with its slowest accountant. The whole grid takes about an hour of a processor; `--inverse` asks
for local epsilons instead.
"""

from __future__ import annotations

import argparse
import contextlib
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from timing import forget

from segshuffle.accounting.single_message.accountants import Mechanism
from segshuffle.accounting.single_message.amplification import applicable, ask, local_epsilon_for
from segshuffle.accounting.single_message.mechanisms import composed, mechanism, of_matrix, subsampled
from segshuffle.accounting.single_message.randomizers.matrix import matrix_randomizer
from segshuffle.errors import DataError, ParameterError

TARGET_SECONDS = 5.0
USERS = (2, 3, 4, 10, 1000, 10**6, 10**10, 10**15)
LOCAL_EPSILONS = (1e-6, 0.1, 1.0, 10.0, 50.0)
DELTAS = (1e-280, 1e-30, 1e-6, 0.5)
#: Epsilons for which deltas are asked, as shares of the local epsilon.
SHARES = (1e-9, 0.3, 0.999999)
#: Epsilons for which local epsilons are asked.
EPSILONS = (1e-3, 0.1, 1.0, 10.0)

Make = Callable[[float], Mechanism]


def _plain(name: str, **sizes: float) -> tuple[str, Make]:
    said = " ".join([name, *(f"{key} {value:g}" for key, value in sizes.items())])
    return said, lambda local_epsilon: mechanism(name, local_epsilon=local_epsilon, **sizes)


def _composed(how: str, *names: str, **sizes: float) -> tuple[str, Make]:
    def make(local_epsilon: float) -> Mechanism:
        return composed([_plain(name, **sizes if name == "krr" else {})[1](local_epsilon) for name in names], how)

    return f"{how} {' '.join(names)}", make


def _thinned(name: str, rate: float) -> tuple[str, Make]:
    return f"{name} subsample {rate:g}", lambda e: subsampled(mechanism(name, local_epsilon=e), rate)


def _fixed(name: str, **sizes: float) -> tuple[str, Make]:
    return name, lambda _: mechanism(name, **sizes)


def _matrix(inputs: int, outputs: int) -> tuple[str, Make]:
    """Make a random matrix whose epsilon is at most the local epsilon."""

    def make(local_epsilon: float) -> Mechanism:
        random = np.random.default_rng([inputs, outputs])
        law = np.exp(local_epsilon * random.random((inputs, outputs)) * 0.499)
        return of_matrix(matrix_randomizer(law / law.sum(axis=1, keepdims=True)))

    return f"matrix {inputs} x {outputs}", make


CASES: tuple[tuple[str, Make], ...] = (
    _plain("general"),
    _plain("krr", domain_size=2),
    _plain("krr", domain_size=10),
    _plain("krr", domain_size=10**15),
    _plain("blh"),
    _plain("local-hash", hash_size=7),
    _plain("local-hash", hash_size=10**15),
    _plain("rappor"),
    _plain("oue"),
    _plain("hadamard", order=4),
    _plain("hadamard", order=2**40),
    _plain("subset-selection", domain_size=1000, subset_size=20),
    _plain("subset-exponential", domain_size=100, set_size=10, subset_size=5),
    _plain("subset-exponential", domain_size=10**7, set_size=1000, subset_size=1000),
    _plain("laplace"),
    _plain("privunit", cap_area=0.1),
    _plain("wheel", set_size=4, arc_length=0.01),
    _plain("range-query", levels=10),
    _composed("joint", "krr", "krr", domain_size=4),
    _composed("joint", *["rappor"] * 3),
    _composed("joint", "blh", "laplace"),
    _composed("joint", "laplace", "laplace"),
    _composed("parallel", "krr", "blh", "rappor", domain_size=4),
    _composed("parallel", "laplace", "oue"),
    _thinned("oue", 0.1),
    _thinned("laplace", 1e-6),
    _matrix(2, 3),
    _matrix(2, 1000),
    _matrix(10, 10),
    _matrix(30, 114),
)
#: Mechanisms without a local epsilon: each is asked once.
FIXED: tuple[tuple[str, Make], ...] = (
    _fixed("balls-into-bins", domain_size=100, special_bins=1),
    _fixed("mix-dump", domain_size=100, flip=0.1),
    _fixed("pure-dump", domain_size=2),
    _fixed("biased-coin-sum", coin=0.25),
    _fixed("uniform-coin-sum"),
    _fixed("flipped-one-hot", flip=0.01),
    _fixed("metric", distance=1, largest_distance=3),
    _fixed("metric-laplace", distance=0.1, largest_distance=10),
    _fixed("planar-laplace", distance=1, largest_distance=10),
)


class Answer(NamedTuple):
    """Seconds of one answer, and its slowest accountant."""

    seconds: float
    question: str
    slowest: str
    of_it: float


def timed(question: str, asks: dict[str, Callable[[], Any]]) -> Answer:
    """Ask every accountant, and take the time of each."""
    forget()
    times: dict[str, float] = {}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for name, each in asks.items():
            begin = time.process_time()
            with contextlib.suppress(ParameterError):
                each()
            times[name] = time.process_time() - begin
    slowest = max(times, key=times.__getitem__)
    found = Answer(sum(times.values()), question, slowest, times[slowest])
    for each in caught:
        print(f"         {question}: {each.message} ({each.filename}:{each.lineno})", flush=True)
    if found.seconds > TARGET_SECONDS:
        print(line(found), flush=True)
    return found


def line(each: Answer) -> str:
    """Write one answer as a line of text."""
    return f"{each.seconds:7.2f} s  {each.question}  ({each.slowest} {each.of_it:.2f} s)"


def direct(cases: Sequence[tuple[str, Make]], local_epsilons: Sequence[float]) -> Iterator[Answer]:
    """Ask for epsilons and deltas."""
    for (said, make), local_epsilon in product(cases, local_epsilons):
        try:
            chosen = make(local_epsilon)
        except (ParameterError, DataError):
            continue
        top = chosen.local_epsilon if chosen.local_epsilon < 50 else 50.0
        targets = [{"delta": delta} for delta in DELTAS] + [{"epsilon": share * top} for share in SHARES]
        for n_users, target in product(USERS, targets):
            goal = ", ".join(f"{key} {value:g}" for key, value in target.items())
            question = f"{said}, n {n_users:g}, local epsilon {local_epsilon:g}, {goal}"
            yield timed(
                question, {each.name: partial(ask, each, chosen, n_users, **target) for each in applicable(chosen)}
            )


def inverse(cases: Sequence[tuple[str, Make]]) -> Iterator[Answer]:
    """Ask for local epsilons."""
    for (said, make), n_users, epsilon, delta in product(cases, USERS, EPSILONS, DELTAS):
        if said.startswith("matrix"):
            continue
        target = {"n_users": n_users, "epsilon": epsilon, "delta": delta}
        asks = {each.name: partial(local_epsilon_for, each, make, **target) for each in applicable(make(1.0))}
        yield timed(f"{said}, n {n_users:g}, epsilon {epsilon:g}, delta {delta:g}", asks)


def main() -> int:
    """Print the slowest answers; return 1 if one is above the target."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", default="", help="first words of cases, separated by commas (default: all)")
    parser.add_argument("--slowest", type=int, default=20, help="answers to print (default: 20)")
    parser.add_argument("--inverse", action="store_true", help="ask for local epsilons")
    options = parser.parse_args()
    words = [word for word in options.only.split(",") if word]
    cases, fixed = ([case for case in some if not words or case[0].split()[0] in words] for some in (CASES, FIXED))
    asked = [*inverse(cases)] if options.inverse else [*direct(cases, LOCAL_EPSILONS), *direct(fixed, (1.0,))]
    found = sorted(asked, reverse=True)
    for each in found[: options.slowest]:
        print(line(each))
    above = sum(each.seconds > TARGET_SECONDS for each in found)
    print(f"{len(found)} answers, {above} above {TARGET_SECONDS:g} s; median {found[len(found) // 2].seconds:.3f} s")
    return 1 if above else 0


if __name__ == "__main__":
    raise SystemExit(main())
