"""The decomposition paper: the points of its Figures 2 to 8.

Its "FFT" bounds are those of `accountants/blanket.py`. The upper bound is for all inputs of the other users, the lower
bound for two particular datasets.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

import numpy as np

from segshuffle.accounting.single_message.accountants import Mechanism
from segshuffle.accounting.single_message.mechanisms import composed, mechanism, subsampled, with_classes
from segshuffle.reproduction.studies.amplification.points import BOTH, Build, Row, curves, power, tidy

#: Numbers of users.
USERS = (10_000, 1_000_000)
#: Cells on each half of [0, 1]: bounds stay bounds, the curves do not move visibly with more.
LAPLACE_CELLS = 150
#: Accountants of Figures 2 and 3.
AGAINST = (*BOTH, "standard-clone", "hoeffding", "bennett")
#: (local epsilon, epsilon) of Figure 8.
AMPLIFICATION_VARIABLES = ((1.0, 0.1), (4.0, 0.5))

SINGLE: dict[str, Build] = {
    "10-RR": partial(mechanism, "krr", domain_size=10),
    "BLH": partial(mechanism, "blh"),
    "RAPPOR": partial(mechanism, "rappor"),
    "OUE": partial(mechanism, "oue"),
    "Laplace": lambda **known: with_classes(mechanism("laplace", **known), cells=LAPLACE_CELLS),
}


def _variants(builds: Mapping[str, Build], accountants: Sequence[str], points: int) -> Iterator[Row]:
    """Put several mechanisms in one panel, a panel per number of users."""
    for n_users in USERS:
        for curve, build in builds.items():
            yield from curves(power(n_users), curve, build, accountants, n_users, points)


def _joint(name: str, count: int, differing: int | None = None) -> Build:
    """Compose `count` copies of a randomizer, each with an equal share of the local epsilon."""

    def build(local_epsilon: float) -> Mechanism:
        one = SINGLE[name](local_epsilon=local_epsilon / count)
        return with_classes(composed([one] * count, "joint"), differing=differing)

    return build


def parallel(builds: Sequence[Build]) -> Build:
    """Let every user send through one of several randomizers, chosen uniformly at random."""
    return lambda **known: composed([build(**known) for build in builds], "parallel")


def single_randomizers(points: int) -> Iterator[Row]:
    """Yield the points of Figure 2: single randomizers, two numbers of users."""
    for name, build in SINGLE.items():
        for n_users in USERS:
            yield from curves(f"{name}, {power(n_users)}", name, build, AGAINST, n_users, points)


def joint_compositions(points: int) -> Iterator[Row]:
    """Yield the points of Figure 3: joint composition, beside one randomizer with the whole budget."""
    for name in ("10-RR", "BLH", "RAPPOR", "OUE"):
        for count in (2, 3):
            panel, curve = f"{name}, {count}-joint", f"{count}-joint"
            yield from curves(panel, curve, _joint(name, count), AGAINST, USERS[0], points)
            yield from curves(panel, "single", SINGLE[name], ("blanket",), USERS[0], points)


def _rappor(domain_size: int) -> Build:
    return lambda **known: with_classes(SINGLE["RAPPOR"](**known), domain_size=domain_size)


def _sampled(rate: float) -> Build:
    return lambda **known: subsampled(SINGLE["10-RR"](**known), rate)


def parallel_composition(points: int) -> Iterator[Row]:
    """Yield the points of Figure 4: 10-RR, BLH and their parallel composition with probability 1/2 each."""
    both = parallel([SINGLE["10-RR"], SINGLE["BLH"]])
    return _variants({"10-RR": SINGLE["10-RR"], "parallel": both, "BLH": SINGLE["BLH"]}, BOTH, points)


def domain_sizes(points: int) -> Iterator[Row]:
    """Yield the points of Figure 5: RAPPOR, several domain sizes and the limit."""
    builds = {f"$d = {size}$": _rappor(size) for size in (2, 3, 5, 10, 100)}
    return _variants({**builds, "$d \\to \\infty$": SINGLE["RAPPOR"]}, ("blanket",), points)


def subsampling(points: int) -> Iterator[Row]:
    """Yield the points of Figure 6: 10-RR with Poisson subsampling before shuffling."""
    return _variants({f"rate {rate:g}": _sampled(rate) for rate in (1.0, 0.5, 0.1)}, BOTH, points)


def distances(points: int) -> Iterator[Row]:
    """Yield the points of Figure 7: three 10-RR, neighbours that differ in one, two and three coordinates."""
    builds = {f"distance {distance}": _joint("10-RR", 3, distance) for distance in (1, 2, 3)}
    return _variants(builds, ("blanket",), points)


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
