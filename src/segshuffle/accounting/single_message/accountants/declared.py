"""What an accountant of one shuffled message says of itself, for everybody who asks, lists, tries or draws it.

* kind ``upper``: a guarantee; ``lower``: no analysis can prove less; ``published``: as its paper states, not proven;
  ``asymptotic``: a limit without an error term; ``exact``: the value itself. Only ``upper`` may be relied on.
* status: one sentence on what is known of it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from segshuffle.accounting.numerics.hockey_stick import DeltaInterval
from segshuffle.errors import ParameterError
from segshuffle.looks import DASHES, PALETTE, Dashes, Look

if TYPE_CHECKING:
    from segshuffle.accounting.single_message.randomizers import Randomizer
    from segshuffle.accounting.single_message.variation_ratio import VariationRatio
    from segshuffle.accounting.single_message.variation_ratio_lower import LowerBound

Kind = Literal["upper", "lower", "published", "asymptotic", "exact"]

SOLID, DASHED, DOTTED, DASH_DOTTED, SHORT, LONG, SPARSE = DASHES


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
        Whether it answers for a mechanism when all are asked. Parts of figures, which nobody asks for, say `never`.
    epsilon_of : callable, optional
        (mechanism, n_users, delta) -> epsilon.
    delta_of : callable, optional
        (mechanism, n_users, epsilon) -> interval of delta.
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
    proven_for_binary: bool = False

    def kind_for(self, mechanism: Mechanism) -> Kind:
        """Kind of its number for this mechanism: a clone's is proven where the victim has no left-over."""
        proven = _is_binary(mechanism) or mechanism.no_left_over
        return "upper" if self.proven_for_binary and proven else self.kind

    def status_for(self, mechanism: Mechanism) -> str:
        """Status of its number for this mechanism."""
        if self.kind != self.kind_for(mechanism):
            if mechanism.no_left_over:
                return "proven: the victim's message has no left-over that could be mixed"
            return "proven: for binary randomized response the pair is the blanket's"
        asks_for_classes = self.applies is has_classes
        return f"{self.status}; {mechanism.caveat}" if mechanism.caveat and asks_for_classes else self.status

    def as_part(self, name: str, look: Look, order: int, **changes: Any) -> Accountant:
        """The same accountant under another name, for a curve of its own in a figure."""
        return replace(self, name=name, look=look, order=order, applies=never, **changes)


def look(label: str, color: str, marker: str, dashes: Dashes) -> Look:
    """How an accountant is drawn: lower bounds have no marker, and no two share marker and dashes."""
    return Look(label, PALETTE[color], marker, dashes)


def always(mechanism: Mechanism) -> bool:
    """For accountants that know the local epsilon alone."""
    return mechanism.local_epsilon < math.inf


def never(mechanism: Mechanism) -> bool:
    """For what only a figure asks for."""
    return False


def has_classes(mechanism: Mechanism) -> bool:
    """For accountants of specific randomizers."""
    return mechanism.randomizer is not None


def has_variation(mechanism: Mechanism) -> bool:
    """For accountants of the variation-ratio parameters."""
    return mechanism.variation is not None


def is_laplace(mechanism: Mechanism) -> bool:
    """For accountants of the Laplace mechanism."""
    return mechanism.name == "laplace"


def _is_binary(mechanism: Mechanism) -> bool:
    return mechanism.name == "krr" and mechanism.parameters.get("domain_size") == 2


def by_epsilon(function: Callable[..., float]) -> Callable[[Mechanism, int, float], float]:
    """Functions that know the local epsilon alone."""
    return lambda m, n, target: function(local_epsilon=m.local_epsilon, n_users=n, delta=target)


def by_epsilon_delta(function: Callable[..., DeltaInterval]) -> Callable[[Mechanism, int, float], DeltaInterval]:
    """The same for a delta."""
    return lambda m, n, level: function(local_epsilon=m.local_epsilon, n_users=n, epsilon=level)


def by_classes(function: Callable[..., float]) -> Callable[[Mechanism, int, float], float]:
    """Functions that know the output classes."""
    return lambda m, n, target: function(randomizer=given(m, "randomizer"), n_users=n, delta=target)


def by_classes_delta(function: Callable[..., DeltaInterval]) -> Callable[[Mechanism, int, float], DeltaInterval]:
    """The same for a delta."""
    return lambda m, n, level: function(randomizer=given(m, "randomizer"), n_users=n, epsilon=level)


def given(mechanism: Mechanism, part: str) -> Any:
    """What an accountant needs of a mechanism, or an error that names it."""
    value = getattr(mechanism, part)
    if value is None:
        raise ParameterError(part, None, f"given: the accountant needs it of {mechanism.name}")
    return value


MIXED = "not proven: its reduction mixes left-overs that the server can tell apart"
