"""The Poisson-binomial law against exact recursion and the binomial law."""

import math
from fractions import Fraction

import numpy as np
import pytest
from oracles import bernoulli_sum

from segshuffle.numerics.poisson_binomial import PoissonBinomialLaw


@pytest.mark.quick(5)
@pytest.mark.parametrize("n_trials", [0, 1, 2, 7, 65, 131])
def test_poisson_binomial_by_recursion(n_trials):
    """The recursion is exact, in rational numbers, and takes one trial at a time."""
    p = [Fraction(i * i + 1, n_trials * n_trials + 3) for i in range(n_trials)]
    exact = bernoulli_sum(p)
    law = PoissonBinomialLaw([float(x) for x in p])
    counts = np.arange(-1.0, n_trials + 2.0)
    # the probabilities themselves were rounded to doubles: one more unit per trial
    room = law.relative_error + 3e-16 * (n_trials + 1)
    for values, sums in (
        (law.pmf(counts), [Fraction(0), *exact, Fraction(0)]),
        (law.at_least(counts), [sum(exact[max(int(c), 0) :], Fraction(0)) for c in counts]),
        (law.at_most(counts), [sum(exact[: int(c) + 1], Fraction(0)) for c in counts]),
    ):
        for value, value_exact in zip(values, sums, strict=True):
            assert abs(Fraction(float(value)) - value_exact) <= room * value_exact
    assert law.mean == pytest.approx(float(sum(p)), rel=1e-14)


@pytest.mark.parametrize("sure", [2, 65, 300])
def test_trials_that_succeed_for_certain_shift_the_law(sure):
    law = PoissonBinomialLaw([1.0] * sure + [0.25])
    counts = np.arange(sure - 2.0, sure + 4.0)
    assert law.pmf(counts).tolist() == [0.0, 0.0, 0.75, 0.25, 0.0, 0.0]
    assert law.at_least(counts).tolist() == [1.0, 1.0, 1.0, 0.25, 0.0, 0.0]
    assert law.at_most(counts).tolist() == [0.0, 0.0, 0.75, 1.0, 1.0, 1.0]
    assert law.ratio(counts).tolist() == [math.inf, math.inf, math.inf, 1 / 3, 0.0, 0.0]
    assert law.largest == sure + 1
