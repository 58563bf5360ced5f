"""The variation-ratio bounds (`variation_ratio` and its closed forms and lower bound), as accountants."""

from dataclasses import replace

from segshuffle.accounting.single_message.accountants.declared import (
    MIXED,
    Accountant,
    look,
    never,
    of_bound,
)
from segshuffle.accounting.single_message.variation_ratio import VariationBound
from segshuffle.accounting.single_message.variation_ratio_lower import LowerVariationBound

_PAPER = "Privacy Amplification via Shuffling: Unified, Simplified, and Tightened"
_NUMERICAL = Accountant(
    "variation-ratio",
    "published",
    f"{MIXED}; refuted for most mechanisms (docs/referee.md)",
    f"{_PAPER}, Theorem 4.1",
    look("Variation ratio (published)", "vermilion", "P", "solid"),
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
        f"{MIXED}; refuted like variation-ratio, and even smaller where few clones are expected (docs/referee.md)",
        f"{_PAPER}, Theorem 4.2",
        look("Variation ratio, analytic (published)", "olive", "X", "dash-dotted"),
        order=41,
        part="variation",
        epsilon=lambda delta, **known: VariationBound(**known).analytic_epsilon(delta=delta),
    ),
    Accountant(
        "variation-asymptotic",
        "published",
        MIXED,
        f"{_PAPER}, Theorem 4.3",
        look("Variation ratio, asymptotic (published)", "sky", ">", "dashed"),
        order=42,
        part="variation",
        epsilon=lambda delta, **known: VariationBound(**known).asymptotic_epsilon(delta=delta),
        asked=never,
    ),
    Accountant(
        "variation-lower",
        "lower",
        "proven",
        f"{_PAPER}, Theorem 5.1",
        look("Variation ratio, lower bound", "dark-grey", "", "sparse"),
        order=43,
        part="lower",
        asked=never,
        **of_bound(LowerVariationBound),
    ),
    # the same number for parts of a mechanism: a curve each in a figure
    *(
        replace(_NUMERICAL, name=name, status=status, look=look(label, *drawn), order=order, asked=never)
        for order, (name, label, status, drawn) in enumerate(
            (
                ("separate-best", "Separate, best (published)", _NUMERICAL.status, ("grey", "s", "long")),
                ("separate-worst", "Separate, worst (published)", _NUMERICAL.status, ("dark-grey", "D", "short")),
                ("parallel-basic", "Parallel, basic (published)", MIXED, ("purple", "v", "dashed")),
                ("parallel-advanced", "Parallel, advanced (published)", MIXED, ("orange", "P", "short")),
            ),
            start=44,
        )
    ),
)
