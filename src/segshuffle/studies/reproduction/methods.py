"""Which methods run under which accounting, and at which points: the line-up of the 18 panels.

The published side is the paper's protocol and the configured competitors with the accounting that their papers state;
the proven side is the Poisson blanket, the same competitors with proven accounting, and trusted curators.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from segshuffle.pipeline.design import Config
from segshuffle.pipeline.jobs import kept
from segshuffle.protocols.base import Method
from segshuffle.protocols.registry import competitor, proven_curves, proven_methods
from segshuffle.protocols.segmented import Segmented

#: What a row of the tidy table is: a point over the grid of m, the method's own best m, the best within a budget of
#: messages, or the estimates of "best" moved to sum to s, or projected onto possible frequencies.
ROLES = ("grid", "best", "budget", "recentred", "projected")
#: Roles of the methods that are drawn over m; competitors and references have their best m alone.
_CURVE = ("grid", "best")
_CURVES = {
    "poisson": ("grid", "best", "budget", "projected"),
    # without a budget, copies only grow
    "poisson-copies": ("grid", "budget"),
}
_POINT = ("best",)


class Entry(NamedTuple):
    """A method and the roles in which it runs."""

    method: Method
    roles: tuple[str, ...]


def lineup(config: Config, accounting: str) -> dict[str, Entry]:
    """Every method of one accounting by name, in a fixed order.

    Parameters
    ----------
    config : dict
        "published" uses the section ``competitors``, "proven" the section ``proven``.
    accounting : {"published", "proven"}
        Which side.
    """
    if accounting == "published":
        section = config["competitors"]
        curves: dict[str, Method] = {"segmented": Segmented()}
        points = {name: competitor(name, section) for name in section["methods"]}
    else:
        curves, points = proven_curves(config["proven"]), proven_methods(config["proven"])
    entries = {name: Entry(method, _CURVES.get(name, _CURVE)) for name, method in curves.items()}
    return entries | {name: Entry(method, _POINT) for name, method in points.items()}


def kept_of(
    method: Method, name: str, made_of: object, make: Callable[[], str], *, code: Mapping[str, str] | None, folder: str
) -> str:
    """Return what a job found out about a method, if it is kept from the same code and input; else make and keep it.

    So a new method, or an edited one, costs its own work only.

    Parameters
    ----------
    method : Method
        The method.
    name, made_of, make
        As in `jobs.kept`; `made_of` need not name the code.
    code : mapping, optional
        File of a method -> digest of the code behind all that is found out about its methods. Without it nothing is
        kept.
    folder : str
        Where it is kept.
    """
    if code is None:
        return make()
    # a method of a file that declares none depends on all of them
    own = code.get(type(method).__module__.rpartition(".")[2], sorted(code.items()))
    return kept(folder, name, (own, method, made_of), make)
