"""The variation-ratio paper: the points of its Figures 1 to 5, and the rows of its Table 5.

The curves named variation-ratio are the published ones. In Figures 1 and 5 the proven upper and lower bounds of
`accountants/blanket.py` are drawn, too.
"""

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import cache, partial
from typing import Any

from segshuffle.accounting.collections.flipped_bits import published_flips
from segshuffle.accounting.single_message import variation_ratio_tables as tables
from segshuffle.accounting.single_message.accountants import ACCOUNTANTS, Mechanism
from segshuffle.accounting.single_message.mechanisms import mechanism
from segshuffle.accounting.single_message.variation_ratio import VariationBound
from segshuffle.reproduction.studies.amplification.decomposition import parallel
from segshuffle.reproduction.studies.amplification.points import (
    BOTH,
    DELTA_TIMES_N,
    Build,
    Row,
    curves,
    point,
    power,
    spaced,
    tidy,
)

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
    yield from curves(panel, curve, bare, ("erlingsson",), n_users, few, upto=ERLINGSSON_UP_TO, ratio=True)
    yield from curves(panel, curve, build, known, n_users, points, ratio=True)


def subset_selection(points: int) -> Iterator[Row]:
    """Yield the points of Figure 1: subset selection at its best subset size."""
    for domain_size in DOMAIN_SIZES:
        for n_users in VARIATION_USERS:
            build = partial(best_subset, domain_size=domain_size)
            yield from _over_local(f"{power(n_users)}, $d = {domain_size}$", "subset", n_users, points, build)


def local_hash(points: int) -> Iterator[Row]:
    """Yield the points of Figure 2: optimal local hash."""
    for n_users in VARIATION_USERS:
        yield from _over_local(power(n_users), "local hash", n_users, points, best_hash)


def fake_users(points: int) -> Iterator[Row]:
    """Yield the points of Figure 3: flipped one-hot vectors among fake users; the domain size enters nowhere."""
    for n_users in VARIATION_USERS:
        delta = DELTA_TIMES_N / n_users
        for claimed in spaced(*GLOBAL_EPSILONS, points, log=True):
            # two bins change, so each must have half of (epsilon, delta)
            count, flip = published_flips(n_users, claimed / 2, delta / 2, largest_flip=LARGEST_FLIP)
            flipped = mechanism("flipped-one-hot", flip=flip)
            yield from _over_claimed(power(n_users), "fake users", claimed, flipped, count * n_users, delta)


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
            **dict.fromkeys(BOTH, cache(parallel(responses))),
        }
        for n_users in VARIATION_USERS:
            panel, delta = f"{power(n_users)}, $d = {2**levels}$", DELTA_TIMES_N / n_users
            for accountant, build in asked.items():
                users = n_users // levels if accountant.startswith("separate") else n_users
                yield from curves(panel, "range query", build, (accountant,), users, points, ratio=True, delta=delta)


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
