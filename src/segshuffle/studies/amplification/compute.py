"""The numbers behind every figure and table of the amplification papers: settings, points of curves, tidy rows.

- Decomposition paper: its "FFT" bounds are those of `accountants/blanket.py`. The upper bound is for all inputs of the
  other users, the lower bound for two particular datasets.
- Variation-ratio paper: the curves named variation-ratio are the published ones. In Figures 1 and 5 the proven
  upper and lower bounds of `accountants/blanket.py` are drawn, too.
- Personalised paper: no bound here is a guarantee for users with their own budgets. Baselines without personal budgets
  assume that all users have the largest one.

docs/amplification.md lists the numbers that the papers do not state.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from segshuffle.accounting.collections.flipped_bits import published_flips
from segshuffle.accounting.single_message import personalized_settings as personal
from segshuffle.accounting.single_message import variation_ratio_tables as tables
from segshuffle.accounting.single_message.accountants import ACCOUNTANTS, Mechanism
from segshuffle.accounting.single_message.accountants.personalized import PERSONAL, PersonalizedUsers
from segshuffle.accounting.single_message.mechanisms import composed, mechanism, subsampled, with_classes
from segshuffle.accounting.single_message.variation_ratio import VariationBound
from segshuffle.digits import rounded_down, rounded_up
from segshuffle.pipeline.tables import to_json

#: delta = DELTA_TIMES_N/n wherever nothing else is said.
DELTA_TIMES_N = 0.01
LOCAL_EPSILONS = (0.1, 5.0)

Row = dict[str, Any]


def tidy(*, parameters: Mapping[str, Any], **columns: Any) -> Row:
    """Make one row, with parameters as JSON. A lower bound is rounded down, every other privacy number up."""
    safe = rounded_down if columns["kind"] == "lower" else rounded_up
    if columns["y_name"] in ("epsilon", "delta"):
        columns["y"] = safe(columns["y"])
    known = {key: safe(value) if key in ("epsilon", "delta") else value for key, value in parameters.items()}
    return {**columns, "parameters": to_json(known)}


def point(
    panel: str,
    curve: str,
    accountant: str,
    x: float,
    known: Mechanism,
    n_users: int,
    delta: float | None = None,
    *,
    x_name: str = "local_epsilon",
    ratio: bool,
) -> Row:
    """Compute one point of a curve: the least epsilon of a mechanism at delta, by one accountant.

    Parameters
    ----------
    panel, curve : str
        Panel of the figure; mechanism or variant that the curve is about.
    accountant : str
        One of the accountants of one message.
    x : float
        Abscissa.
    known : Mechanism
        What the accountant sees.
    n_users : int
        Number of users; multi-message protocols: 1 + the number of blanket messages.
    delta : float, optional
        Target; `DELTA_TIMES_N`/n_users if not given.
    x_name : str
        Name of the abscissa.
    ratio : bool
        Whether y is log2(x/epsilon), the papers' amplification ratio; otherwise y is epsilon.
    """
    asked = ACCOUNTANTS[accountant]
    delta = DELTA_TIMES_N / n_users if delta is None else delta
    safe = rounded_down if asked.kind == "lower" else rounded_up
    epsilon = safe(asked.epsilon_of(known, n_users, delta))
    return tidy(
        panel=panel,
        curve=curve,
        accountant=accountant,
        kind=asked.kind_for(known),
        status=asked.status_for(known),
        x_name=x_name,
        x=x,
        y_name="log2_ratio" if ratio else "epsilon",
        y=math.log2(x / epsilon) if ratio else epsilon,
        parameters={"n_users": n_users, "delta": delta, "epsilon": epsilon, **known.parameters},
    )


def spaced(low: float, high: float, points: int, *, log: bool) -> list[float]:
    """Return `points` numbers from low to high, evenly spaced (in the logarithm), in three digits."""
    space = np.geomspace if log else np.linspace
    return [float(f"{value:.3g}") for value in space(low, high, points)]


def compute(name: str, *, points: int) -> pd.DataFrame:
    """Make the tidy table of a figure or table.

    Parameters
    ----------
    name : str
        Figure or table, such as decomposition2.
    points : int
        Points of every curve; tables have the paper's own.

    Returns
    -------
    DataFrame
        Column figure, then those that `tidy` is given, one row per point.
    """
    return pd.DataFrame({"figure": name, **row} for row in FIGURES[name](points))


# --- decomposition paper ---------------------------------------------------------------------------------------------

#: Numbers of users.
USERS = (10_000, 1_000_000)
#: Cells on each half of [0, 1]: bounds stay bounds, the curves do not move visibly with more.
LAPLACE_CELLS = 150
BOTH = ("blanket", "blanket-lower")
#: Accountants of Figures 2 and 3.
AGAINST = (*BOTH, "standard-clone", "hoeffding", "bennett")
#: (local epsilon, epsilon) of Figure 8.
AMPLIFICATION_VARIABLES = ((1.0, 0.1), (4.0, 0.5))

#: Makes a mechanism from its ``local_epsilon``.
Build = Callable[..., Mechanism]

SINGLE: dict[str, Build] = {
    "10-RR": partial(mechanism, "krr", domain_size=10),
    "BLH": partial(mechanism, "blh"),
    "RAPPOR": partial(mechanism, "rappor"),
    "OUE": partial(mechanism, "oue"),
    "Laplace": lambda **known: with_classes(mechanism("laplace", **known), cells=LAPLACE_CELLS),
}


def _power(n_users: int) -> str:
    return f"$n = 10^{round(math.log10(n_users))}$"


def _curves(
    panel: str,
    curve: str,
    build: Build,
    accountants: Iterable[str],
    n_users: int,
    points: int,
    *,
    upto: float = LOCAL_EPSILONS[1],
    ratio: bool = False,
    delta: float | None = None,
) -> Iterator[Row]:
    """Yield epsilon over the local epsilon, both logarithmic, or its amplification ratio; a curve per accountant."""
    for accountant in accountants:
        for x in spaced(LOCAL_EPSILONS[0], upto, points, log=not ratio):
            yield point(panel, curve, accountant, x, build(local_epsilon=x), n_users, delta, ratio=ratio)


def _variants(builds: Mapping[str, Build], accountants: Sequence[str], points: int) -> Iterator[Row]:
    """Put several mechanisms in one panel, a panel per number of users."""
    for n_users in USERS:
        for curve, build in builds.items():
            yield from _curves(_power(n_users), curve, build, accountants, n_users, points)


def _joint(name: str, count: int, differing: int | None = None) -> Build:
    """Compose `count` copies of a randomizer, each with an equal share of the local epsilon."""

    def build(local_epsilon: float) -> Mechanism:
        one = SINGLE[name](local_epsilon=local_epsilon / count)
        return with_classes(composed([one] * count, "joint"), differing=differing)

    return build


def _parallel(builds: Sequence[Build]) -> Build:
    """Let every user send through one of several randomizers, chosen uniformly at random."""
    return lambda **known: composed([build(**known) for build in builds], "parallel")


def single_randomizers(points: int) -> Iterator[Row]:
    """Yield the points of Figure 2: single randomizers, two numbers of users."""
    for name, build in SINGLE.items():
        for n_users in USERS:
            yield from _curves(f"{name}, {_power(n_users)}", name, build, AGAINST, n_users, points)


def joint_compositions(points: int) -> Iterator[Row]:
    """Yield the points of Figure 3: joint composition, beside one randomizer with the whole budget."""
    for name in ("10-RR", "BLH", "RAPPOR", "OUE"):
        for count in (2, 3):
            panel, curve = f"{name}, {count}-joint", f"{count}-joint"
            yield from _curves(panel, curve, _joint(name, count), AGAINST, USERS[0], points)
            yield from _curves(panel, "single", SINGLE[name], ("blanket",), USERS[0], points)


def _rappor(domain_size: int) -> Build:
    return lambda **known: with_classes(SINGLE["RAPPOR"](**known), domain_size=domain_size)


def _sampled(rate: float) -> Build:
    return lambda **known: subsampled(SINGLE["10-RR"](**known), rate)


#: Figure 4: 10-RR, BLH and their parallel composition with probability 1/2 each.
_PARALLEL = {"10-RR": SINGLE["10-RR"], "parallel": _parallel([SINGLE["10-RR"], SINGLE["BLH"]]), "BLH": SINGLE["BLH"]}
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
    [1/2, 1], to 1 - e^{eps + eps_0} on y > 1 (Appendix B of the paper, not in our copy). The share of the blanket's
    mass right of an output in [0, 1/2] is 1 - e^{eps_0 (y - 1/2)}/2, right of one in [1/2, 1] e^{eps_0 (1/2 - y)}/2.

    Parameters
    ----------
    local_epsilon : float
        epsilon_0 > epsilon.
    epsilon : float
        At least 0.
    value : float
        Where it is evaluated.
    """
    least, largest = gparv_range(local_epsilon, epsilon)
    if not least <= value < largest:
        return float(value >= largest)
    blanket, gain = math.exp(-0.5 * local_epsilon), math.exp(epsilon)
    below = 0.5 * math.sqrt(gain / (1 - value)) if value < 1 - gain else 1 - 0.5 / math.sqrt(value + gain)
    return blanket * below + (1 - blanket if value >= 0 else 0.0)


def gparv_range(local_epsilon: float, epsilon: float) -> tuple[float, float]:
    """Return the least and the largest value of G, see `laplace_gparv_cdf`."""
    return -math.expm1(epsilon + local_epsilon), math.exp(local_epsilon) - math.exp(epsilon)


def amplification_variables(points: int) -> Iterator[Row]:
    """Tabulate Figure 8: distribution function of G, with both sides of every jump."""
    for local_epsilon, epsilon in AMPLIFICATION_VARIABLES:
        known = {"local_epsilon": local_epsilon, "epsilon": epsilon}
        jumps = 0.0, *gparv_range(local_epsilon, epsilon)
        inside = np.linspace(*jumps[1:], 20 * points).tolist()
        for value in sorted({*inside, *jumps, *(math.nextafter(jump, -math.inf) for jump in jumps)}):
            yield tidy(
                panel=f"$\\varepsilon_0 = {local_epsilon:g}$, $\\varepsilon = {epsilon:g}$",
                curve="Laplace",
                accountant="gparv",
                kind="exact",
                status="proven",
                x_name="value",
                x=value,
                y_name="probability",
                y=laplace_gparv_cdf(**known, value=value),
                parameters=known,
            )


# --- variation-ratio paper -------------------------------------------------------------------------------------------

VARIATION_USERS = (10_000, 100_000)
DOMAIN_SIZES = (16, 128)
GLOBAL_EPSILONS = (0.01, 1.5)
#: Upper end of the curve of Erlingsson et al.: their theorem asks for a local epsilon below 1/2.
ERLINGSSON_UP_TO = 0.49
#: Largest flip probability of the protocol of Cheu and Zhilyaev; the number of fake messages follows.
LARGEST_FLIP = 0.25
BINS_DELTA = 1e-6
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


def best_subset(local_epsilon: float, domain_size: int) -> Mechanism:
    """Select subsets of the size that is best for estimation: the integer nearest to d/(e^epsilon_0 + 1), at least 1.

    In Theorem 5.1 all others hold x*, here a third item. Of subsets with x0 but not x1, (k - 1)/(d - 2) have x*.
    """
    size = max(1, round(domain_size / (math.exp(local_epsilon) + 1)))
    made = mechanism("subset-selection", local_epsilon=local_epsilon, domain_size=domain_size, subset_size=size)
    held_by_others = math.log1p(math.expm1(local_epsilon) * (size - 1) / (domain_size - 2))
    variation: Any = made.variation
    return replace(made, lower=replace(variation, log_q=local_epsilon - held_by_others))


def best_hash(local_epsilon: float) -> Mechanism:
    """Hash into the length that is best for estimation: the integer nearest to e^epsilon_0 + 1, at least 2.

    Lower and blanket bounds are those of randomized response on the hash values. In Theorem 5.1, x* is any third value,
    or x0 if there are only two.
    """
    size = max(2, round(math.exp(local_epsilon) + 1))
    response = mechanism("krr", local_epsilon=local_epsilon, domain_size=size).randomizer
    made = mechanism("local-hash", local_epsilon=local_epsilon, hash_size=size)
    variation: Any = made.variation
    return replace(made, randomizer=response, lower=replace(variation, log_q_other=0.0 if size == 2 else None))


def _over_local(panel: str, curve: str, n_users: int, points: int, build: Build) -> Iterator[Row]:
    """Yield a mechanism's amplification ratio by Erlingsson's theorem, `EARLIER`, and for subsets `BOTH`."""
    bare, known = partial(Mechanism, name="any"), (*EARLIER, *(BOTH if curve == "subset" else ()))
    few = max(2, points // 3)
    yield from _curves(panel, curve, bare, ("erlingsson",), n_users, few, upto=ERLINGSSON_UP_TO, ratio=True)
    yield from _curves(panel, curve, build, known, n_users, points, ratio=True)


def subset_selection(points: int) -> Iterator[Row]:
    """Yield the points of Figure 1: subset selection at its best subset size."""
    for domain_size in DOMAIN_SIZES:
        for n_users in VARIATION_USERS:
            build = partial(best_subset, domain_size=domain_size)
            yield from _over_local(f"{_power(n_users)}, $d = {domain_size}$", "subset", n_users, points, build)


def local_hash(points: int) -> Iterator[Row]:
    """Yield the points of Figure 2: optimal local hash."""
    for n_users in VARIATION_USERS:
        yield from _over_local(_power(n_users), "local hash", n_users, points, best_hash)


def fake_users(points: int) -> Iterator[Row]:
    """Yield the points of Figure 3: flipped one-hot vectors among fake users; the domain size enters nowhere."""
    for n_users in VARIATION_USERS:
        delta = DELTA_TIMES_N / n_users
        for claimed in spaced(*GLOBAL_EPSILONS, points, log=True):
            # two bins change, so each must have half of (epsilon, delta)
            count, flip = published_flips(n_users, claimed / 2, delta / 2, largest_flip=LARGEST_FLIP)
            flipped = mechanism("flipped-one-hot", flip=flip)
            yield from _over_claimed(_power(n_users), "fake users", claimed, flipped, count * n_users, delta)


def balls_into_bins(points: int) -> Iterator[Row]:
    """Yield the points of Figure 4: balls into bins, one special bin, the blanket that its own paper asks for."""
    for domain_size in DOMAIN_SIZES:
        bins = mechanism("balls-into-bins", domain_size=domain_size, special_bins=1)
        for claimed in spaced(*GLOBAL_EPSILONS, points, log=True):
            blanket = math.ceil(32 * math.log(2 / BINS_DELTA) * domain_size / claimed**2)
            yield from _over_claimed(f"$d = {domain_size}$", "balls into bins", claimed, bins, blanket, BINS_DELTA)


def _over_claimed(
    panel: str, curve: str, claimed: float, known: Mechanism, blanket: int, delta: float
) -> Iterator[Row]:
    """Yield the extra amplification over the epsilon that the protocol's own paper claims for this blanket."""
    for accountant in CLOSED:
        yield point(panel, curve, accountant, claimed, known, 1 + blanket, delta, x_name="claimed_epsilon", ratio=True)


def range_queries(points: int) -> Iterator[Row]:
    """Yield the points of Figure 5: range queries with one hierarchy level per user, or with groups of users."""
    for levels in (6, 11):
        responses = [partial(mechanism, "krr", domain_size=2 ** (levels - h)) for h in range(levels)]
        asked: dict[str, Build] = {
            "separate-best": responses[0],
            "separate-worst": responses[-1],
            "parallel-basic": partial(mechanism, "general"),
            "parallel-advanced": partial(mechanism, "range-query", levels=levels),
            **dict.fromkeys(BOTH, _parallel(responses)),
        }
        for n_users in VARIATION_USERS:
            panel, delta = f"{_power(n_users)}, $d = {2**levels}$", DELTA_TIMES_N / n_users
            for accountant, build in asked.items():
                users = n_users // levels if accountant.startswith("separate") else n_users
                yield from _curves(panel, "range query", build, (accountant,), users, points, ratio=True, delta=delta)


def bisections(points: int) -> Iterator[Row]:
    """Tabulate Table 5: the bisection with T = 20 and T = 10, the printed value, and epsilon without bisection."""
    accountant = ACCOUNTANTS["variation-ratio"]
    for (local, iterations), printed in PRINTED.items():
        for n_users, value in zip(TABLE_USERS, printed, strict=True):
            bound = VariationBound(variation=tables.general(local_epsilon=local), n_users=n_users)
            delta = DELTA_TIMES_N / n_users
            yield tidy(
                panel=f"T = {iterations}",
                curve=f"local epsilon {local:g}",
                accountant=accountant.name,
                kind=accountant.kind,
                status=accountant.status,
                x_name="n_users",
                x=n_users,
                y_name="epsilon",
                y=bound.bisected_epsilon(delta=delta, iterations=iterations),
                parameters={
                    "local_epsilon": local,
                    "iterations": iterations,
                    "delta": delta,
                    "printed": value,
                    "without_bisection": bound.epsilon(delta=delta),
                },
            )


# --- personalised paper ----------------------------------------------------------------------------------------------


def _personal_rows(noise: str, name: str, n_users: int, epsilons: Sequence[float] = ()) -> Iterator[Row]:
    """Tabulate every bound of a setting: delta over these epsilons, or epsilon at the figure's delta over n."""
    setting = personal.SETTINGS[name]
    kind, fail = ("pure (Laplace)", 0.0) if noise == "laplace" else ("approximate (Gauss)", personal.LOCAL_DELTA)
    x, y = ("epsilon", "delta") if epsilons else ("n_users", "epsilon")
    users = PersonalizedUsers(local_epsilons=setting.budgets(n_users), local_delta=fail)
    for bound_name, bound_kind, bound in personal.bounds_of(users):
        own = bound_name in PERSONAL
        # what depends on the largest budget alone is nearly equal in both settings of a panel
        if not own and name.startswith("Gauss"):
            continue
        declared = ACCOUNTANTS[bound_name]
        pairs = [(epsilon, bound.delta(epsilon=epsilon).upper) for epsilon in epsilons]
        for epsilon, delta in pairs or [(bound.epsilon(delta=personal.FIGURE_DELTA), personal.FIGURE_DELTA)]:
            known = {"n_users": n_users, "delta": delta, "epsilon": epsilon, "mechanism": noise, "setting": name}
            yield tidy(
                panel=f"{kind}, $\\varepsilon_i \\in [{setting.low:g}, {setting.high:g}]$",
                curve=name if own else "largest budget",
                accountant=bound_name,
                kind=bound_kind,
                status=declared.status if bound_kind == declared.kind else "not proven for these users",
                x_name=x,
                x=known[x],
                y_name=y,
                y=known[y],
                parameters=known,
            )


def personal_epsilons(points: int) -> Iterator[Row]:
    """Tabulate Figure 4: epsilon at delta = 1e-5 over n, for `points` of the paper's 20 numbers of users."""
    every = personal.FIGURE_USERS
    chosen = np.unique(np.linspace(0, len(every) - 1, points).round().astype(int))
    for size, noise, law, place in product("12", ("laplace", "gaussian"), ("Uniform", "Gauss"), chosen):
        yield from _personal_rows(noise, law + size, every[place])


def personal_deltas(points: int) -> Iterator[Row]:
    """Tabulate Table 2: delta at five epsilons; Gauss mechanism, Uniform2, n = 1e4."""
    return _personal_rows("gaussian", "Uniform2", personal.TABLE_USERS, personal.TABLE_EPSILONS)


#: Figure or table -> its points or rows, for so many points of every curve.
FIGURES: dict[str, Callable[[int], Iterator[Row]]] = {
    "decomposition2": single_randomizers,
    "decomposition3": joint_compositions,
    "decomposition4": partial(_variants, _PARALLEL, BOTH),
    "decomposition5": partial(_variants, _DOMAINS, BOTH[:1]),
    "decomposition6": partial(_variants, _RATES, BOTH),
    "decomposition7": partial(_variants, _DISTANCES, BOTH[:1]),
    "decomposition8": amplification_variables,
    "variation1": subset_selection,
    "variation2": local_hash,
    "variation3": fake_users,
    "variation4": balls_into_bins,
    "variation5": range_queries,
    "variation-table5": bisections,
    "personalized4": personal_epsilons,
    "personalized-table2": personal_deltas,
}
