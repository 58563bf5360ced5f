"""What a guarantee is given against and what it relies on, beyond sizes and levels."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, get_args

from segshuffle.accounting.numerics.ranges import check_choice, check_integer, check_within
from segshuffle.errors import ParameterError

SetKind = Literal["exactly", "at-most"]

#: More collections of one guarantee are refused: their product needs too long a transform.
MOST_ROUNDS = 10_000


@dataclass(frozen=True)
class Assumptions:
    """Who may differ from whom, who can be relied on, and how often data is collected.

    Parameters
    ----------
    sets : {"exactly", "at-most"}
        Whether every user holds exactly s items, or at most s (none is allowed): then nobody pads.
    honest_fraction : float
        Share h in (0, 1] of the n users who certainly send their blanket, and do not tell the server of it.
    private_levels : bool
        Whether neighbours may differ in their level as well as in their items.
    rounds : int
        Collections T >= 1 with this plan, of the same users, within one (epsilon, delta).
    """

    sets: SetKind = "exactly"
    honest_fraction: float = 1.0
    private_levels: bool = False
    rounds: int = 1

    def __post_init__(self) -> None:
        check_choice("sets", self.sets, get_args(SetKind))
        check_within("honest_fraction", self.honest_fraction, 0, 1, "(]")
        check_integer("rounds", self.rounds, 1, most=MOST_ROUNDS)

    def honest_of(self, n_users: int) -> int:
        """Users who certainly are honest, of so many: h n, rounded down, and at least the user in question."""
        exact = Fraction(repr(float(self.honest_fraction))) * n_users
        return max(int(exact + Fraction(1, 10**6)), 1)  # a fraction made of two whole numbers finds them again

    def refuse_beyond_plain(self, method: str, *, covered: Collection[str] = ()) -> None:
        """Refuse what an analysis of users with exactly s items, all of them honest, in one collection cannot cover.

        Parameters
        ----------
        method : str
            Whose analysis it is.
        covered : collection of str
            Assumptions that it covers all the same.

        Raises
        ------
        ParameterError
            Naming the first assumption that the method has no analysis for.
        """
        for name in ("sets", "honest_fraction", "rounds"):
            if name not in covered and getattr(self, name) != getattr(PLAIN, name):
                allowed = f"{getattr(PLAIN, name)!r} for {method}; only the Poisson blanket is analysed beyond that"
                raise ParameterError(name, getattr(self, name), allowed)


#: Users with exactly s items, all of them honest, their levels known, in one collection.
PLAIN = Assumptions()
