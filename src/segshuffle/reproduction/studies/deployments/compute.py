"""What constants that others have published are worth: certified, in a stated view, beside what is stated of them.

A row of `config/reference/deployments.yaml` names a kind of collection, its parameters, and what is stated. Its delta
is enclosed at the stated epsilon, its epsilon at the stated delta. The value of the noise's parameter that meets the
stated guarantee with the least noise is found as well.
"""

import functools
import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from segshuffle.accounting.collections.calibration import epsilon_upper
from segshuffle.accounting.collections.product import EPSILON_LIMIT, closest_interval
from segshuffle.accounting.collections.sample_threshold import SampleThreshold
from segshuffle.accounting.single_message.bit_sums import BitSums
from segshuffle.blankets.singles import SINGLES
from segshuffle.errors import InfeasibleError
from segshuffle.numerics.intervals import SMALLEST_DELTA, DeltaInterval
from segshuffle.numerics.search import Bound, edge_epsilon, safe_edge

#: Relative error of a mass of a table of noise, and the mass that the table may leave out.
_MASS_ERROR, _LEFT_OUT = 1e-11, 1e-290
#: How many deviations a table of noise reaches.
_REACH = 38.0
#: How close to the stated delta the least noise comes, in the root of its log.
_CLOSE = 2e-3
#: Largest threshold that is tried.
_MOST = 1000


class _Dummies(Bound):
    """Poisson dummies among messages about held items, each sent once (docs/proof.md)."""

    ceiling = EPSILON_LIMIT

    def __init__(self, *, mean: float, n_users: int, pairs: int) -> None:
        self.pair, self.pairs = SINGLES.pair(mean * n_users, 1.0), pairs

    def interval(self, epsilon: float, rtol: float) -> DeltaInterval:
        interval, _ = closest_interval(
            self.pair, pairs=self.pairs, epsilon=epsilon, rtol=rtol, smallest=SMALLEST_DELTA, expected=None
        )
        return interval

    def epsilon(self, *, delta: float) -> float:
        return epsilon_upper([(self.pair, self.pairs)], delta=delta)


class _Curator(Bound):
    """Discrete Gaussian noise of another party on two counts, one of which loses what the other gains.

    The ratio of the probabilities depends on the difference of the two noises alone, which moves by 2. The bound is a
    sum over all its values.
    """

    ceiling = math.inf

    def __init__(self, *, deviation: float) -> None:
        reach = math.ceil(_REACH * deviation)
        weight = np.exp(-0.5 * (np.arange(-reach, reach + 1) / deviation) ** 2)
        one = weight / weight.sum()
        difference, moved = np.convolve(one, one), np.zeros(2)
        self.laws = np.append(difference, moved), np.append(moved, difference)

    def interval(self, epsilon: float, rtol: float) -> DeltaInterval:
        gain, (one, other) = math.exp(epsilon), self.laws
        lower = upper = 0.0
        for p, q in ((one, other), (other, one)):
            loss, error = p - gain * q, _MASS_ERROR * (p + gain * q)
            lower = max(lower, float(np.maximum(loss - error, 0).sum()) * (1 - _MASS_ERROR) - gain * _LEFT_OUT)
            upper = max(upper, float(np.maximum(loss + error, 0).sum()) * (1 + _MASS_ERROR) + _LEFT_OUT)
        return DeltaInterval(max(lower, 0.0), min(upper, 1.0))


class Kind(NamedTuple):
    """A kind of collection: its bound, the parameter that sets the noise, and the noise's variance over it."""

    bound: Callable[..., Bound]
    noise: str
    variance: Callable[[float], float] = lambda _: math.nan
    rises: bool = True
    """Whether the variance rises with the parameter."""
    around: float = 2.0
    """Factor around the published value within which the least noise is looked for."""


KINDS = {
    # one of a user's bits moves, so two sums change
    "bit-sums": Kind(
        BitSums, "local_epsilon", lambda local: 0.25 / math.sinh(local / 2) ** 2, rises=False, around=1.15
    ),
    "sample-threshold": Kind(SampleThreshold, "threshold"),
    "poisson-dummies": Kind(_Dummies, "mean", lambda mean: mean),
    "curator": Kind(_Curator, "deviation", lambda deviation: deviation**2),
}


def deployments_table(deployments: list[dict[str, Any]]) -> pd.DataFrame:
    """Tabulate what the rows of `deployments.yaml` are worth.

    Returns
    -------
    DataFrame
        One row for each: name, label, view, the stated epsilon and delta, enclosures of delta at the stated epsilon and
        of epsilon at the stated delta (empty if there is no epsilon), the parameter of the noise with its value and the
        value of the least noise that is certified for what is stated (empty if there is none nearby), and the variance
        of the noise divided by the least one. A row without a kind has no constants, and no numbers.
    """
    return pd.DataFrame([_row(**each) if "kind" in each else _unknown(**each) for each in deployments])


def _unknown(*, name: str, label: str, view: str, **_: Any) -> dict[str, Any]:
    """Return the row of a deployment whose public code has no constants."""
    return {"name": name, "label": label, "view": view}


def _row(
    *, name: str, label: str, kind: str, view: str, stated: Mapping[str, float], parameters: dict[str, Any], **_: Any
) -> dict[str, Any]:
    """Certify one deployment."""
    known = KINDS[kind]
    epsilon, delta = stated["epsilon"], stated["delta"]
    bound = known.bound(**parameters)
    at_epsilon, upper = bound.delta(epsilon=epsilon), bound.epsilon(delta=delta)
    lower = edge_epsilon(bound.lower, ceiling=bound.ceiling, delta=delta, rtol=bound.rtol, lower=True)
    none = math.isinf(upper)
    value = parameters[known.noise]
    least = _least(known, parameters, epsilon, delta)
    return {
        "name": name,
        "label": label,
        "view": view,
        "stated_epsilon": epsilon,
        "stated_delta": delta,
        "delta_lower": at_epsilon.lower,
        "delta_upper": at_epsilon.upper,
        "epsilon_lower": math.nan if none else lower,
        "epsilon_upper": math.nan if none else upper,
        "noise": known.noise,
        "value": float(value),
        "least": least,
        "variance_ratio": known.variance(value) / known.variance(least),
    }


def _least(kind: Kind, parameters: dict[str, Any], epsilon: float, delta: float) -> float:
    """Return the value of the noise's parameter that meets the target with the least noise; nan if none nearby does."""
    noise = kind.noise

    @functools.cache
    def excess(value: float) -> float:
        upper = kind.bound(**{**parameters, noise: value}).delta(epsilon=epsilon).upper
        # nearly linear in the parameter, as for a Gaussian
        return math.sqrt(-math.log(delta)) - math.sqrt(-math.log(max(upper, SMALLEST_DELTA)))

    if noise == "threshold":
        return float(next((value for value in range(1, _MOST) if excess(value) <= 0), math.nan))
    # the published value is one end of the search
    meets = excess(parameters[noise]) <= 0
    factor = kind.around if meets != kind.rises else 1 / kind.around
    ends = parameters[noise], parameters[noise] * factor
    safe, unsafe = ends if meets else ends[::-1]
    try:
        return safe_edge(excess, safe=safe, unsafe=unsafe, tolerance=_CLOSE)
    except InfeasibleError:
        return math.nan
