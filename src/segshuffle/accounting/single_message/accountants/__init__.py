"""Accountants of one shuffled message: one file each, with its functions and what it declares in ``ACCOUNTANTS``.

`registry` finds the files; `declared` says what a declaration holds. Bounds that are more than one file (the blanket
decomposition, variation ratio, personalised users) have their mathematics beside this folder.
"""

from segshuffle.accounting.single_message.accountants.approximate import (
    approximate_clone_delta,
    approximate_clone_epsilon,
)
from segshuffle.accounting.single_message.accountants.blanket_tails import (
    bennett_delta,
    bennett_epsilon,
    hoeffding_delta,
    hoeffding_epsilon,
)
from segshuffle.accounting.single_message.accountants.chen_cao_ge import (
    chen_cao_ge_delta,
    chen_cao_ge_epsilon,
    equal_mu,
    gdp_delta,
    gdp_epsilon,
    personalized_mu,
)
from segshuffle.accounting.single_message.accountants.clones import (
    standard_clone_closed_form,
    standard_clone_delta,
    standard_clone_epsilon,
    stronger_clone_delta,
    stronger_clone_epsilon,
)
from segshuffle.accounting.single_message.accountants.declared import Accountant, Kind, Mechanism
from segshuffle.accounting.single_message.accountants.erlingsson import erlingsson_epsilon
from segshuffle.accounting.single_message.accountants.liu_2023 import liu_2023_epsilon
from segshuffle.accounting.single_message.accountants.registry import ACCOUNTANTS

__all__ = [
    "ACCOUNTANTS",
    "Accountant",
    "Kind",
    "Mechanism",
    "approximate_clone_delta",
    "approximate_clone_epsilon",
    "bennett_delta",
    "bennett_epsilon",
    "chen_cao_ge_delta",
    "chen_cao_ge_epsilon",
    "equal_mu",
    "erlingsson_epsilon",
    "gdp_delta",
    "gdp_epsilon",
    "hoeffding_delta",
    "hoeffding_epsilon",
    "liu_2023_epsilon",
    "personalized_mu",
    "standard_clone_closed_form",
    "standard_clone_delta",
    "standard_clone_epsilon",
    "stronger_clone_delta",
    "stronger_clone_epsilon",
]
