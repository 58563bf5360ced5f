"""How things are drawn: one palette and one type for all protocols, accountants, levels and datasets.

Whatever is drawn declares its `Look` where it is defined; what declares none gets one from `spare_look`. Standard
library only: protocols and accountants import this, figures and the page read it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

Dashes = str | tuple[int, tuple[float, ...]]

#: The one palette: Okabe and Ito's colours, four of Tol's muted ones, and greys. Names are what code refers to.
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
    """How one thing is drawn, the same everywhere; distinguishable without colour by marker and dashes.

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


def spare_look(label: str, index: int, *, taken: Sequence[Look] = ()) -> Look:
    """Return a look for something that declares none: the index-th that differs from all taken ones.

    Parameters
    ----------
    label : str
        Legend entry.
    index : int
        Position among the things without a look, from 0; any number is served.
    taken : sequence of Look
        Looks in use in the same figure; their pairs of colour and marker are not given again while others are left.
    """
    colors = list(PALETTE.values())
    every = [
        (colors[(i + turn) % len(colors)], MARKERS[i % len(MARKERS)], DASHES[i % len(DASHES)])
        for turn in range(len(colors))
        for i in range(len(MARKERS))
    ]
    used = {(look.color, look.marker) for look in taken}
    free = [each for each in every if each[:2] not in used] or every
    return Look(label, *free[index % len(free)])
