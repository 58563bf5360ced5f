"""The numbers behind every figure and table of the amplification papers: settings, points of curves, tidy rows.

- Decomposition paper: its "FFT" bounds are `accounting.blanket`: the upper bound for every input of the others, the
  lower bound for two particular datasets.
- Variation-ratio paper: the curves named variation-ratio are the published ones. Where a randomizer is at hand, the
  proven upper and lower bound of `accounting.blanket` are drawn beside them.
- Personalised paper: no number of its figure is a guarantee for users with budgets of their own: the baselines without
  personal budgets take everybody to have the largest one.

Numbers that the texts do not give are named in docs/amplification.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import joblib
import numpy as np
import pandas as pd

from segshuffle.accounting.single_message import personalized_settings as personal
from segshuffle.accounting.single_message import variation_ratio_tables as tables
from segshuffle.accounting.single_message.accountants import ACCOUNTANTS, Mechanism
from segshuffle.accounting.single_message.mechanisms import composed, mechanism, subsampled
from segshuffle.accounting.single_message.personalized import Mechanism as Noise
from segshuffle.accounting.single_message.randomizers import JointComposition, Laplace, Rappor
from segshuffle.accounting.single_message.variation_ratio import bisected_epsilon, published_epsilon
from segshuffle.accounting.single_message.variation_ratio_lower import LowerBound, lower_bound_parameters
from segshuffle.digits import rounded_down, rounded_up
from segshuffle.errors import ConfigError
from segshuffle.pipeline.jobs import to_json
from segshuffle.pipeline.progress import parallel

_PRIVACY = ("epsilon", "delta")
#: delta = DELTA_TIMES_N/n wherever nothing else is said.
DELTA_TIMES_N = 0.01
LOCAL_EPSILONS = (0.1, 5.0)


@dataclass(frozen=True, kw_only=True)
class Point:
    """One point of a curve: the least epsilon of a mechanism at delta, by one accountant.

    Parameters
    ----------
    panel, curve : str
        Panel of the figure; mechanism or variant that the curve is about.
    accountant : str
        One of the accountants of one message.
    x : float
        Abscissa.
    mechanism : Mechanism
        What the accountant sees.
    n_users : int
        Number of users; multi-message protocols: 1 + the number of blanket messages.
    delta : float, optional
        Target; `DELTA_TIMES_N`/n_users if not given.
    x_name : str
        Name of the abscissa.
    ratio : bool
        Whether y is log2(x/epsilon), the papers' amplification ratio; otherwise y is epsilon.
    status : str
        If not empty, replaces the accountant's own status.
    parameters : mapping
        What else the reader of the table may want to know.
    """

    panel: str
    curve: str
    accountant: str
    x: float
    mechanism: Mechanism
    n_users: int
    delta: float | None = None
    x_name: str = "local_epsilon"
    ratio: bool = False
    status: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def row(self, figure: str) -> dict[str, Any]:
        """Compute the point."""
        accountant = ACCOUNTANTS[self.accountant]
        delta = DELTA_TIMES_N / self.n_users if self.delta is None else self.delta
        safe = rounded_down if accountant.kind == "lower" else rounded_up
        epsilon = safe(accountant.epsilon_of(self.mechanism, self.n_users, delta))
        return tidy(
            figure=figure,
            panel=self.panel,
            curve=self.curve,
            accountant=self.accountant,
            kind=accountant.kind,
            status=self.status or accountant.status,
            x_name=self.x_name,
            x=self.x,
            y_name="log2_ratio" if self.ratio else "epsilon",
            y=math.log2(self.x / epsilon) if self.ratio else epsilon,
            parameters={"n_users": self.n_users, "delta": delta, "epsilon": epsilon, **self.parameters},
        )


def tidy(*, parameters: Mapping[str, Any], **columns: Any) -> dict[str, Any]:
    """Make one row; parameters travel as JSON. A lower bound is rounded down, every other privacy number up."""
    safe = rounded_down if columns["kind"] == "lower" else rounded_up
    if columns["y_name"] in _PRIVACY:
        columns["y"] = safe(columns["y"])
    known = {key: safe(value) if key in _PRIVACY else value for key, value in parameters.items()}
    return {**columns, "parameters": to_json(known)}


def spaced(low: float, high: float, points: int, *, log: bool) -> list[float]:
    """Return `points` numbers from low to high, evenly spaced (in the logarithm), in three digits."""
    space = np.geomspace if log else np.linspace
    return [float(f"{value:.3g}") for value in space(low, high, points)]


def compute(name: str, *, points: int, n_jobs: int = 1) -> pd.DataFrame:
    """Make the tidy table of a figure or table.

    Parameters
    ----------
    name : str
        Figure or table, such as decomposition2.
    points : int
        Points of every curve; tables have the paper's own.
    n_jobs : int
        Processes.

    Returns
    -------
    DataFrame
        Columns as `tidy` has them, one row per point.
    """
    if name in FIGURES:
        jobs = [joblib.delayed(point.row)(name) for point in FIGURES[name](points)]
        rows: Iterable[dict[str, Any]] = parallel(jobs, n_jobs, name)
    elif name in _ROWS:
        rows = _ROWS[name](points, n_jobs)
    else:
        raise ConfigError(f"amplification: {name!r} is not one of {', '.join([*FIGURES, *_ROWS])}")
    return pd.DataFrame(rows)


# --- decomposition paper ---------------------------------------------------------------------------------------------

#: Numbers of users.
USERS = (10_000, 1_000_000)
#: Cells on each half of [0, 1]: bounds stay bounds, the curves do not move visibly with more.
LAPLACE_CELLS = 150
LAPLACE_STATUS = "proven for the inputs 0 and 1; that they are the worst pair is open"
BOTH = ("blanket", "blanket-lower")
#: Accountants of Figures 2 and 3.
AGAINST = (*BOTH, "standard-clone", "hoeffding", "bennett")
JOINT_USERS = 10_000
#: (local epsilon, epsilon) of Figure 8.
AMPLIFICATION_VARIABLES = ((1.0, 0.1), (4.0, 0.5))

Build = Callable[[float], Mechanism]


def _laplace(local_epsilon: float) -> Mechanism:
    cut = Laplace(local_epsilon=local_epsilon, cells=LAPLACE_CELLS)
    return replace(mechanism("laplace", local_epsilon=local_epsilon), randomizer=cut)


SINGLE: dict[str, Build] = {
    "10-RR": lambda epsilon: mechanism("krr", local_epsilon=epsilon, domain_size=10),
    "BLH": lambda epsilon: mechanism("blh", local_epsilon=epsilon),
    "RAPPOR": lambda epsilon: mechanism("rappor", local_epsilon=epsilon),
    "OUE": lambda epsilon: mechanism("oue", local_epsilon=epsilon),
    "Laplace": _laplace,
}


def _joint(name: str, count: int, differing: int | None = None) -> Build:
    """Compose `count` copies of a randomizer, each with an equal share of the local epsilon."""

    def build(epsilon: float) -> Mechanism:
        part = SINGLE[name](epsilon / count).randomizer
        assert part is not None  # for the type checker: all of them are known as classes
        whole = JointComposition(components=(part,) * count, differing=differing)
        return Mechanism(name="joint", local_epsilon=epsilon, randomizer=whole)

    return build


def _power(n_users: int) -> str:
    return f"$n = 10^{round(math.log10(n_users))}$"


def _curves(
    panel: str, curve: str, build: Build, accountants: Iterable[str], n_users: int, points: int
) -> Iterator[Point]:
    """Yield epsilon over the local epsilon, one curve per accountant."""
    for accountant in accountants:
        # the standard clone needs nothing of the mechanism but its local epsilon
        status = LAPLACE_STATUS if curve == "Laplace" and accountant != "standard-clone" else ""
        for epsilon in spaced(*LOCAL_EPSILONS, points, log=True):
            yield Point(
                panel=panel, curve=curve, accountant=accountant, x=epsilon, mechanism=build(epsilon), n_users=n_users,
                status=status,
            )  # fmt: skip


def _variants(builds: Mapping[str, Build], accountants: Sequence[str]) -> Callable[[int], list[Point]]:
    """Put several mechanisms in one panel, a panel per number of users."""

    def points_of(points: int) -> list[Point]:
        return [
            point
            for n_users in USERS
            for curve, build in builds.items()
            for point in _curves(_power(n_users), curve, build, accountants, n_users, points)
        ]

    return points_of


def single_randomizers(points: int) -> list[Point]:
    """List the points of Figure 2: single randomizers, two numbers of users."""
    return [
        point
        for name, build in SINGLE.items()
        for n_users in USERS
        for point in _curves(f"{name}, {_power(n_users)}", name, build, AGAINST, n_users, points)
    ]


def joint_compositions(points: int) -> list[Point]:
    """List the points of Figure 3: joint composition, beside one randomizer with the whole budget."""
    chosen: list[Point] = []
    for name in ("10-RR", "BLH", "RAPPOR", "OUE"):
        for count in (2, 3):
            panel, curve = f"{name}, {count}-joint", f"{count}-joint"
            chosen += _curves(panel, curve, _joint(name, count), AGAINST, JOINT_USERS, points)
            chosen += _curves(panel, "single", SINGLE[name], ("blanket",), JOINT_USERS, points)
    return chosen


def _rappor(domain_size: int) -> Build:
    return lambda e: replace(SINGLE["RAPPOR"](e), randomizer=Rappor(local_epsilon=e, domain_size=domain_size))


def _sampled(rate: float) -> Build:
    return lambda epsilon: subsampled(SINGLE["10-RR"](epsilon), rate)


#: Figure 4: 10-RR, BLH and their parallel composition with probability 1/2 each.
_PARALLEL: dict[str, Build] = {
    "10-RR": SINGLE["10-RR"],
    "parallel": lambda epsilon: composed([SINGLE["10-RR"](epsilon), SINGLE["BLH"](epsilon)], "parallel"),
    "BLH": SINGLE["BLH"],
}
#: Figure 5: RAPPOR, several domain sizes and the limit.
_DOMAINS = {f"$d = {size}$": _rappor(size) for size in (2, 3, 5, 10, 100)} | {"$d \\to \\infty$": SINGLE["RAPPOR"]}
#: Figure 6: 10-RR with Poisson subsampling before shuffling.
_RATES = {f"rate {rate:g}": _sampled(rate) for rate in (1.0, 0.5, 0.1)}
#: Figure 7: three 10-RR, neighbours that differ in one, two and three coordinates.
_DISTANCES = {f"distance {distance}": _joint("10-RR", 3, distance) for distance in (1, 2, 3)}


def laplace_gparv_cdf(*, local_epsilon: float, epsilon: float, value: float) -> float:
    r"""Evaluate the distribution function of G = (R_0 - e^eps R_1)/blanket, Laplace mechanism on [0, 1] (kind: exact).

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


def amplification_variables(points: int, n_jobs: int = 1) -> list[dict[str, Any]]:
    """Tabulate Figure 8: distribution function of G, with both sides of every jump."""
    rows = []
    for local_epsilon, epsilon in AMPLIFICATION_VARIABLES:
        least, largest = -math.expm1(epsilon + local_epsilon), math.exp(local_epsilon) - math.exp(epsilon)
        inside = np.linspace(least, largest, 20 * points).tolist()
        below = (math.nextafter(end, -math.inf) for end in (least, 0.0, largest))
        for value in sorted({*inside, 0.0, *below}):
            rows.append(
                tidy(
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
            )
    return rows


# --- variation-ratio paper -------------------------------------------------------------------------------------------

VARIATION_USERS = (10_000, 100_000)
DOMAIN_SIZES = (16, 128)
GLOBAL_EPSILONS = (0.01, 1.5)
#: Upper end of the curve of Erlingsson et al.: their theorem asks for a local epsilon below 1/2.
ERLINGSSON_UP_TO = 0.49
#: Largest flip probability of the protocol of Cheu and Zhilyaev; the number of fake messages follows.
LARGEST_FLIP = 0.25
BINS_DELTA = 1e-6
RANGE_LEVELS = (6, 11)
EARLIER = ("tails-general", "tails-specific", "standard-clone", "stronger-clone", "variation-ratio", "variation-lower")
CLOSED = ("variation-ratio", "variation-ratio-closed-form", "variation-asymptotic")
TABLE_USERS = (10_000, 1_000_000, 100_000_000)
#: Table 5 as printed: (local epsilon, iterations) -> epsilon for each number of users.
PRINTED: dict[tuple[float, int], tuple[float, ...]] = {
    (1.0, 20): (0.0433, 0.00503, 0.000566),
    (1.0, 10): (0.0440, 0.00586, 0.000977),
    (3.0, 20): (0.227, 0.0255, 0.00283),
    (3.0, 10): (0.229, 0.0264, 0.00293),
    (5.0, 20): (0.743, 0.0778, 0.00853),
    (5.0, 10): (0.743, 0.0782, 0.00977),
    (7.0, 20): (6.99, 0.224, 0.0242),
    (7.0, 10): (6.99, 0.225, 0.0273),
}


def best_subset_size(*, local_epsilon: float, domain_size: int) -> int:
    """Return the integer nearest to d/(e^epsilon_0 + 1), at least 1: the best subset size for estimation."""
    return max(1, round(domain_size / (math.exp(local_epsilon) + 1)))


def best_hash_size(*, local_epsilon: float) -> int:
    """Return the integer nearest to e^epsilon_0 + 1, at least 2: the best hash length for estimation."""
    return max(2, round(math.exp(local_epsilon) + 1))


def subset_lower(*, local_epsilon: float, domain_size: int, subset_size: int) -> LowerBound:
    """Apply Theorem 5.1 to k-subset selection: outputs grouped by which of x0, x1 and one more input they hold."""
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
    """Apply Theorem 5.1 to randomized response on `options` values, outputs grouped by x0, x1 and the rest."""
    gain = math.exp(local_epsilon)
    rest = options - 2
    laws = [[gain, 1.0, rest], [1.0, gain, rest]]
    if rest:
        laws.append([1.0, 1.0, gain + rest - 1])
    laws = [[value / math.fsum(law) for value in law] for law in laws]
    return lower_bound_parameters(first=laws[0], second=laws[1], others=laws)


def _over_local(
    panel: str, curve: str, n_users: int, points: int, described: Callable[[float], tuple[Mechanism, dict[str, int]]]
) -> Iterator[Point]:
    """Yield the amplification ratio of one mechanism by all earlier accountants, first on the range of Erlingsson's."""
    common: dict[str, Any] = {"panel": panel, "curve": curve, "n_users": n_users, "ratio": True}
    for local in spaced(LOCAL_EPSILONS[0], ERLINGSSON_UP_TO, max(2, points // 3), log=False):
        bare = Mechanism(name="any", local_epsilon=local)
        yield Point(accountant="erlingsson", x=local, mechanism=bare, **common)
    for local in spaced(*LOCAL_EPSILONS, points, log=False):
        known, sizes = described(local)
        for accountant in (*EARLIER, *(BOTH if curve == "subset" else ())):
            yield Point(accountant=accountant, x=local, mechanism=known, parameters=sizes, **common)


def subset_selection(points: int) -> list[Point]:
    """List the points of Figure 1: subset selection at its best subset size."""
    chosen: list[Point] = []
    for domain_size in DOMAIN_SIZES:

        def described(local: float, domain_size: int = domain_size) -> tuple[Mechanism, dict[str, int]]:
            size = best_subset_size(local_epsilon=local, domain_size=domain_size)
            sizes: dict[str, Any] = {"local_epsilon": local, "domain_size": domain_size, "subset_size": size}
            return replace(mechanism("subset-selection", **sizes), lower=subset_lower(**sizes)), {"subset_size": size}

        for n_users in VARIATION_USERS:
            panel = f"{_power(n_users)}, $d = {domain_size}$"
            chosen += _over_local(panel, "subset", n_users, points, described)
    return chosen


def local_hash(points: int) -> list[Point]:
    """List the points of Figure 2: optimal local hash; its blanket bound is randomized response's."""

    def described(local: float) -> tuple[Mechanism, dict[str, int]]:
        size = best_hash_size(local_epsilon=local)
        variation = tables.local_hash(local_epsilon=local, hash_size=size)
        lower = response_lower(local_epsilon=local, options=size)
        response = mechanism("krr", local_epsilon=local, domain_size=size)
        return replace(response, variation=variation, lower=lower), {"hash_size": size}

    return [point for n in VARIATION_USERS for point in _over_local(_power(n), "local hash", n, points, described)]


def fake_messages(*, epsilon: float, delta: float, n_users: int) -> tuple[int, float]:
    """Return the fake messages per user k and flip probability f that Cheu and Zhilyaev need for (epsilon, delta).

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


def _over_claimed(**common: Any) -> list[Point]:
    """Ask for the extra amplification over the epsilon that the protocol's own paper claims."""
    return [Point(accountant=accountant, x_name="claimed_epsilon", ratio=True, **common) for accountant in CLOSED]


def fake_users(points: int) -> list[Point]:
    """List the points of Figure 3: flipped one-hot vectors among fake users; the domain size enters nowhere."""
    chosen: list[Point] = []
    for n_users in VARIATION_USERS:
        delta = DELTA_TIMES_N / n_users
        for claimed in spaced(*GLOBAL_EPSILONS, points, log=True):
            count, flip = fake_messages(epsilon=claimed, delta=delta, n_users=n_users)
            chosen += _over_claimed(
                panel=_power(n_users), curve="fake users", x=claimed, mechanism=mechanism("flipped-one-hot", flip=flip),
                n_users=1 + count * n_users, delta=delta, parameters={"fake_per_user": count, "flip": flip},
            )  # fmt: skip
    return chosen


def balls_into_bins(points: int) -> list[Point]:
    """List the points of Figure 4: balls into bins, one special bin, the blanket that its own paper asks for."""
    chosen: list[Point] = []
    for domain_size in DOMAIN_SIZES:
        bins = mechanism("balls-into-bins", domain_size=domain_size, special_bins=1)
        for claimed in spaced(*GLOBAL_EPSILONS, points, log=True):
            blanket = math.ceil(32 * math.log(2 / BINS_DELTA) * domain_size / claimed**2)
            chosen += _over_claimed(
                panel=f"$d = {domain_size}$", curve="balls into bins", x=claimed, mechanism=bins, n_users=1 + blanket,
                delta=BINS_DELTA, status="proven: the victim's message has no left-over",
                parameters={"blanket": blanket},
            )  # fmt: skip
    return chosen


def range_queries(points: int) -> list[Point]:
    """List the points of Figure 5: range queries, one hierarchy level per user, against disjoint groups of users."""
    chosen: list[Point] = []
    for levels in RANGE_LEVELS:
        nodes = [2 ** (levels - h) for h in range(levels)]
        for n_users in VARIATION_USERS:
            for local in spaced(*LOCAL_EPSILONS, points, log=False):
                responses = [mechanism("krr", local_epsilon=local, domain_size=count) for count in nodes]
                one_of_all = composed(responses, "parallel", (1 / levels,) * levels)
                asked = {
                    "separate-best": responses[0],
                    "separate-worst": responses[-1],
                    "parallel-basic": mechanism("general", local_epsilon=local),
                    "parallel-advanced": mechanism("range-query", local_epsilon=local, levels=levels),
                    "blanket": one_of_all,
                    "blanket-lower": one_of_all,
                }
                for accountant, known in asked.items():
                    users = n_users // levels if accountant.startswith("separate") else n_users
                    chosen.append(
                        Point(
                            panel=f"{_power(n_users)}, $d = {2**levels}$", curve="range query", accountant=accountant,
                            x=local, mechanism=known, n_users=users, delta=DELTA_TIMES_N / n_users, ratio=True,
                            parameters={"levels": levels},
                        )
                    )  # fmt: skip
    return chosen


def bisections(points: int = 0, n_jobs: int = 1) -> list[dict[str, Any]]:
    """Tabulate Table 5: the bisection with T = 20 and T = 10, the printed value, and the exact published epsilon."""
    accountant, rows = ACCOUNTANTS["variation-ratio"], []
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
                    accountant=accountant.name,
                    kind=accountant.kind,
                    status=accountant.status,
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
    return rows


# --- personalised paper ----------------------------------------------------------------------------------------------

#: Panels of Figure 4: (mechanism, settings); panels of one range of budgets lie side by side.
PANELS: tuple[tuple[Noise, tuple[str, str]], ...] = (
    ("laplace", ("Uniform1", "Gauss1")),
    ("gaussian", ("Uniform1", "Gauss1")),
    ("laplace", ("Uniform2", "Gauss2")),
    ("gaussian", ("Uniform2", "Gauss2")),
)
TABLE_SETTING = "Uniform2"
_AVERAGED = "refuted as an upper bound: averages take the place of pointwise ratios"
_LARGEST = "proven only for users who all have the largest budget"
_STATUS = {
    "theorem": _AVERAGED,
    "reduction": _AVERAGED,
    "blanket-hoeffding": _LARGEST,
    "blanket-bennett": _LARGEST,
    "chen-cao-ge": "asymptotic: a limit theorem without an error term; refuted as an upper bound (docs/referee.md)",
    "liu-2023": "refuted as an upper bound (docs/referee.md)",
}


def panel_name(noise: Noise, setting: str) -> str:
    """Return the title of a panel: pure or approximate, and the range of the budgets."""
    budgets = personal.SETTINGS[setting]
    kind = "pure (Laplace)" if noise == "laplace" else "approximate (Gauss)"
    return f"{kind}, $\\varepsilon_i \\in [{budgets.low:g}, {budgets.high:g}]$"


def _personal_row(figure: str, panel: str, found: personal.BoundPoint, x: str, y: str) -> dict[str, Any]:
    known = {name: getattr(found, name) for name in ("n_users", "delta", "epsilon", "mechanism", "setting")}
    return tidy(
        figure=figure,
        panel=panel,
        curve=found.setting if found.method in personal.PERSONAL else "largest budget",
        accountant=found.method,
        kind=found.kind,
        status="proven" if found.kind == "upper" else _STATUS.get(found.method, "not proven"),
        x_name=x,
        x=known[x],
        y_name=y,
        y=known[y],
        parameters=known,
    )


def personal_epsilons(points: int, n_jobs: int = 1) -> list[dict[str, Any]]:
    """Tabulate Figure 4: epsilon at delta = 1e-5 over n, for `points` of the paper's 20 numbers of users."""
    every = personal.FIGURE_USERS
    users = [every[i] for i in np.unique(np.linspace(0, len(every) - 1, points).round().astype(int))]
    jobs = [(noise, name, n) for noise, names in PANELS for name in names for n in users]
    tasks = [
        joblib.delayed(personal.figure_points)(
            setting=personal.SETTINGS[name],
            mechanism=noise,
            n_users=n,
            # what depends on the largest budget alone is the same for both settings of a panel
            personal_only=not name.startswith("Uniform"),
        )
        for noise, name, n in jobs
    ]
    rows = [
        _personal_row("personalized4", panel_name(noise, name), point, "n_users", "epsilon")
        for (noise, name, _), found in zip(jobs, parallel(tasks, n_jobs, "personalized4"), strict=True)
        for point in found
    ]
    # curves in one piece, panels and settings in the paper's order
    panels = [panel_name(noise, names[0]) for noise, names in PANELS]
    curves = ["largest budget", *personal.SETTINGS]
    return sorted(
        rows, key=lambda row: (panels.index(row["panel"]), curves.index(row["curve"]), row["accountant"], row["x"])
    )


def personal_deltas(points: int = 0, n_jobs: int = 1) -> list[dict[str, Any]]:
    """Tabulate Table 2: delta at five epsilons; Gauss mechanism, Uniform2, n = 1e4."""
    setting = personal.SETTINGS[TABLE_SETTING]
    found = personal.table_points(setting=setting, mechanism="gaussian", n_users=personal.TABLE_USERS)
    panel = panel_name("gaussian", TABLE_SETTING)
    return [_personal_row("personalized-table2", panel, point, "epsilon", "delta") for point in found]


#: What is made of points that accountants are asked for, and what is made of rows.
FIGURES: dict[str, Callable[[int], list[Point]]] = {
    "decomposition2": single_randomizers,
    "decomposition3": joint_compositions,
    "decomposition4": _variants(_PARALLEL, BOTH),
    "decomposition5": _variants(_DOMAINS, ("blanket",)),
    "decomposition6": _variants(_RATES, BOTH),
    "decomposition7": _variants(_DISTANCES, ("blanket",)),
    "variation1": subset_selection,
    "variation2": local_hash,
    "variation3": fake_users,
    "variation4": balls_into_bins,
    "variation5": range_queries,
}
_ROWS: dict[str, Callable[[int, int], list[dict[str, Any]]]] = {
    "decomposition8": amplification_variables,
    "variation-table5": bisections,
    "personalized4": personal_epsilons,
    "personalized-table2": personal_deltas,
}
