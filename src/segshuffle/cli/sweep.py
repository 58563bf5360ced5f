"""Several values of one quantity: read from words, answered as a table, a CSV file or a plot."""

from __future__ import annotations

import argparse
import csv
import io
import math
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from segshuffle.cli.terminal import complain, whole
from segshuffle.errors import ParameterError

#: Values of a range unless another number is given, and the most of them.
_POINTS, _MOST = 13, 200


def numbers(text: str) -> tuple[float, ...]:
    """Read ``1``, ``0.1,0.2`` or ``0.1..10`` (evenly on a logarithmic scale; ``0.1..10/25`` for 25 values)."""
    return _values(text, float, float)


def integers(text: str) -> tuple[int, ...]:
    """Read the same of integers, which may be written as 1e6."""
    return tuple(dict.fromkeys(_values(text, whole, round)))


def numbers_by_key(text: str, keys: Sequence[str]) -> dict[str, tuple[float, ...]]:
    """Read ``users=1e4,1e5,epsilon=0.5..2/4``: one or two of the keys, each with what `numbers` reads.

    Values between the ends of a range have three digits: 12599.2 users are 12600.
    """
    found: dict[str, tuple[float, ...]] = {}
    for part in re.split(r",(?=[^,]*=)", text):
        key, _, values = part.partition("=")
        if key not in keys or key in found:
            raise argparse.ArgumentTypeError(
                f"{text!r} is not KEY=VALUES,... with different keys out of {', '.join(keys)}"
            )
        found[key] = tuple(dict.fromkeys(_values(values, float, lambda value: float(f"{value:.3g}"))))
    if len(found) > 2 or math.prod(map(len, found.values())) > _MOST:
        raise argparse.ArgumentTypeError(f"{text!r} is more than two keys, or more than {_MOST} combinations")
    return found


def _values(text: str, read: Callable[[str], Any], between: Callable[[float], Any]) -> tuple[Any, ...]:
    try:
        if ".." not in text:
            found = tuple(read(word) for word in text.split(","))
            if len(found) > _MOST:
                raise argparse.ArgumentTypeError(
                    f"{len(found)} values are too many: between 1 and {_MOST} are answered"
                )
            return found
        ends, _, count = text.partition("/")
        first, last = (read(word) for word in ends.split(".."))
        points = whole(count) if count else _POINTS
        if not (0 < first < last < math.inf and 2 <= points <= _MOST):
            raise argparse.ArgumentTypeError(
                f"{text!r} is no range: write FIRST..LAST/COUNT, 0 < FIRST < LAST, COUNT between 2 and {_MOST}"
            )
        steps = (math.log(first) + i * math.log(last / first) / (points - 1) for i in range(1, points - 1))
        return (first, *(between(math.exp(step)) for step in steps), last)
    except (ValueError, OverflowError):
        kind = "an integer" if read is whole else "a number"
        raise argparse.ArgumentTypeError(f"{text!r} is not {kind}, a list 1,2,3 or a range 1..1e6/13") from None


def swept(quantities: dict[str, tuple[Any, ...] | None]) -> str | None:
    """Name of the one quantity with several values, if there is one.

    Raises
    ------
    ParameterError
        If there are two.
    """
    several = [name for name, values in quantities.items() if values is not None and len(values) > 1]
    if len(several) > 1:
        raise ParameterError(
            " and ".join(several), "several values each", "one quantity with several values, all others with one"
        )
    return several[0] if several else None


def as_csv(rows: list[dict[str, Any]]) -> str:
    """Rows of equal keys as CSV."""
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def as_table(rows: list[dict[str, Any]], along: str, value: str) -> str:
    """One line per value of what is swept, one column per accountant."""
    names = list(dict.fromkeys(row["accountant"] for row in rows))
    cells = {(row[along], row["accountant"]): row[value] for row in rows}
    table = [[along, *names]]
    for at in dict.fromkeys(row[along] for row in rows):
        found = (cells.get((at, name)) for name in names)
        table.append([f"{at:.6g}", *("-" if each is None else f"{each:.6g}" for each in found)])
    widths = [13, *(max(len(name), 11) for name in names)]
    lines = ("  ".join(map(str.ljust, row, widths)) for row in table)
    return "\n".join(line.rstrip() for line in lines)


def draw(rows: list[dict[str, Any]], along: str, value: str, title: str, path: Path) -> None:
    """Draw one curve per accountant into a file; its ending (.png, .pdf, .svg) says how.

    Points that logarithmic axes cannot show are counted on standard error; where there are no others, nothing is drawn.
    """
    from segshuffle.accounting.single_message.accountants import ACCOUNTANTS
    from segshuffle.looks import stroke
    from segshuffle.pipeline.style import fit_legend, log_axes, panel_grid, save

    drawn = [row for row in rows if row[along] > 0 and 0 < row[value] < math.inf]
    if hidden := len(rows) - len(drawn):
        missing = "" if drawn else f"; {path} is not written"
        complain(f"segshuffle account: {hidden} of {len(rows)} points are 0 or infinite and cannot be drawn{missing}")
    if not drawn:
        return
    figure, (axes,) = panel_grid(1, height=4.0)
    for name in dict.fromkeys(row["accountant"] for row in drawn):
        x, y = zip(*((row[along], row[value]) for row in drawn if row["accountant"] == name), strict=True)
        axes.plot(x, y, **stroke(ACCOUNTANTS[name].look, markersize=4))
    log_axes(axes)
    axes.set(xlabel=along.replace("_", " "), ylabel=value.replace("_", " "), title=title)
    fit_legend(figure)
    save(figure, [path])
