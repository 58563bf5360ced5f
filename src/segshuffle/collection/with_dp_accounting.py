"""Plans as events of dp_accounting, and a `PLDAccountant` that composes them with other mechanisms.

Only those who use this module need dp_accounting (the extra `pld`).
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any, NamedTuple

from segshuffle.extras import require
from segshuffle.plans.plan import Plan
from segshuffle.plans.privacy_loss import privacy_loss_distribution


class Partner(NamedTuple):
    """Classes that subclass those of dp_accounting."""

    event: Any
    """``event(plan=..., level=...)``: all collections of a saved or computed plan, for a user of one level."""
    accountant: Any
    """`PLDAccountant` for neighbours that replace a user's set (REPLACE_ONE), which knows these events, too."""


@functools.cache
def partner() -> Partner:
    """Return the event and the accountant.

    Raises
    ------
    MissingExtraError
        If dp_accounting is not installed.
    """
    require("pld", "An event for dp_accounting")
    from dp_accounting import NeighboringRelation, dp_event
    from dp_accounting.pld import pld_privacy_accountant

    @dataclass(frozen=True, eq=False)
    class CollectionDpEvent(dp_event.DpEvent):  # type: ignore[misc]
        plan: Plan
        level: float

    class CollectionAccountant(pld_privacy_accountant.PLDAccountant):  # type: ignore[misc]
        _pld: Any

        def __init__(self, value_discretization_interval: float = 1e-4) -> None:
            super().__init__(NeighboringRelation.REPLACE_ONE, value_discretization_interval)

        def _maybe_compose(self, event: Any, count: int, do_compose: bool) -> Any:
            if not isinstance(event, CollectionDpEvent):
                return super()._maybe_compose(event, count, do_compose)
            if do_compose:
                interval = self._value_discretization_interval
                one = privacy_loss_distribution(event.plan, level=event.level, interval=interval)
                self._pld = self._pld.compose(one.self_compose(count))
            return None

    return Partner(CollectionDpEvent, CollectionAccountant)
