"""The variation-ratio bounds (`variation_ratio`), as accountants."""

from dataclasses import replace

from segshuffle.accounting.single_message.accountants.interface import (
    MIXED,
    Accountant,
    of_bound,
)
from segshuffle.accounting.single_message.variation_ratio import LowerVariationBound, VariationBound

_PAPER = "Privacy Amplification via Shuffling: Unified, Simplified, and Tightened"
_NUMERICAL = Accountant(
    "variation-ratio",
    "published",
    f"{MIXED}; refuted for most mechanisms (docs/referee.md)",
    f"{_PAPER}, Theorem 4.1",
    order=40,
    part="variation",
    **of_bound(VariationBound),
    proven_for_binary=True,
)
ACCOUNTANTS = (
    _NUMERICAL,
    Accountant(
        "variation-ratio-closed-form",
        "published",
        "not proven; refuted at one point, where it is smaller than variation-ratio (docs/referee.md)",
        f"{_PAPER}, Theorem 4.2",
        order=41,
        part="variation",
        epsilon=lambda delta, **known: VariationBound(**known).analytic_epsilon(delta=delta),
    ),
    Accountant(
        "variation-asymptotic",
        "published",
        "not proven",
        f"{_PAPER}, Theorem 4.3",
        order=42,
        part="variation",
        epsilon=lambda delta, **known: VariationBound(**known).asymptotic_epsilon(delta=delta),
        asked=(),
    ),
    Accountant(
        "variation-lower",
        "lower",
        "proven",
        f"{_PAPER}, Theorem 5.1",
        order=43,
        part="lower",
        asked=(),
        **of_bound(LowerVariationBound, end="lower"),
    ),
    # the same number for parts of a mechanism: a curve each in a figure
    *(
        replace(_NUMERICAL, name=name, status=status, order=order, asked=())
        for order, (name, status) in enumerate(
            (
                ("separate-best", _NUMERICAL.status),
                ("separate-worst", _NUMERICAL.status),
                ("parallel-basic", MIXED),
                ("parallel-advanced", MIXED),
            ),
            start=44,
        )
    ),
)
