"""The looks in all figures: one palette and one class for protocols, accountants and levels.

A protocol, blanket or accountant declares its `Look` in its own file. If it declares none, `spare_look` chooses one.
Standard library only: protocols and accountants import this, figures and the page read it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from segshuffle.errors import ParameterError

Dashes = str | tuple[int, tuple[float, ...]]

#: The one palette: Okabe and Ito's but yellow, four of Tol's muted ones, and greys. Names are what code refers to.
PALETTE: dict[str, str] = {
    "black": "#000000",
    "blue": "#0072B2",
    "orange": "#E69F00",
    "green": "#009E73",
    "vermilion": "#D55E00",
    "sky": "#56B4E9",
    "purple": "#CC79A7",
    "wine": "#882255",
    "olive": "#999933",
    "indigo": "#332288",
    "teal": "#44AA99",
    "grey": "#7f7f7f",
    "dark-grey": "#555555",
}
#: Colours of backgrounds, frames and text, which no `Look` has.
TINTS: dict[str, str] = {
    "white": "#ffffff",
    "ink": "#1a1a1a",
    "frame": "#333333",
    "grid": "#d9d9d9",
    "refuted": "#e8c9c0",
}
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "p", "h", "d")
DASHES: tuple[Dashes, ...] = (
    "-",
    (0, (4.0, 1.5)),
    (0, (1.0, 1.2)),
    (0, (5.0, 1.2, 1.0, 1.2)),
    (0, (2.5, 1.0)),
    (0, (7.0, 1.5)),
    (0, (1.0, 2.5)),
)


class Look(NamedTuple):
    """How one thing is drawn in all figures; marker and dashes distinguish looks without colour.

    Parameters
    ----------
    label : str
        Legend entry.
    color : str
        Hex colour, a value of `PALETTE`.
    marker : str
        Matplotlib marker.
    dashes : str or tuple
        Matplotlib line style.
    """

    label: str
    color: str
    marker: str
    dashes: Dashes

    @classmethod
    def of(cls, label: str, color: str, marker: str, dashes: int = 0) -> Look:
        """Take a colour of `PALETTE` by its name, and dashes of `DASHES` by their number."""
        if color not in PALETTE:
            raise ParameterError(f"colour of {label!r}", color, f"one of {', '.join(PALETTE)}")
        return cls(label, PALETTE[color], marker, DASHES[dashes])


#: Colours of things that have an order instead of a look of their own: levels, splits, curves of a family.
_SERIES = ("black", "vermilion", "sky", "green", "purple", "blue")


def series_looks(labels: Iterable[str]) -> list[Look]:
    """Return the looks of any number of things that are told apart by their order, such as levels and splits.

    Parameters
    ----------
    labels : iterable of str
        Legend entries, in order.
    """
    colors = list(dict.fromkeys([*(PALETTE[name] for name in _SERIES), *PALETTE.values()]))
    return [
        Look(label, colors[i % len(colors)], MARKERS[i % len(MARKERS)], DASHES[i % len(DASHES)])
        for i, label in enumerate(labels)
    ]


def looks_of(names: Iterable[str], declared: Mapping[str, Look]) -> dict[str, Look]:
    """Return the looks of what a figure draws: the declared ones in order, then a spare look for every other name.

    Parameters
    ----------
    names : iterable of str
        Names that occur in the data.
    declared : mapping of str to Look
        Declared looks, in the order of the legend.
    """
    given = dict.fromkeys(names)
    found = {name: look for name, look in declared.items() if name in given}
    others = [name for name in given if name not in declared]
    taken = list(declared.values())
    return found | {name: spare_look(name, i, taken=taken) for i, name in enumerate(others)}


def spare_look(label: str, index: int, *, taken: Sequence[Look] = ()) -> Look:
    """Return a look for something that declares none: the index-th that differs from all taken ones.

    Parameters
    ----------
    label : str
        Legend entry.
    index : int
        Position among the things without a look, from 0; there is a look for any number.
    taken : sequence of Look
        Looks in use in the same figure; their pairs of colour and marker are used again only when no other pair is
        left.
    """
    colors, markers = {look.color for look in taken}, {look.marker for look in taken}
    used = {(look.color, look.marker) for look in taken}
    free = [pair for pair in _pairs() if pair not in used] or _pairs()
    # first those whose colour and marker are not taken
    free.sort(key=lambda pair: (pair[0] in colors) + (pair[1] in markers))
    color, marker = free[index % len(free)]
    return Look(label, color, marker, DASHES[MARKERS.index(marker) % len(DASHES)])


def _pairs() -> list[tuple[str, str]]:
    """Return all pairs of a colour and a marker; neighbours in the list differ in both."""
    colors = list(PALETTE.values())
    # the numbers of colours and of markers have no common divisor, so every pair occurs once
    return [(colors[i % len(colors)], MARKERS[i % len(MARKERS)]) for i in range(len(colors) * len(MARKERS))]


def stroke(look: Look, **changed: Any) -> dict[str, Any]:
    """Return the arguments with which matplotlib's `plot` draws a line with markers."""
    return {"color": look.color, "marker": look.marker, "ls": look.dashes, "label": look.label, **changed}
