"""The looks in all figures: one palette, and a table of the labels, colours and markers of methods and accountants.

Only what draws or words something reads this module, so no number depends on it. What is not in a table has its name
as label, and a spare colour that nothing in the tables has.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import pandas as pd

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
    "rose": "#EE3377",
    "brown": "#8C510A",
    "lime": "#88CC00",
    "gold": "#C8B400",
}
#: Colours of `PALETTE` that nothing in the tables has.
SPARE = ("rose", "brown", "lime", "gold")
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
    return list(map(Look, labels, itertools.cycle(colors), itertools.cycle(MARKERS), itertools.cycle(DASHES)))


#: Accounting -> method -> look. Labels of proven methods say so, unless they are references.
METHODS: dict[str, dict[str, Look]] = {
    "published": {
        "segmented": Look.of("Segmented (the paper's)", "black", "o"),
        "almost-single": Look.of("Almost a single message", "orange", ">", 2),
        "mm": Look.of("MM, shuffle", "sky", "^", 3),
        "sepmm": Look.of("SepMM, shuffle", "green", "D", 4),
        "weighted-sepmm": Look.of("Weighted SepMM, shuffle", "vermilion", "P", 5),
        "inverse-variance-sepmm": Look.of("SepMM, inverse variance (not in the paper)", "blue", "X", 6),
        "correlated-noise": Look.of("Correlated noise", "green", "<", 2),
        "fake-users": Look.of("Fake users", "purple", "p", 2),
        "subexp-local": Look.of("Subexp, local", "purple", "v", 2),
        "subexp-shuffle": Look.of("Subexp, shuffle", "orange", "s", 1),
    },
    "proven": {
        "almost-single": Look.of("Almost a single message (proven)", "orange", ">"),
        "augmented-shuffling": Look.of("Augmented shuffling (the shuffler adds the noise)", "vermilion", "v", 3),
        "mm": Look.of("MM (proven)", "sky", "^", 3),
        "sepmm": Look.of("SepMM (proven)", "green", "D", 4),
        "weighted-sepmm": Look.of("Weighted SepMM (proven)", "vermilion", "P", 5),
        "inverse-variance-sepmm": Look.of("SepMM, inverse variance (proven)", "olive", "X", 6),
        "curator-uniform": Look(
            "Gaussian curator, all at the lowest level", PALETTE["dark-grey"], "_", (0, (1.0, 1.0))
        ),
        "curator-weighted": Look("Gaussian curator, weight per level", PALETTE["black"], "|", (0, (8.0, 2.0))),
        "curator-discrete-laplace": Look(
            "Discrete Laplace curator, all at the lowest level", PALETTE["teal"], "_", (0, (1.0, 2.5))
        ),
        "curator-best": Look("Best curator found, weight per level", PALETTE["indigo"], "|", (0, (8.0, 1.5, 1.0, 1.5))),
        "fake-users": Look.of("Fake users (proven)", "purple", "p"),
        "poisson-group": Look.of("Poisson blanket, group privacy (proven)", "grey", "s", 1),
        "poisson": Look.of("Poisson blanket, sampling (ours, proven)", "blue", "o"),
        "poisson-copies": Look.of("Poisson blanket, copies (ours, proven)", "wine", "D"),
        "poisson-equal": Look.of("Poisson blanket, equal copies for all levels (ours, proven)", "teal", "v", 2),
        "subexp-shuffle": Look.of("Subexp, shuffle (proven)", "orange", "s", 1),
        "clustered": Look.of("Clustered blanket (ours, proven)", "blue", "h", 3),
        "signed": Look.of("Signed blanket (ours, proven)", "indigo", "d", 4),
    },
}
#: Method -> addition to its label, with fields from the parameters of its plan.
DETAILS = {"subexp-local": " (ε = {local_epsilon:g})"}
#: Proven methods that the page draws at first, beside all of the paper's.
AT_FIRST = ("poisson", "poisson-copies", "curator-weighted")

#: Accountant -> look, in the order of legends; the last is a curve that no accountant gives. Labels say what is proven,
#: lower bounds have no marker, and no two looks share marker and dashes.
ACCOUNTANTS: dict[str, Look] = {
    "blanket": Look.of("Blanket, numerical (proven)", "blue", "o", 0),
    "blanket-lower": Look.of("Lower bound, two datasets (proven)", "black", "", 2),
    "hoeffding": Look.of("Blanket, Hoeffding (proven)", "sky", "^", 3),
    "bennett": Look.of("Blanket, Bennett (proven)", "green", "D", 5),
    "hoeffding-generic": Look.of("Blanket, Hoeffding, generic (proven)", "sky", "1", 2),
    "bennett-generic": Look.of("Blanket, Bennett, generic (proven)", "green", "2", 6),
    "tails-general": Look.of("Privacy blanket, general (proven)", "grey", "x", 1),
    "tails-specific": Look.of("Privacy blanket, specific (proven)", "green", "<", 5),
    "standard-clone": Look.of("Standard clone (proven)", "orange", "s", 1),
    "standard-clone-closed-form": Look.of("Standard clone, closed form (proven)", "orange", "8", 5),
    "stronger-clone": Look.of("Stronger clone (published)", "purple", "v", 4),
    "variation-ratio": Look.of("Variation ratio (published)", "vermilion", "P", 0),
    "variation-ratio-closed-form": Look.of("Variation ratio, analytic (published)", "olive", "X", 3),
    "variation-asymptotic": Look.of("Variation ratio, asymptotic (published)", "sky", ">", 1),
    "variation-lower": Look.of("Variation ratio, lower bound (proven)", "dark-grey", "", 6),
    "separate-best": Look.of("Separate, best (published)", "grey", "s", 5),
    "separate-worst": Look.of("Separate, worst (published)", "dark-grey", "D", 4),
    "parallel-basic": Look.of("Parallel, basic (published)", "purple", "v", 1),
    "parallel-advanced": Look.of("Parallel, advanced (published)", "orange", "P", 4),
    "erlingsson": Look.of("Erlingsson et al. (proven)", "wine", "*", 4),
    "chen-cao-ge": Look.of("Chen, Cao, Ge (asymptotic)", "teal", "p", 1),
    "personalized": Look.of("Personalised bound (published)", "indigo", "h", 0),
    "personalized-reduction": Look.of("Its reduction, exact (published)", "black", "d", 2),
    "liu-2023": Look.of("Liu et al. 2023 (published)", "wine", "H", 3),
    "gparv": Look.of("Distribution function (exact)", "blue", ""),
}


def looks_of(names: Iterable[str], listed: Mapping[str, Look]) -> dict[str, Look]:
    """Return the looks of what a figure draws: the listed ones in their order, then a spare look for every other name.

    Parameters
    ----------
    names : iterable of str
        Names that occur in the data.
    listed : mapping of str to Look
        `ACCOUNTANTS`, or the methods of one accounting.
    """
    given = dict.fromkeys(names)
    looks = {name: look for name, look in listed.items() if name in given}
    others = [name for name in given if name not in listed]
    return looks | {name: spare_look(name, index) for index, name in enumerate(others)}


def looks_in(table: pd.DataFrame, accounting: str) -> dict[str, Look]:
    """Return the looks of the methods of one accounting in a table, in the order of their first rows.

    Parameters
    ----------
    table : DataFrame
        Columns accounting, method and perhaps parameters. Spare looks differ between all its methods.
    accounting : {"published", "proven"}
        Whose methods are meant.
    """
    first = table.drop_duplicates(["accounting", "method"])
    spare, looks = itertools.count(), {}
    for row in first.to_dict("records"):
        side, name = row["accounting"], row["method"]
        look = METHODS[side].get(name) or spare_look(name, next(spare))
        if side == accounting:
            looks[name] = look._replace(label=label_of(name, side, row.get("parameters")))
    return looks


def label_of(name: str, accounting: str, parameters: str | None = None) -> str:
    """Return the label of a method: its name if it is not listed.

    Parameters
    ----------
    name, accounting : str
        Which method.
    parameters : str, optional
        The parameters of its plan in JSON, as in tables; some labels show one of them.
    """
    if name not in METHODS[accounting]:
        return f"{name} (proven)" if accounting == "proven" else name
    detail = DETAILS.get(name, "").format(**json.loads(parameters)) if parameters else ""
    return METHODS[accounting][name].label + detail


def spare_look(label: str, index: int) -> Look:
    """Return the index-th look, from 0, for what is not in a table; neighbours differ in colour, marker and dashes."""
    listed = [*METHODS["published"].values(), *METHODS["proven"].values(), *ACCOUNTANTS.values()]
    taken = {(look.marker, look.dashes) for look in listed}
    # the numbers of markers and of dashes have no common divisor, so every pair occurs once
    pairs = zip(MARKERS * len(DASHES), DASHES * len(MARKERS), strict=True)
    free = [pair for pair in pairs if pair not in taken]
    return Look(label, PALETTE[SPARE[index % len(SPARE)]], *free[index % len(free)])


def stroke(look: Look, **changed: Any) -> dict[str, Any]:
    """Return the arguments with which matplotlib's `plot` draws a line with markers."""
    return {"color": look.color, "marker": look.marker, "ls": look.dashes, "label": look.label, **changed}
