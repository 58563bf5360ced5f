"""The variation-ratio bounds (`variation_ratio` and its closed forms and lower bound), as accountants."""

from __future__ import annotations

from dataclasses import replace

from segshuffle.accounting.single_message.accountants.declared import (
    DASH_DOTTED,
    DASHED,
    LONG,
    MIXED,
    SHORT,
    SOLID,
    SPARSE,
    Accountant,
    asks_for,
    look,
    never,
)
from segshuffle.accounting.single_message.variation_ratio import (
    analytic_epsilon,
    asymptotic_epsilon,
    published_delta,
    published_epsilon,
)
from segshuffle.accounting.single_message.variation_ratio_lower import published_lower_epsilon

_PAPER = "Privacy Amplification via Shuffling: Unified, Simplified, and Tightened"
_NUMERICAL = Accountant(
    name="variation-ratio",
    kind="published",
    status=f"{MIXED}; refuted for most mechanisms (docs/referee.md)",
    source=f"{_PAPER}, Theorem 4.1",
    look=look("Variation ratio (published)", "vermilion", "P", SOLID),
    order=40,
    **asks_for("variation", published_epsilon, published_delta, keyword="randomizer"),
    proven_for_binary=True,
)
ACCOUNTANTS = (
    _NUMERICAL,
    Accountant(
        name="variation-ratio-closed-form",
        kind="published",
        status=f"{MIXED}; refuted as the numerical one, and below it where few clones are expected (docs/referee.md)",
        source=f"{_PAPER}, Theorem 4.2",
        look=look("Variation ratio, analytic (published)", "olive", "X", DASH_DOTTED),
        order=41,
        **asks_for("variation", analytic_epsilon, keyword="randomizer"),
    ),
    Accountant(
        name="variation-asymptotic",
        kind="published",
        status=MIXED,
        source=f"{_PAPER}, Theorem 4.3",
        look=look("Variation ratio, asymptotic (published)", "sky", ">", DASHED),
        order=42,
        **asks_for("variation", asymptotic_epsilon, keyword="randomizer", applies=never),
    ),
    Accountant(
        name="variation-lower",
        kind="lower",
        status="proven",
        source=f"{_PAPER}, Theorem 5.1",
        look=look("Variation ratio, lower bound", "dark-grey", "", SPARSE),
        order=43,
        **asks_for("lower", published_lower_epsilon, keyword="bound", applies=never),
    ),
    # the same number for parts of a mechanism: a curve each in a figure
    replace(
        _NUMERICAL,
        name="separate-best",
        look=look("Separate, best (published)", "grey", "s", LONG),
        order=44,
        applies=never,
    ),
    replace(
        _NUMERICAL,
        name="separate-worst",
        look=look("Separate, worst (published)", "dark-grey", "D", SHORT),
        order=45,
        applies=never,
    ),
    replace(
        _NUMERICAL,
        name="parallel-basic",
        look=look("Parallel, basic (published)", "purple", "v", DASHED),
        order=46,
        applies=never,
        status=MIXED,
    ),
    replace(
        _NUMERICAL,
        name="parallel-advanced",
        look=look("Parallel, advanced (published)", "orange", "P", SHORT),
        order=47,
        applies=never,
        status=MIXED,
    ),
)
