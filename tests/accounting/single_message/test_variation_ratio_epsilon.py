"""Epsilon from delta, the bisection of Algorithm 1 with its table, and extreme parameters."""

import math
from fractions import Fraction

import oracles as o
import pytest

from segshuffle.accounting.single_message import variation_ratio_tables as vr
from segshuffle.accounting.single_message.variation_ratio import (
    VariationRatio,
    bisected_epsilon,
    published_delta,
    published_epsilon,
)
from segshuffle.errors import ParameterError

F = Fraction


# -- the parameter object ----------------------------------------------------------------------------------------------


@pytest.mark.quick(24)
@pytest.mark.parametrize("local", [1e-6, 1e-3, 1.0, 20.0])
@pytest.mark.parametrize("share", [1.0, 0.3])
@pytest.mark.parametrize("part", [0.0, 0.2, 0.9, 0.999])
@pytest.mark.parametrize("n", [1, 2, 6])
def test_delta_keeps_its_digits(local, share, part, n):
    """Exact enumeration at the float parameters, from local epsilon 1e-6 to 20, up to close below it."""
    beta, epsilon = share * math.tanh(local / 2) * (1 - 2e-16), part * local
    p = o.exp_fraction(local)
    exact = o.hockey_stick(*o.variation_ratio_pair(n, p, F(beta), p), o.exp_fraction(epsilon))
    randomizer = VariationRatio(log_p=local, beta=beta, log_q=local)
    found = published_delta(randomizer=randomizer, n_users=n, epsilon=epsilon, rtol=1e-8)
    # beta, r and speak are floats: 1e-15 each
    assert found.lower * (1 - 1e-14) <= exact <= found.upper * (1 + 1e-14)
    assert found.relative_width <= 1e-8


def test_no_local_guarantee():
    found = VariationRatio(log_p=math.inf, beta=0.25, log_q=math.log(3))
    assert (found.heads, found.tails, found.left_over) == (0.25, 0.0, 0.75)
    exact = o.hockey_stick(*o.count_pair(6, F(1, 6), F(1, 4), F(0)), F(3, 2))
    interval = published_delta(randomizer=found, n_users=7, epsilon=math.log(1.5), rtol=1e-8)
    assert interval.lower * (1 - 1e-13) <= float(exact) <= interval.upper * (1 + 1e-13)


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"log_p": 0.0}, "log_p"),
        ({"log_p": -1.0}, "log_p"),
        ({"log_p": math.nan}, "log_p"),
        ({"beta": -0.1}, "beta"),
        ({"beta": 0.463}, "beta"),
        ({"beta": math.nan}, "beta"),
        ({"log_q": -0.1}, "log_q"),
        ({"log_q": math.inf}, "log_q"),
        ({"log_p": math.inf, "beta": 1.0, "log_q": 0.5}, "log_q"),
    ],
)
def test_bad_parameters(change, name):
    """tanh(1/2) = 0.4621; p = inf, beta = 1 needs q >= 2."""
    with pytest.raises(ParameterError, match=rf"^{name} = "):
        VariationRatio(**{"log_p": 1.0, "beta": 0.4, "log_q": 1.0, **change})


# -- epsilon from delta ------------------------------------------------------------------------------------------------

RANDOMIZERS = {
    "general 1": vr.general(local_epsilon=1.0),
    "general 5": vr.general(local_epsilon=5.0),
    "10-RR": vr.randomized_response(local_epsilon=2.0, domain_size=10),
    "laplace": vr.laplace(local_epsilon=1.0),
    "metric": vr.metric_laplace(distance=1.0, largest_distance=4.0),
    "bins": vr.balls_into_bins(domain_size=16),
    "one-hot": vr.flipped_one_hot(flip=0.2),
    "tiny": vr.general(local_epsilon=1e-6),
}


@pytest.mark.quick(4)
@pytest.mark.parametrize("name", RANDOMIZERS)
@pytest.mark.parametrize(("n", "delta"), [(20, 1e-3), (300, 1e-9), (10_000, 1e-6), (10**8, 1e-10), (10**6, 1e-200)])
def test_epsilon_is_safe_and_close(name, n, delta):
    """The upper end is at most delta there; rtol below, the lower end exceeds it."""
    randomizer, rtol = RANDOMIZERS[name], 1e-6

    def at(epsilon):
        return published_delta(randomizer=randomizer, n_users=n, epsilon=epsilon, rtol=1e-7)

    found = published_epsilon(randomizer=randomizer, n_users=n, delta=delta, rtol=rtol)
    assert 0 <= found <= randomizer.log_p
    if found == math.inf:
        assert at(300.0).lower > delta
        return
    # the search saw a wider interval at the same point: ends may differ by round-off
    assert at(found).upper <= delta * (1 + 1e-6)
    assert found == 0 or at(found * (1 - 1.05 * rtol)).lower > delta


def test_the_local_epsilon_is_the_answer_where_it_is_large():
    assert published_epsilon(randomizer=vr.general(local_epsilon=20.0), n_users=10**6, delta=1e-8) == 20.0
    assert published_epsilon(randomizer=vr.general(local_epsilon=300.0), n_users=10**6, delta=1e-8) == 300.0
    assert published_epsilon(randomizer=vr.pure_dump(domain_size=10), n_users=1, delta=1e-8) == math.inf


# -- Algorithm 1 and its table -----------------------------------------------------------------------------------------

# Table 5: local epsilon, n, printed for T = 20, printed for T = 10; delta = 0.01/n, general randomizers
TABLE_5 = [
    (1.0, 10**4, 0.0433, 0.0440),
    (1.0, 10**6, 0.00503, 0.00586),
    (1.0, 10**8, 0.000566, 0.000977),
    (3.0, 10**4, 0.227, 0.229),
    (3.0, 10**6, 0.0255, 0.0264),
    (3.0, 10**8, 0.00283, 0.00293),
]


def three_digits_up(value):
    """Three significant digits, rounded up: the table's 0.0440 is 45/1024 = 0.04395."""
    unit = 10.0 ** (math.floor(math.log10(value)) - 2)
    return math.ceil(value / unit) * unit


@pytest.mark.parametrize(("local", "n", "twenty", "ten"), TABLE_5)
def test_table_5_with_10_iterations(local, n, twenty, ten):
    """All six values come out: multiples of local_epsilon/1024, three digits, rounded up."""
    found = bisected_epsilon(randomizer=vr.general(local_epsilon=local), n_users=n, delta=0.01 / n, iterations=10)
    assert found / local * 1024 == pytest.approx(round(found / local * 1024), abs=1e-9)
    assert three_digits_up(found) == pytest.approx(ten, rel=1e-9)


@pytest.mark.quick("40")
@pytest.mark.parametrize("iterations", [0, 1, 7, 20, 40])
def test_bisection_ends_one_step_above_the_root_at_most(iterations):
    randomizer = vr.randomized_response(local_epsilon=2.0, domain_size=5)
    arguments = {"randomizer": randomizer, "n_users": 1000, "delta": 1e-5}
    exact = published_epsilon(**arguments, rtol=1e-8)
    found = bisected_epsilon(**arguments, iterations=iterations)
    assert exact * (1 - 1e-8) <= found <= exact + 2.0 / 2**iterations
