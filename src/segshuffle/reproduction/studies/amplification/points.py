"""Rows and points of the curves of the amplification papers."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from segshuffle.accounting.single_message.accountants import ACCOUNTANTS, Mechanism
from segshuffle.digits import rounded_down, rounded_up
from segshuffle.reproduction.tables import to_json

#: delta = DELTA_TIMES_N/n wherever nothing else is said.
DELTA_TIMES_N = 0.01
LOCAL_EPSILONS = (0.1, 5.0)

Row = dict[str, Any]
#: Makes a mechanism from its ``local_epsilon``.
Build = Callable[..., Mechanism]
#: The proven upper and lower bound.
BOTH = ("blanket", "blanket-lower")


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
    delta: float,
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
    delta : float
        Target.
    x_name : str
        Name of the abscissa.
    ratio : bool
        Whether y is log2(x/epsilon), the papers' amplification ratio; otherwise y is epsilon.
    """
    asked = ACCOUNTANTS[accountant]
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


def power(n_users: int) -> str:
    """Write a number of users as a power of ten, the name of a panel."""
    return f"$n = 10^{round(math.log10(n_users))}$"


def curves(
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
    """Yield epsilon over the local epsilon, both logarithmic, or its amplification ratio; a curve per accountant.

    The target delta is `DELTA_TIMES_N`/n_users if it is not given.
    """
    delta = DELTA_TIMES_N / n_users if delta is None else delta
    made = {x: build(local_epsilon=x) for x in spaced(LOCAL_EPSILONS[0], upto, points, log=not ratio)}
    for accountant in accountants:
        for x, known in made.items():
            yield point(panel, curve, accountant, x, known, n_users, delta, ratio=ratio)
