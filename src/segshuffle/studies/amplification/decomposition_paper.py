"""Figures 2-8 of "Decomposition-Based Optimal Bounds for Privacy Amplification via Shuffling".

Its "FFT" bounds are `accounting.blanket`: the upper bound for every input of the others, the lower bound for two
particular datasets. Numbers that the text does not give are named in docs/amplification.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

import numpy as np
import pandas as pd

from segshuffle.accounting.single_message.randomizers import (
    BinaryLocalHash,
    JointComposition,
    KaryRandomizedResponse,
    Laplace,
    OptimizedUnaryEncoding,
    ParallelComposition,
    Randomizer,
    Rappor,
    poisson_subsampled,
)
from segshuffle.studies.amplification.curves import COLUMNS, Case, Point, evaluate, spaced, tidy

#: Numbers of users; delta = DELTA_TIMES_N/n.
USERS = (10_000, 1_000_000)
DELTA_TIMES_N = 0.01
LOCAL_EPSILONS = (0.1, 5.0)
#: Cells on each half of [0, 1]: bounds stay bounds, the curves do not move visibly with more.
LAPLACE_CELLS = 150
LAPLACE_STATUS = "proven for the inputs 0 and 1; that they are the worst pair is open"

SINGLE: dict[str, Callable[[float], Randomizer]] = {
    "10-RR": lambda epsilon: KaryRandomizedResponse(local_epsilon=epsilon, domain_size=10),
    "BLH": lambda epsilon: BinaryLocalHash(local_epsilon=epsilon),
    "RAPPOR": lambda epsilon: Rappor(local_epsilon=epsilon),
    "OUE": lambda epsilon: OptimizedUnaryEncoding(local_epsilon=epsilon),
    "Laplace": lambda epsilon: Laplace(local_epsilon=epsilon, cells=LAPLACE_CELLS),
}
#: Accountants of Figures 2 and 3.
AGAINST = ("blanket", "blanket-lower", "standard-clone", "hoeffding", "bennett")
BOTH = ("blanket", "blanket-lower")
JOINT = ("10-RR", "BLH", "RAPPOR", "OUE")
JOINT_USERS = 10_000
JOINT_SIZES = (2, 3)
DOMAIN_SIZES = (2, 3, 5, 10, 100)
SAMPLING_RATES = (1.0, 0.5, 0.1)
DISTANCES = (1, 2, 3)
#: (local epsilon, epsilon) of Figure 8.
AMPLIFICATION_VARIABLES = ((1.0, 0.1), (4.0, 0.5))

Build = Callable[[float], Randomizer]


def _users(n_users: int) -> str:
    exponent = round(math.log10(n_users))
    return f"$n = 10^{exponent}$"


def _curves(
    panel: str, curve: str, build: Build, accountants: Iterable[str], *, n_users: int, points: int
) -> list[Point]:
    """Epsilon over the local epsilon, one curve per accountant."""
    status = LAPLACE_STATUS if curve == "Laplace" else ""
    return [
        Point(
            panel=panel,
            curve=curve,
            accountant=accountant,
            x_name="local_epsilon",
            x=local_epsilon,
            case=Case(
                n_users=n_users,
                delta=DELTA_TIMES_N / n_users,
                local_epsilon=local_epsilon,
                randomizer=build(local_epsilon),
                status=status if accountant != "standard-clone" else "",
            ),
        )
        for accountant in accountants
        for local_epsilon in spaced(*LOCAL_EPSILONS, points, log=True)
    ]


def _joint(name: str, count: int, differing: int | None = None) -> Build:
    """`count` copies of a randomizer, each with an equal share of the local epsilon."""
    return lambda epsilon: JointComposition(components=(SINGLE[name](epsilon / count),) * count, differing=differing)


def figure2(points: int) -> list[Point]:
    """Single randomizers, two numbers of users."""
    return [
        point
        for name, build in SINGLE.items()
        for n_users in USERS
        for point in _curves(f"{name}, {_users(n_users)}", name, build, AGAINST, n_users=n_users, points=points)
    ]


def figure3(points: int) -> list[Point]:
    """Joint composition; the bound of one randomizer with the whole budget is drawn beside it."""
    chosen: list[Point] = []
    for name in JOINT:
        for count in JOINT_SIZES:
            panel, common = f"{name}, {count}-joint", {"n_users": JOINT_USERS, "points": points}
            chosen += _curves(panel, f"{count}-joint", _joint(name, count), AGAINST, **common)
            chosen += _curves(panel, "single", SINGLE[name], ("blanket",), **common)
    return chosen


def figure4(points: int) -> list[Point]:
    """10-RR, BLH and their parallel composition with probability 1/2 each."""

    def parallel(epsilon: float) -> Randomizer:
        return ParallelComposition(components=(SINGLE["10-RR"](epsilon), SINGLE["BLH"](epsilon)), weights=(0.5, 0.5))

    builds: dict[str, Build] = {"10-RR": SINGLE["10-RR"], "parallel": parallel, "BLH": SINGLE["BLH"]}
    return _variants(builds, BOTH, points)


def figure5(points: int) -> list[Point]:
    """RAPPOR, upper bound, several domain sizes and the limit."""

    def rappor(domain_size: int) -> Build:
        return lambda epsilon: Rappor(local_epsilon=epsilon, domain_size=domain_size)

    builds: dict[str, Build] = {f"$d = {size}$": rappor(size) for size in DOMAIN_SIZES}
    return _variants({**builds, "$d \\to \\infty$": SINGLE["RAPPOR"]}, ("blanket",), points)


def figure6(points: int) -> list[Point]:
    """10-RR with Poisson subsampling before shuffling."""

    def sampled(rate: float) -> Build:
        return lambda epsilon: poisson_subsampled(SINGLE["10-RR"](epsilon), rate=rate)

    return _variants({f"rate {rate:g}": sampled(rate) for rate in SAMPLING_RATES}, BOTH, points)


def figure7(points: int) -> list[Point]:
    """Three 10-RR, neighbours that differ in one, two and three coordinates."""
    builds = {f"distance {distance}": _joint("10-RR", 3, distance) for distance in DISTANCES}
    return _variants(builds, ("blanket",), points)


def _variants(builds: dict[str, Build], accountants: Sequence[str], points: int) -> list[Point]:
    """Several mechanisms in one panel, a panel per number of users."""
    return [
        point
        for n_users in USERS
        for curve, build in builds.items()
        for point in _curves(_users(n_users), curve, build, accountants, n_users=n_users, points=points)
    ]


def laplace_gparv_cdf(*, local_epsilon: float, epsilon: float, value: float) -> float:
    r"""Distribution function of G = (R_0 - e^eps R_1)/blanket for the Laplace mechanism on [0, 1] (kind: exact).

    G is 0 with probability 1 - e^{-eps_0/2}, the left-over. Under the blanket it falls with the output y: from
    e^{eps_0} - e^eps on y < 0, over e^{eps_0 (1 - 2y)} - e^eps on [0, 1/2] and 1 - e^{eps + eps_0 (2y - 1)} on
    [1/2, 1], to 1 - e^{eps + eps_0} on y > 1 (Appendix B of the paper, not in our copy).

    Parameters
    ----------
    local_epsilon : float
        epsilon_0 > epsilon.
    epsilon : float
        At least 0.
    value : float
        Where.
    """
    least, middle = -math.expm1(epsilon + local_epsilon), -math.expm1(epsilon)
    largest = math.exp(local_epsilon) - math.exp(epsilon)
    if value < least:
        return 0.0
    if value >= largest:
        return 1.0
    if value < middle:
        output = 0.5 * (1 + (math.log1p(-value) - epsilon) / local_epsilon)
        below = 0.5 * math.exp(-local_epsilon * output)
    else:
        output = 0.5 * (1 - math.log(value + math.exp(epsilon)) / local_epsilon)
        below = math.exp(-local_epsilon / 2) - 0.5 * math.exp(-local_epsilon * (1 - output))
    return below + (-math.expm1(-local_epsilon / 2) if value >= 0 else 0.0)


def figure8(points: int) -> pd.DataFrame:
    """Distribution function of G, with both sides of every jump."""
    rows = []
    for local_epsilon, epsilon in AMPLIFICATION_VARIABLES:
        least, largest = -math.expm1(epsilon + local_epsilon), math.exp(local_epsilon) - math.exp(epsilon)
        inside = np.linspace(least, largest, 20 * points)
        for value in sorted({*inside.tolist(), 0.0, math.nextafter(0.0, -1), math.nextafter(least, -math.inf)}):
            rows.append(_gparv_row(local_epsilon, epsilon, value))
        rows.append(_gparv_row(local_epsilon, epsilon, math.nextafter(largest, -math.inf)))
    table = pd.DataFrame(rows, columns=list(COLUMNS))
    return table.sort_values(["panel", "x"], kind="stable", ignore_index=True)


def _gparv_row(local_epsilon: float, epsilon: float, value: float) -> dict[str, object]:
    return tidy(
        figure="decomposition8",
        panel=f"$\\varepsilon_0 = {local_epsilon:g}$, $\\varepsilon = {epsilon:g}$",
        curve="Laplace",
        accountant="gparv",
        kind="exact",
        status="proven",
        x_name="value",
        x=value,
        y_name="probability",
        y=laplace_gparv_cdf(local_epsilon=local_epsilon, epsilon=epsilon, value=value),
        parameters={"local_epsilon": local_epsilon, "epsilon": epsilon},
    )


_FIGURES = {2: figure2, 3: figure3, 4: figure4, 5: figure5, 6: figure6, 7: figure7}


def compute(number: int, *, points: int, n_jobs: int = 1) -> pd.DataFrame:
    """Tidy table of one figure.

    Parameters
    ----------
    number : int
        2 to 8.
    points : int
        Points of every curve.
    n_jobs : int
        Processes.
    """
    if number == 8:
        return figure8(points)
    return evaluate(f"decomposition{number}", _FIGURES[number](points), n_jobs=n_jobs)
