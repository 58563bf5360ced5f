"""The Poisson-binomial law against exact recursion and the binomial law."""

import math
from fractions import Fraction

import numpy as np
import pytest

from segshuffle.accounting.numerics.laws import BinomialLaw
from segshuffle.accounting.numerics.poisson_binomial import PoissonBinomialLaw
from segshuffle.errors import ParameterError


@pytest.mark.quick(5)
@pytest.mark.parametrize("n_trials", [0, 1, 2, 7, 65, 131])
def test_poisson_binomial_by_recursion(n_trials):
    """Exact rational recursion, one trial at a time."""
    p = [Fraction(i * i + 1, n_trials * n_trials + 3) for i in range(n_trials)]
    exact = [Fraction(1)]
    for share in p:
        exact = [
            (exact[k] if k < len(exact) else 0) * (1 - share) + (exact[k - 1] * share if k else 0)
            for k in range(len(exact) + 1)
        ]
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


def test_poisson_binomial_tails_against_the_binomial_law():
    law, binomial = PoissonBinomialLaw(np.full(20_000, 0.3)), BinomialLaw(20_000, 0.3)
    counts = np.concatenate([np.arange(4000.0, 8500.0, 50.0)])
    assert (binomial.pmf(counts).min(), binomial.pmf(counts).max()) < (1e-250, 1.0)
    for name in ("pmf", "at_least", "at_most"):
        assert getattr(law, name)(counts) == pytest.approx(getattr(binomial, name)(counts), rel=1e-9, abs=0)
    assert law.ratio(counts) == pytest.approx(binomial.ratio(counts), rel=1e-9)
    assert law.relative_error < 1e-10
    assert law.dropped < 1e-298


@pytest.mark.parametrize("bad", [[0.5, -0.1], [1.1], [math.nan], [[0.5]], np.zeros(200_001)])
def test_poisson_binomial_refuses(bad):
    with pytest.raises(ParameterError, match=r"^probabilities = "):
        PoissonBinomialLaw(bad)
