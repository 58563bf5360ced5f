"""Brute-force oracles for the privacy accountants, independent of everything under ``src/``.

Each function builds a law message by message, or sums a definition term by term, and shares no formula with the
accountant that it tests. Exact results are :class:`fractions.Fraction`; what cannot be rational (Poisson weights,
binomial tails at 1e12 trials) is an ``mpf`` of the context :data:`MP`, which keeps its own precision of
:data:`oracles.laws.WORKING_DIGITS` digits whatever the global ``mpmath.mp`` is set to.

Conventions
-----------
* A law is a ``dict`` from outcome to probability. A truncated law is exact on the cells it has and comes with
  ``lost``, the probability of all the cells it does not have.
* The hockey-stick divergence takes ``exp_epsilon = e**eps`` itself, so that it can be rational.
* Items, inputs and outputs are numbered from 0.
"""

from __future__ import annotations

from oracles.binomials import (
    mp_binomial_pmf,
    mp_binomial_upper_tail,
)
from oracles.errors import (
    item_frequencies,
    segmented_protocol_error,
    segmented_protocol_error_averaged,
    subset_exponential_error,
    subset_exponential_rates,
)
from oracles.laws import (
    MP,
    bernoulli_sum,
    encloses,
    exp_fraction,
    gaussian_delta,
    hockey_stick,
    product_law,
    push_forward,
    to_mpf,
)
from oracles.pairs import count_pair
from oracles.singles import (
    krr,
    shuffled_divergence,
    single_message_view,
    subset_exponential,
    subsets,
    variation_ratio_pair,
)
from oracles.views import poisson_blanket_view, segmented_view
