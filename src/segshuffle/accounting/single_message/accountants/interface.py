"""Declarations of accountants of one shuffled message, for commands, lists, the referee and figures.

* kind ``upper``: a guarantee; ``lower``: no analysis can prove less; ``published``: as its paper states, not proven;
  ``asymptotic``: a limit without an error term; ``exact``: the value itself. Only ``upper`` and ``exact`` are
  guarantees.
* status: one sentence on what is proven or refuted.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from segshuffle.accounting.single_message.randomizers.reference import Randomizer
from segshuffle.accounting.single_message.variation_ratio import VariationRatio
from segshuffle.errors import ParameterError
from segshuffle.numerics.ranges import check_epsilon
from segshuffle.numerics.search import Bound

Kind = Literal["upper", "lower", "published", "asymptotic", "exact"]


@dataclass(frozen=True, kw_only=True)
class Mechanism:
    """What every user applies, as far as it is known.

    Parameters
    ----------
    name : str
        Name of the mechanism.
    local_epsilon : float
        Its pure local guarantee; 0 if inputs make no difference, inf if it has none or needs none.
    randomizer : Randomizer, optional
        Its classes of outputs.
    variation : VariationRatio, optional
        Its variation-ratio parameters, as published.
    lower : VariationRatio, optional
        Its parameters for the lower bound of the variation-ratio paper.
    caveat : str
        What is not proven of `randomizer`'s pair of inputs, or empty.
    no_left_over : bool
        Whether the victim's message has no left-over: no part that is the same for both inputs but differs from what
        others send. Then the number of the variation-ratio reduction is proven.
    parameters : dict
        What it was made from, for records.
    """

    name: str
    local_epsilon: float
    randomizer: Randomizer | None = None
    variation: VariationRatio | None = None
    lower: VariationRatio | None = None
    caveat: str = ""
    no_left_over: bool = False
    parameters: dict[str, float | int] = field(default_factory=dict)


@dataclass(frozen=True)
class Accountant:
    """A bound: what it is, what it needs of a mechanism, and its two functions, which round to the safe side.

    Parameters
    ----------
    name : str
        Identifier in tables, figures and on the command line.
    kind : Kind
        Kind of its numbers.
    status, source : str
        What is known of it, and where it is from.
    order : int
        Its place in lists; equal ones are in the order of their names.
    part : str
        The attribute of `Mechanism` that its functions take beside ``n_users`` and ``delta`` or ``epsilon``.
    epsilon : callable
        Its epsilon at ``delta``; `epsilon_of` never returns more than the local epsilon.
    delta : callable, optional
        Its delta at ``epsilon``.
    asked : tuple of str, optional
        Names of the mechanisms about which it can be asked, if their part is known and finite; by default all. Empty
        for accountants that only figures use.
    proven_for_binary : bool
        Whether its number is proven where the victim has no left-over.
    """

    name: str
    kind: Kind
    status: str
    source: str
    order: int
    part: str
    epsilon: Callable[..., float]
    delta: Callable[..., float] | None = None
    asked: tuple[str, ...] | None = None
    proven_for_binary: bool = False

    def applies(self, mechanism: Mechanism) -> bool:
        """Return whether it can be asked about a mechanism."""
        finite = getattr(mechanism, self.part) not in (None, math.inf)
        return finite and (self.asked is None or mechanism.name in self.asked)

    def epsilon_of(self, mechanism: Mechanism, n_users: int, delta: float) -> float:
        """Return its epsilon at a delta."""
        return min(self.epsilon(**self._known(mechanism), n_users=n_users, delta=delta), mechanism.local_epsilon)

    def delta_of(self, mechanism: Mechanism, n_users: int, epsilon: float) -> float:
        """Return its delta at an epsilon; 0 from the local epsilon on."""
        if self.delta is None:
            raise ParameterError("accountant", self.name, "one that gives a delta; this is a formula for epsilon")
        if epsilon >= mechanism.local_epsilon:
            return 0.0
        return self.delta(**self._known(mechanism), n_users=n_users, epsilon=epsilon)

    def _known(self, mechanism: Mechanism) -> dict[str, Any]:
        return {self.part: getattr(mechanism, self.part)}

    def kind_for(self, mechanism: Mechanism) -> Kind:
        """Return the kind of its number: upper where it is proven because the victim has no left-over."""
        return "upper" if self.proven_for_binary and mechanism.no_left_over else self.kind

    def guarantees(self, mechanism: Mechanism) -> bool:
        """Return whether its number is a proven upper bound for whatever the users hold."""
        only_a_pair = bool(mechanism.caveat) and self.part == "randomizer"
        return self.kind_for(mechanism) in ("upper", "exact") and not only_a_pair

    def status_for(self, mechanism: Mechanism) -> str:
        """Return the status of its number for this mechanism."""
        if self.kind != self.kind_for(mechanism):
            return "proven: here the proof mixes no parts of messages that the server can tell apart"
        return f"{self.status}; {mechanism.caveat}" if mechanism.caveat and self.part == "randomizer" else self.status


def of_bound(make: Callable[..., Bound], *, end: Literal["lower", "upper"] = "upper") -> dict[str, Any]:
    """Return the fields `epsilon` and `delta` of an accountant whose bound is made from its part and ``n_users``.

    `end` is the safe end of the bound's interval, which alone is computed.
    """

    def delta(epsilon: float, **known: Any) -> float:
        check_epsilon(epsilon)
        bound = make(**known)
        return float(getattr(bound, end)(epsilon, bound.rtol))

    return {"epsilon": lambda delta, **known: make(**known).epsilon(delta=delta), "delta": delta}


MIXED = "not proven: its proof mixes parts of messages that the server can tell apart"
