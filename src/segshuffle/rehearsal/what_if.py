"""A plan for several values of one or two public numbers, as a table and as a figure."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from segshuffle.errors import InfeasibleError, ParameterError
from segshuffle.protocols.base import Problem

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: What may be varied.
KEYS = ("users", "epsilon", "delta", "set-size", "domain-size")
#: Points of a range without a number, and most plans of a table.
_POINTS, _MOST = 5, 100
#: How many digits a value of a range has: 12599.2 users are 12600.
_DIGITS = 3


def asked(text: str) -> dict[str, tuple[float, ...]]:
    """Read ``users=1e4,1e5,epsilon=0.5:2/4``: lists, and ranges FIRST:LAST/COUNT, even on a logarithmic scale.

    Raises
    ------
    ParameterError
        If it is not of that form.
    """
    found: dict[str, list[float]] = {}
    key = ""
    for part in text.split(","):
        name, equals, value = part.rpartition("=")
        key = name.strip() if equals else key
        if key not in KEYS or (equals and key in found):
            raise ParameterError("what-if", text, f"KEY=VALUES,... with different keys out of {', '.join(KEYS)}")
        found.setdefault(key, []).extend(_values(value, text))
    if len(found) > 2 or math.prod(map(len, found.values())) > _MOST:
        raise ParameterError("what-if", text, f"one or two keys, and at most {_MOST} plans")
    return {name: tuple(dict.fromkeys(values)) for name, values in found.items()}


def _values(text: str, whole: str) -> list[float]:
    ends, _, count = text.partition("/")
    first, colon, last = ends.partition(":")
    try:
        low = float(first)
        if not colon and not count:
            return [low]
        high, points = float(last), int(count) if count else _POINTS
        if not (0 < low < high < math.inf and 2 <= points <= _MOST):
            raise ValueError
    except ValueError:
        raise ParameterError(
            "what-if", whole, "lists 1,2,3 and ranges FIRST:LAST/COUNT with 0 < FIRST < LAST"
        ) from None
    inner = np.geomspace(low, high, points)[1:-1]
    return [low, *(float(f"{value:.{_DIGITS}g}") for value in inner), high]


def changed(problem: Problem, values: Mapping[str, float]) -> Problem:
    """The problem with other values: users in the same shares, levels in the same proportions.

    Parameters
    ----------
    problem : Problem
        What is varied.
    values : mapping of str to float
        Key out of `KEYS` -> value; epsilon is that of the lowest level.
    """
    for name, value in values.items():
        if name == "users":
            problem = replace(problem, level_counts=_scaled(problem.level_counts, _integer(name, value)))
        elif name == "epsilon":
            factor = value / problem.levels[0]
            problem = replace(problem, levels=tuple(float(f"{factor * level:.10g}") for level in problem.levels))
        elif name == "delta":
            problem = replace(problem, delta=value, level_deltas=())
        else:
            problem = replace(problem, **{name.replace("-", "_"): _integer(name, value)})  # type: ignore[arg-type]
    return problem


def _integer(name: str, value: float) -> int:
    if not value.is_integer():
        raise ParameterError(name, value, "an integer")
    return int(value)


def _scaled(counts: Sequence[int], n_users: int) -> tuple[int, ...]:
    """So many users in the same shares, the remainders to the largest fractions."""
    total = sum(counts)
    floors = [count * n_users // total for count in counts]
    rests = sorted(range(len(counts)), key=lambda k: -(counts[k] * n_users % total))
    for k in rests[: n_users - sum(floors)]:
        floors[k] += 1
    return tuple(floors)


def table(
    problem: Problem, values: Mapping[str, tuple[float, ...]], numbers: Callable[[Problem], dict[str, Any]]
) -> list[dict[str, Any]]:
    """A row per combination of values: the values, and what is asked of the problem with them.

    Parameters
    ----------
    problem : Problem
        What is varied.
    values : mapping of str to tuple of float
        As `asked` reads them.
    numbers : callable
        Numbers of one problem; where it has no plan the row says why in ``none``.
    """
    rows = []
    for each in itertools.product(*values.values()):
        point = dict(zip(values, each, strict=True))
        try:
            found = {**numbers(changed(problem, point)), "none": None}
        except InfeasibleError as error:
            found = {"none": str(error)}
        rows.append({**point, **found})
    return rows


def figure(rows: Sequence[Mapping[str, Any]], keys: Sequence[str], measures: Mapping[str, str]) -> Figure:
    """A panel per measure over the key with more values, a curve for each value of the other one.

    Parameters
    ----------
    rows : sequence of mapping
        As `table` makes them.
    keys : sequence of str
        One or two names of columns.
    measures : mapping of str to str
        Column -> what its axis says.
    """
    from segshuffle.looks import series_looks
    from segshuffle.pipeline.style import fit_legend, log_ticks, panel_grid

    values = {key: list(dict.fromkeys(row[key] for row in rows)) for key in keys}
    along = max(keys, key=lambda key: len(values[key]))
    curves = [key for key in keys if key != along]
    made, grid = panel_grid(len(measures), height=2.6)
    others = values[curves[0]] if curves else [None]
    looks = series_looks([f"{curves[0]} = {value:g}" if curves else "plan" for value in others])
    for axes, (measure, label) in zip(grid, measures.items(), strict=True):
        for other, look in zip(others, looks, strict=True):
            points = [
                (row[along], row[measure])
                for row in rows
                if row["none"] is None and (other is None or row[curves[0]] == other) and row.get(measure)
            ]
            x, y = zip(*sorted(points), strict=True) if points else ((), ())
            axes.plot(x, y, label=look.label, color=look.color, marker=look.marker, linestyle=look.dashes)
        axes.set(xscale="log", yscale="log", xlabel=along, ylabel=label)
        log_ticks(axes.xaxis, values[along])
        log_ticks(axes.yaxis)
    if curves:
        fit_legend(made)
    return made


def draw(rows: Sequence[Mapping[str, Any]], keys: Sequence[str], measures: Mapping[str, str], path: Path) -> None:
    """Draw into a file; its ending (png, pdf, svg) says how.

    Raises
    ------
    ParameterError
        If it has another ending.
    """
    from segshuffle.pipeline.style import save

    save(figure(rows, keys, measures), [path])
