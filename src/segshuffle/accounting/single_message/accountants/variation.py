"""The variation-ratio bounds (`variation_ratio` and its closed forms and lower bound), as accountants."""

from __future__ import annotations

from collections.abc import Callable

from segshuffle.accounting.single_message.accountants.declared import (
    DASH_DOTTED,
    DASHED,
    LONG,
    MIXED,
    SHORT,
    SOLID,
    SPARSE,
    Accountant,
    Mechanism,
    given,
    has_variation,
    look,
    never,
)
from segshuffle.accounting.single_message.variation_ratio import published_delta, published_epsilon
from segshuffle.accounting.single_message.variation_ratio_closed_forms import analytic_epsilon, asymptotic_epsilon
from segshuffle.accounting.single_message.variation_ratio_lower import published_lower_epsilon


def _of_parameters(function: Callable[..., float]) -> Callable[[Mechanism, int, float], float]:
    """Functions of the variation-ratio parameters; never above the local guarantee."""
    return lambda m, n, target: min(
        function(randomizer=given(m, "variation"), n_users=n, delta=target), m.local_epsilon
    )


_PAPER = "Privacy Amplification via Shuffling: Unified, Simplified, and Tightened"
_NUMERICAL = Accountant(
    name="variation-ratio",
    kind="published",
    status=f"{MIXED}; refuted for most mechanisms (docs/referee.md)",
    source=f"{_PAPER}, Theorem 4.1",
    look=look("Variation ratio (published)", "vermilion", "P", SOLID),
    order=40,
    applies=has_variation,
    epsilon_of=_of_parameters(published_epsilon),
    delta_of=lambda m, n, level: published_delta(randomizer=given(m, "variation"), n_users=n, epsilon=level),
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
        applies=has_variation,
        epsilon_of=_of_parameters(analytic_epsilon),
    ),
    Accountant(
        name="variation-asymptotic",
        kind="published",
        status=MIXED,
        source=f"{_PAPER}, Theorem 4.3",
        look=look("Variation ratio, asymptotic (published)", "sky", ">", DASHED),
        order=42,
        applies=never,
        epsilon_of=_of_parameters(asymptotic_epsilon),
    ),
    Accountant(
        name="variation-lower",
        kind="lower",
        status="proven",
        source=f"{_PAPER}, Theorem 5.1",
        look=look("Variation ratio, lower bound", "dark-grey", "", SPARSE),
        order=43,
        applies=never,
        epsilon_of=lambda m, n, target: published_lower_epsilon(bound=given(m, "lower"), n_users=n, delta=target),
    ),
    _NUMERICAL.as_part("separate-best", look("Separate, best (published)", "grey", "s", LONG), 44),
    _NUMERICAL.as_part("separate-worst", look("Separate, worst (published)", "dark-grey", "D", SHORT), 45),
    _NUMERICAL.as_part("parallel-basic", look("Parallel, basic (published)", "purple", "v", DASHED), 46, status=MIXED),
    _NUMERICAL.as_part(
        "parallel-advanced", look("Parallel, advanced (published)", "orange", "P", SHORT), 47, status=MIXED
    ),
)
