"""Figures 1-5 and Table 5 of "Privacy Amplification via Shuffling: Unified, Simplified, and Tightened".

The curves named variation-ratio are the published ones. Where a randomizer is at hand, the proven upper and lower bound
of `accounting.blanket` are drawn beside them. Numbers that the text does not give are named in docs/amplification.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pandas as pd

from segshuffle.accounting.single_message import variation_ratio_tables as tables
from segshuffle.accounting.single_message.accountants import ACCOUNTANTS
from segshuffle.accounting.single_message.randomizers import (
    KaryRandomizedResponse,
    ParallelComposition,
    Randomizer,
    SubsetSelection,
)
from segshuffle.accounting.single_message.variation_ratio import VariationRatio, bisected_epsilon, published_epsilon
from segshuffle.accounting.single_message.variation_ratio_lower import LowerBound, lower_bound_parameters
from segshuffle.studies.amplification.curves import COLUMNS, Case, Point, evaluate, spaced, tidy

DELTA_TIMES_N = 0.01
USERS = (10_000, 100_000)
DOMAIN_SIZES = (16, 128)
LOCAL_EPSILONS = (0.1, 5.0)
GLOBAL_EPSILONS = (0.01, 1.5)
#: Upper end of the curve of Erlingsson et al.: their theorem asks for a local epsilon below 1/2.
ERLINGSSON_UP_TO = 0.49
#: Largest flip probability of the protocol of Cheu and Zhilyaev; the number of fake messages follows.
LARGEST_FLIP = 0.25
BINS_DELTA = 1e-6
RANGE_LEVELS = (6, 11)

EARLIER = ("tails-general", "tails-specific", "standard-clone", "stronger-clone")
CLOSED = ("variation-ratio", "variation-ratio-closed-form", "variation-asymptotic")

Numbers = tuple[float, ...]
TABLE_USERS = (10_000, 1_000_000, 100_000_000)
#: Table 5 as printed: (local epsilon, iterations) -> epsilon for each number of users.
PRINTED: dict[tuple[float, int], Numbers] = {
    (1.0, 20): (0.0433, 0.00503, 0.000566),
    (1.0, 10): (0.0440, 0.00586, 0.000977),
    (3.0, 20): (0.227, 0.0255, 0.00283),
    (3.0, 10): (0.229, 0.0264, 0.00293),
    (5.0, 20): (0.743, 0.0778, 0.00853),
    (5.0, 10): (0.743, 0.0782, 0.00977),
    (7.0, 20): (6.99, 0.224, 0.0242),
    (7.0, 10): (6.99, 0.225, 0.0273),
}


def _panel(n_users: int, domain_size: int | None = None) -> str:
    users = f"$n = 10^{round(math.log10(n_users))}$"
    return users if domain_size is None else f"{users}, $d = {domain_size}$"


def _ratios(
    panel: str, curve: str, case: Case, accountants: Iterable[str], claimed: float | None = None, **known: Any
) -> list[Point]:
    """Amplification ratio of one mechanism by several accountants.

    Against its local epsilon, or the epsilon that the protocol's own paper claims ("extra amplification").
    """
    name, reference = ("local_epsilon", case.local_epsilon) if claimed is None else ("claimed_epsilon", claimed)
    assert reference is not None
    return [
        Point(
            panel=panel,
            curve=curve,
            accountant=accountant,
            x_name=name,
            x=reference,
            case=case,
            reference=reference,
            parameters=known,
        )
        for accountant in accountants
    ]


def best_subset_size(*, local_epsilon: float, domain_size: int) -> int:
    """Subset size k nearest to d/(e^epsilon_0 + 1), the best one for frequency estimation; at least 1."""
    return max(1, round(domain_size / (math.exp(local_epsilon) + 1)))


def best_hash_size(*, local_epsilon: float) -> int:
    """Hash length l nearest to e^epsilon_0 + 1, at least 2."""
    return max(2, round(math.exp(local_epsilon) + 1))


def subset_lower(*, local_epsilon: float, domain_size: int, subset_size: int) -> LowerBound:
    """Theorem 5.1 for k-subset selection: outputs grouped by which of x0, x1 and one more input they hold."""
    held = [(a, b, c) for a in (0, 1) for b in (0, 1) for c in (0, 1)]
    counts = [math.comb(domain_size - 3, subset_size - sum(each)) if sum(each) <= subset_size else 0 for each in held]
    gain = math.expm1(local_epsilon)
    total = math.comb(domain_size, subset_size)
    laws = []
    for position in range(3):
        weight = [count / total * (1 + gain * each[position]) for each, count in zip(held, counts, strict=True)]
        laws.append([value / math.fsum(weight) for value in weight])
    return lower_bound_parameters(first=laws[0], second=laws[1], others=laws)


def response_lower(*, local_epsilon: float, options: int) -> LowerBound:
    """Theorem 5.1 for randomized response on `options` values, outputs grouped by x0, x1 and the rest."""
    gain = math.exp(local_epsilon)
    rest = options - 2
    laws = [[gain, 1.0, rest], [1.0, gain, rest]]
    if rest:
        laws.append([1.0, 1.0, gain + rest - 1])
    laws = [[value / math.fsum(law) for value in law] for law in laws]
    return lower_bound_parameters(first=laws[0], second=laws[1], others=laws)


def _erlingsson(panel: str, curve: str, n_users: int, points: int) -> list[Point]:
    """The closed form of Erlingsson et al., on the short range where its theorem holds."""
    chosen: list[Point] = []
    for local in spaced(LOCAL_EPSILONS[0], ERLINGSSON_UP_TO, max(2, points // 3), log=False):
        case = Case(n_users=n_users, delta=DELTA_TIMES_N / n_users, local_epsilon=local)
        chosen += _ratios(panel, curve, case, ["erlingsson"])
    return chosen


def figure1(points: int) -> list[Point]:
    """Subset selection at its best subset size."""
    chosen: list[Point] = []
    accountants = (*EARLIER, "variation-ratio", "variation-lower", "blanket", "blanket-lower")
    for domain_size in DOMAIN_SIZES:
        for n_users in USERS:
            panel = _panel(n_users, domain_size)
            chosen += _erlingsson(panel, "subset", n_users, points)
            for local in spaced(*LOCAL_EPSILONS, points, log=False):
                size = best_subset_size(local_epsilon=local, domain_size=domain_size)
                sizes: dict[str, Any] = {"local_epsilon": local, "domain_size": domain_size, "subset_size": size}
                case = Case(
                    n_users=n_users,
                    delta=DELTA_TIMES_N / n_users,
                    local_epsilon=local,
                    randomizer=SubsetSelection(**sizes),
                    variation=tables.subset_selection(**sizes),
                    lower=subset_lower(**sizes),
                )
                chosen += _ratios(panel, "subset", case, accountants, subset_size=size)
    return chosen


def figure2(points: int) -> list[Point]:
    """Optimal local hash; the specific blanket bound is that of randomized response on the hash values."""
    chosen: list[Point] = []
    for n_users in USERS:
        chosen += _erlingsson(_panel(n_users), "local hash", n_users, points)
        for local in spaced(*LOCAL_EPSILONS, points, log=False):
            size = best_hash_size(local_epsilon=local)
            case = Case(
                n_users=n_users,
                delta=DELTA_TIMES_N / n_users,
                local_epsilon=local,
                randomizer=KaryRandomizedResponse(local_epsilon=local, domain_size=size),
                variation=tables.local_hash(local_epsilon=local, hash_size=size),
                lower=response_lower(local_epsilon=local, options=size),
            )
            names = (*EARLIER, "variation-ratio", "variation-lower")
            chosen += _ratios(_panel(n_users), "local hash", case, names, hash_size=size)
    return chosen


def fake_messages(*, epsilon: float, delta: float, n_users: int) -> tuple[int, float]:
    """Fake messages per user k and flip probability f that Cheu and Zhilyaev need for (epsilon, delta).

    Their condition for one bin is f (1 - f) n k >= (33/5) ((e^eps + 1)/(e^eps - 1))^2 log(4/delta); two bins change, so
    (epsilon, delta) is asked of each at half. The least k with f <= `LARGEST_FLIP`, and the f that meets it with
    equality.
    """
    half = 0.5 * epsilon
    need = 33 / 5 / math.tanh(0.5 * half) ** 2 * math.log(8 / delta)
    count = max(1, math.ceil(need / (LARGEST_FLIP * (1 - LARGEST_FLIP) * n_users)))
    product = need / (n_users * count)
    # the smaller root of f (1 - f) = product
    return count, 2 * product / (1 + math.sqrt(1 - 4 * product))


def figure3(points: int) -> list[Point]:
    """Flipped one-hot vectors among fake users; the domain size enters nowhere."""
    chosen: list[Point] = []
    for n_users in USERS:
        delta = DELTA_TIMES_N / n_users
        for claimed in spaced(*GLOBAL_EPSILONS, points, log=True):
            count, flip = fake_messages(epsilon=claimed, delta=delta, n_users=n_users)
            case = Case(n_users=1 + count * n_users, delta=delta, variation=tables.flipped_one_hot(flip=flip))
            chosen += _ratios(_panel(n_users), "fake users", case, CLOSED, claimed, fake_per_user=count, flip=flip)
    return chosen


def figure4(points: int) -> list[Point]:
    """Balls into bins with one special bin and as many blanket messages as its own paper asks."""
    chosen: list[Point] = []
    for domain_size in DOMAIN_SIZES:
        for claimed in spaced(*GLOBAL_EPSILONS, points, log=True):
            blanket = math.ceil(32 * math.log(2 / BINS_DELTA) * domain_size / claimed**2)
            case = Case(
                n_users=1 + blanket,
                delta=BINS_DELTA,
                variation=tables.balls_into_bins(domain_size=domain_size),
                status="proven: the victim's message has no left-over",
            )
            chosen += _ratios(f"$d = {domain_size}$", "balls into bins", case, CLOSED, claimed, blanket=blanket)
    return chosen


def figure5(points: int) -> list[Point]:
    """Range queries: one hierarchy level per user, against disjoint groups of users."""
    chosen: list[Point] = []
    for levels in RANGE_LEVELS:
        for n_users in USERS:
            for local in spaced(*LOCAL_EPSILONS, points, log=False):
                panel = _panel(n_users, 2**levels)
                for accountant, case in _range_cases(n_users, levels, local).items():
                    chosen += _ratios(panel, "range query", case, [accountant], levels=levels)
    return chosen


def _range_cases(n_users: int, levels: int, local: float) -> Mapping[str, Case]:
    common: dict[str, Any] = {"delta": DELTA_TIMES_N / n_users, "local_epsilon": local}
    nodes = [2 ** (levels - h) for h in range(levels)]
    apart = {
        "separate-best": tables.randomized_response(local_epsilon=local, domain_size=nodes[0]),
        "separate-worst": tables.randomized_response(local_epsilon=local, domain_size=nodes[-1]),
    }
    together: dict[str, VariationRatio] = {
        "parallel-basic": tables.general(local_epsilon=local),
        "parallel-advanced": tables.range_query(local_epsilon=local, levels=levels),
    }
    proven: Randomizer = ParallelComposition(
        components=tuple(KaryRandomizedResponse(local_epsilon=local, domain_size=count) for count in nodes),
        weights=(1 / levels,) * levels,
    )
    cases = {name: Case(n_users=n_users // levels, variation=each, **common) for name, each in apart.items()}
    cases |= {name: Case(n_users=n_users, variation=each, **common) for name, each in together.items()}
    cases |= {name: Case(n_users=n_users, randomizer=proven, **common) for name in ("blanket", "blanket-lower")}
    return cases


def table5() -> pd.DataFrame:
    """Table 5: the bisection as printed with T = 20 and T = 10, the printed value, and the exact published epsilon."""
    rows = []
    for (local, iterations), printed in PRINTED.items():
        for n_users, value in zip(TABLE_USERS, printed, strict=True):
            common: dict[str, Any] = {
                "randomizer": tables.general(local_epsilon=local),
                "n_users": n_users,
                "delta": DELTA_TIMES_N / n_users,
            }
            rows.append(
                tidy(
                    figure="variation-table5",
                    panel=f"T = {iterations}",
                    curve=f"local epsilon {local:g}",
                    accountant="variation-ratio",
                    kind=ACCOUNTANTS["variation-ratio"].kind,
                    status=ACCOUNTANTS["variation-ratio"].status,
                    x_name="n_users",
                    x=n_users,
                    y_name="epsilon",
                    y=bisected_epsilon(**common, iterations=iterations),
                    parameters={
                        "local_epsilon": local,
                        "iterations": iterations,
                        "delta": common["delta"],
                        "printed": value,
                        "without_bisection": published_epsilon(**common),
                    },
                )
            )
    return pd.DataFrame(rows, columns=list(COLUMNS))


_FIGURES: dict[int, Callable[[int], list[Point]]] = {1: figure1, 2: figure2, 3: figure3, 4: figure4, 5: figure5}


def compute(number: int, *, points: int, n_jobs: int = 1) -> pd.DataFrame:
    """Tidy table of Figure `number`, 1 to 5, with `points` points per curve."""
    return evaluate(f"variation{number}", _FIGURES[number](points), n_jobs=n_jobs)
