"""Earlier amplification bounds, as baselines: one pair of functions (delta at epsilon, epsilon at delta) for each."""

from segshuffle.accounting.single_message.baselines.approximate import (
    approximate_clone_delta,
    approximate_clone_epsilon,
)
from segshuffle.accounting.single_message.baselines.blanket_tails import (
    bennett_delta,
    bennett_epsilon,
    hoeffding_delta,
    hoeffding_epsilon,
)
from segshuffle.accounting.single_message.baselines.chen_cao_ge import (
    chen_cao_ge_delta,
    chen_cao_ge_epsilon,
    equal_mu,
    gdp_delta,
    gdp_epsilon,
    personalized_mu,
)
from segshuffle.accounting.single_message.baselines.clones import (
    standard_clone_closed_form,
    standard_clone_delta,
    standard_clone_epsilon,
    stronger_clone_closed_form,
    stronger_clone_delta,
    stronger_clone_epsilon,
)
from segshuffle.accounting.single_message.baselines.erlingsson import erlingsson_delta, erlingsson_epsilon
from segshuffle.accounting.single_message.baselines.liu_2023 import liu_2023_delta, liu_2023_epsilon

__all__ = [
    "approximate_clone_delta",
    "approximate_clone_epsilon",
    "bennett_delta",
    "bennett_epsilon",
    "chen_cao_ge_delta",
    "chen_cao_ge_epsilon",
    "equal_mu",
    "erlingsson_delta",
    "erlingsson_epsilon",
    "gdp_delta",
    "gdp_epsilon",
    "hoeffding_delta",
    "hoeffding_epsilon",
    "liu_2023_delta",
    "liu_2023_epsilon",
    "personalized_mu",
    "standard_clone_closed_form",
    "standard_clone_delta",
    "standard_clone_epsilon",
    "stronger_clone_closed_form",
    "stronger_clone_delta",
    "stronger_clone_epsilon",
]
