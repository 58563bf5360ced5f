"""The Poisson blanket: single dummies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from segshuffle.accounting.collections.blankets.base import Part
from segshuffle.accounting.collections.poisson_pair import BLANKET_MEAN_RANGE, ItemPair


@dataclass(frozen=True)
class Poisson:
    """Single dummies: every counter is Poisson(mean), and its variance is what the messages cost."""

    name = "poisson"
    means = BLANKET_MEAN_RANGE

    def parts(self, mean: float) -> tuple[Part, ...]:
        """Single units."""
        return (Part(mean, 0.0),)

    def pair(self, mean: float, copies: float) -> ItemPair:
        """Counters of an exchanged item."""
        return ItemPair(mean, copies)

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready form."""
        return {"name": self.name}


POISSON = Poisson()
