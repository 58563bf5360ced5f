"""Declarations of accountants of one shuffled message, for everybody who asks, lists, tries or draws them.

* kind ``upper``: a guarantee; ``lower``: no analysis can prove less; ``published``: as its paper states, not proven;
  ``asymptotic``: a limit without an error term; ``exact``: the value itself. Only ``upper`` may be relied on.
* status: one sentence on what is known of it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from segshuffle.accounting.numerics.hockey_stick import DeltaInterval
from segshuffle.accounting.numerics.search import Bound
from segshuffle.errors import ParameterError
from segshuffle.looks import DASHES, PALETTE, Look

if TYPE_CHECKING:
    from segshuffle.accounting.single_message.randomizers.reference import Randomizer
    from segshuffle.accounting.single_message.variation_ratio import VariationRatio
    from segshuffle.accounting.single_message.variation_ratio_lower import LowerBound

Kind = Literal["upper", "lower", "published", "asymptotic", "exact"]

_DASHES = dict(zip(("solid", "dashed", "dotted", "dash-dotted", "short", "long", "sparse"), DASHES, strict=True))


@dataclass(frozen=True, kw_only=True)
class Mechanism:
    """What every user applies, as far as it is known.

    Parameters
    ----------
    name : str
        Name of the mechanism.
    local_epsilon : float
        Its pure local guarantee; 0 where inputs make no difference, inf if it has none or it is not asked for.
    randomizer : Randomizer, optional
        Its classes of outputs.
    variation : VariationRatio, optional
        Its variation-ratio parameters, as published.
    lower : LowerBound, optional
        Its parameters for the lower bound of the variation-ratio paper.
    caveat : str
        What is not proven of `randomizer`'s pair of inputs; empty if nothing.
    no_left_over : bool
        Whether the victim sends nothing for both inputs alike that others do not send in the same way: then the
        variation-ratio reduction mixes nothing, and its number is proven.
    parameters : dict
        What it was made from, for records.
    """

    name: str
    local_epsilon: float
    randomizer: Randomizer | None = None
    variation: VariationRatio | None = None
    lower: LowerBound | None = None
    caveat: str = ""
    no_left_over: bool = False
    parameters: dict[str, float | int] = field(default_factory=dict)


@dataclass(frozen=True)
class Accountant:
    """A bound: what it is, what it needs of a mechanism, and its two functions.

    Parameters
    ----------
    name : str
        Identifier in tables, figures and on the command line.
    kind : Kind
        Direction of its numbers.
    status, source : str
        What is known of it, and where it is from.
    look : Look
        How it is drawn; proven ones say so in the label.
    order : int
        Its place in lists and legends; equal ones are in the order of their names.
    applies : callable
        Whether it answers for a mechanism when all are asked. Curves of figures that nobody asks for say `never`.
    epsilon_of : callable
        (mechanism, n_users, delta) -> epsilon.
    delta_of : callable, optional
        (mechanism, n_users, epsilon) -> interval of delta.
    specific : bool
        Whether its number is for the pair of inputs of the mechanism's classes.
    proven_for_binary : bool
        Whether its number is proven where the victim has no left-over.
    """

    name: str
    kind: Kind
    status: str
    source: str
    look: Look
    order: int
    applies: Callable[[Mechanism], bool]
    epsilon_of: Callable[[Mechanism, int, float], float]
    delta_of: Callable[[Mechanism, int, float], DeltaInterval] | None = None
    specific: bool = False
    proven_for_binary: bool = False

    def kind_for(self, mechanism: Mechanism) -> Kind:
        """Return the kind of its number for this mechanism: a clone's is proven where the victim has no left-over."""
        binary = mechanism.name == "krr" and mechanism.parameters.get("domain_size") == 2
        return "upper" if self.proven_for_binary and (binary or mechanism.no_left_over) else self.kind

    def status_for(self, mechanism: Mechanism) -> str:
        """Return the status of its number for this mechanism."""
        if self.kind != self.kind_for(mechanism):
            if mechanism.no_left_over:
                return "proven: the victim's message has no left-over that could be mixed"
            return "proven: for binary randomized response the pair is the blanket's"
        return f"{self.status}; {mechanism.caveat}" if mechanism.caveat and self.specific else self.status


def asks_for(
    part: str,
    epsilon: Callable[..., float],
    delta: Callable[..., DeltaInterval] | None = None,
    *,
    applies: Callable[[Mechanism], bool] | None = None,
) -> dict[str, Any]:
    """Connect an accountant with functions that know one part of a mechanism.

    Parameters
    ----------
    part : str
        The attribute of `Mechanism` that the functions take beside ``n_users`` and ``delta`` or ``epsilon``.
    epsilon, delta : callable
        The functions; an epsilon is never above the local one.
    applies : callable, optional
        For whom it answers; default: wherever the part is known and finite.

    Returns
    -------
    dict
        The fields `applies`, `epsilon_of`, `delta_of` and `specific` of an `Accountant`.
    """

    def known(mechanism: Mechanism) -> dict[str, Any]:
        value = getattr(mechanism, part)
        if value is None:
            raise ParameterError(part, None, f"given: the accountant needs it of {mechanism.name}")
        return {part: value}

    return {
        "applies": applies or (lambda m: getattr(m, part) is not None and getattr(m, part) != math.inf),
        "epsilon_of": lambda m, n, target: min(epsilon(**known(m), n_users=n, delta=target), m.local_epsilon),
        "delta_of": delta and (lambda m, n, level: delta(**known(m), n_users=n, epsilon=level)),
        "specific": part == "randomizer",
    }


def asks_bound(
    part: str, make: Callable[..., Bound], *, applies: Callable[[Mechanism], bool] | None = None
) -> dict[str, Any]:
    """Do the same with a bound that is made from that part and ``n_users``."""
    return asks_for(
        part,
        lambda delta, **known: make(**known).epsilon(delta=delta),
        lambda epsilon, **known: make(**known).delta(epsilon=epsilon),
        applies=applies,
    )


def look(label: str, color: str, marker: str, dashes: str) -> Look:
    """Make the look of an accountant: lower bounds have no marker, and no two share marker and dashes."""
    return Look(label, PALETTE[color], marker, _DASHES[dashes])


def never(mechanism: Mechanism) -> bool:
    """Return False: for what only a figure asks for."""
    return False


MIXED = "not proven: its reduction mixes left-overs that the server can tell apart"
