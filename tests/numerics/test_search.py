"""Monotone searches: they end on a point that was evaluated and found safe, and close to the crossing."""

import math

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from segshuffle.errors import InfeasibleError
from segshuffle.numerics.gaussian import gaussian_log_delta
from segshuffle.numerics.intervals import DeltaInterval
from segshuffle.numerics.search import (
    certified_root,
    edge_epsilon,
    gaussian_excess,
    safe_edge,
    solve,
)

positive = st.floats(1e-6, 1e6)


class Recorder:
    """A function that remembers what it was asked and what it answered."""

    def __init__(self, function):
        self.function = function
        self.calls = {}

    def __call__(self, x):
        self.calls[x] = self.function(x)
        return self.calls[x]


def search(function, **keywords):
    recorder = Recorder(function)
    return safe_edge(recorder, **keywords), recorder


@settings(derandomize=True)
@given(low=positive, high=positive, share=st.floats(0.001, 0.999), slope=st.floats(0.01, 50), rising=st.booleans())
def test_power_laws_in_both_directions(low, high, share, slope, rising):
    low, high = min(low, high), max(low, high)
    assume(high > 1.001 * low)
    crossing = low * (high / low) ** share
    sign = 1 if rising else -1
    safe, unsafe = (low, high) if rising else (high, low)
    x, recorder = search(lambda x: sign * slope * math.log(x / crossing), safe=safe, unsafe=unsafe)
    assert recorder.calls[x] <= 0
    assert recorder.calls[x] >= -5e-4
    assert min(low, high) <= x <= max(low, high)
    assert len(recorder.calls) <= 20


def test_infeasible_names_the_factor_and_the_point():
    with pytest.raises(InfeasibleError, match=r"missed by a factor 2 even at 0\.25"):
        safe_edge(lambda x: math.log(2.0), safe=0.25, unsafe=1.0)


@pytest.mark.parametrize("proven", [True, False])
@pytest.mark.parametrize("start", [-30.0, -3.0, 0.0])
def test_a_plateau_is_crossed_in_ever_longer_steps(start, proven):
    """The slope suggests steps of .2, and so 30 of them would end at -24."""
    recorder = Recorder(lambda x: -9.0 if x < 0.8 else 90 * (x - 0.9))
    found = solve(recorder, start, 45.0, (-40.0, 4.0), 1e-3, 30, proven)
    assert found == pytest.approx(0.9, abs=2e-5)


# -- how far a delta is from its target ------------------------------------------------------------------------------


@pytest.mark.parametrize("target", [1e-280, 1e-9, 0.3])
def test_the_excess_is_positive_exactly_where_the_target_is_missed(target):
    least_above = math.nextafter(target, 1.0)
    assert gaussian_excess(target, target, 0.5) == 0.0
    assert gaussian_excess(least_above, target, 0.5) > 0.0 > gaussian_excess(math.nextafter(target, 0.0), target, 0.5)
    assert gaussian_excess(0.0, target, 0.5) == -math.inf
    assert gaussian_excess(math.nan, target, 0.5) == math.inf
    assert gaussian_excess(1.0, target, 0.5) > gaussian_excess(0.9, target, 0.5) > 0.0


# -- bounds that are no number ----------------------------------------------------------------------------------------


def test_a_bound_that_is_no_number_proves_nothing():
    search = {"bound": lambda epsilon, width: math.nan, "ceiling": 1.0, "delta": 1e-6, "rtol": 1e-4}
    assert edge_epsilon(**search, lower=True) == 0.0
    assert edge_epsilon(**search) == 1.0


def test_a_bound_that_is_no_number_somewhere_excludes_only_what_was_seen():
    def bound(epsilon, width):
        return math.nan if epsilon > 0.7 else 1.0

    assert edge_epsilon(bound, ceiling=1.0, delta=1e-6, rtol=1e-4, lower=True) <= 0.7


# -- bounds that are costly when narrow --------------------------------------------------------------------------------


#: Delta as a function of epsilon divided by the root; how many steps are enough, and how near they end.
SHAPES = {
    "power": (lambda share: share**-1.7, 8, 1.1e-5),
    "gaussian": (lambda share: math.exp(max(5 - 5 * share**2, -600)), 19, 1.1e-5),
    "jump": (lambda share: 9.0 if share < 1 else 0.2, 27, 2e-5),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("root", [1e-5, 0.3, 40.0])
@pytest.mark.parametrize("off", [0.01, 1.1, 30.0])
@pytest.mark.parametrize("slope", [-0.3, -1.7, -5.0])
def test_a_root_is_found_from_afar_and_with_a_wrong_slope(shape, root, off, slope):
    """In logarithms, a power is a line; a Gaussian takes a few secants; a jump halves a width of 28 down to 1e-5."""
    (delta, steps, accuracy), asked = SHAPES[shape], {}

    def measure(epsilon, width):
        value = delta(epsilon / root)
        asked[epsilon] = DeltaInterval(value * (1 - width / 2), value * (1 + width / 2))
        return asked[epsilon]

    guess = min(root * off, 900.0)
    found = certified_root(measure, target=1.0, first=1e-9, last=1e3, guess=guess, slope=slope, rtol=1e-5)
    assert asked[found].upper <= 1.0
    assert root <= found <= root * (1 + accuracy)
    assert len(asked) <= steps


@pytest.mark.parametrize("delta", [1e-200, 1e-12, 1e-3, 0.3])
@pytest.mark.parametrize("share", [1e-7, 1e-3, 0.2, 0.49, 0.51, 0.7, 0.99, 1 - 1e-9])
@pytest.mark.parametrize("lower", [False, True])
def test_epsilon_of_a_bound_is_the_root_to_its_accuracy(lower, delta, share):
    """log delta falls like that of a Gaussian, from half of the target's logarithm on; delta is 0 at the ceiling."""
    ceiling, rtol = 2.0, 1e-4
    root = share * ceiling

    def log_bound(epsilon):
        return math.log(delta) * (0.5 * (epsilon / root) ** 2 + 0.5) + math.log((ceiling - epsilon) / (ceiling - root))

    calls = []

    def bound(epsilon, width):
        calls.append(width)
        return math.exp(log_bound(epsilon)) if epsilon < ceiling else 0.0

    found = edge_epsilon(bound, ceiling=ceiling, delta=delta, rtol=rtol, lower=lower)
    excess = log_bound(found) - math.log(delta) if found < ceiling else -math.inf
    sign = -1 if lower else 1
    assert -2 * rtol * (1 + 1e-9) <= sign * excess <= 1e-12 or found == pytest.approx(root, rel=1e-9)
    assert sign * (found - root) >= -1e-15 * root
    # far from the root wide bounds are enough, and few bounds are asked for in all
    assert calls[0] == 0.02
    assert len(calls) <= 18
    assert calls.count(rtol) <= 8


@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("delta", [1e-12, 1e-6])
@pytest.mark.parametrize("ratio", [1e-3, 0.03])
def test_a_bound_that_falls_like_a_gaussian_mechanism_takes_few_steps(ratio, delta, lower):
    asked = []

    def bound(epsilon, width):
        asked.append(epsilon)
        return math.exp(gaussian_log_delta(ratio=ratio, epsilon=epsilon)) * (1 + epsilon)

    found = edge_epsilon(bound, ceiling=5.0, delta=delta, rtol=1e-4, lower=lower)
    assert (bound(found, 1e-4) > delta) == lower
    assert bound(found, 1e-4) == pytest.approx(delta, rel=2.1e-4, abs=0)
    assert len(set(asked)) <= 5


@pytest.mark.parametrize("lower", [False, True])
def test_epsilons_where_a_bound_never_or_always_meets_the_target(lower):
    asked = {"ceiling": 2.0, "delta": 1e-6, "rtol": 1e-4, "lower": lower}
    assert edge_epsilon(lambda epsilon, width: 0.0, **asked) == 0.0
    assert edge_epsilon(lambda epsilon, width: 0.999e-6, **asked) == 0.0
    assert edge_epsilon(lambda epsilon, width: 1.0, **asked) == pytest.approx(2.0, rel=1e-11)
    assert edge_epsilon(lambda epsilon, width: 1.0, **asked | {"ceiling": 0.0}) == 0.0


@pytest.mark.parametrize(("ceiling", "answer"), [(2.0, 2.0), (300.0, 300.0), (301.0, math.inf), (math.inf, math.inf)])
def test_only_a_ceiling_within_the_range_answers_for_a_bound_that_no_epsilon_meets(ceiling, answer):
    asked = {"ceiling": ceiling, "delta": 1e-6, "rtol": 1e-4}
    assert edge_epsilon(lambda epsilon, width: 1.0, **asked) == answer
    falling = edge_epsilon(lambda epsilon, width: math.exp(-epsilon), **asked)
    assert falling == pytest.approx(min(ceiling, math.log(1e6)), rel=1e-4)
    excluded = edge_epsilon(lambda epsilon, width: 1.0, **asked, lower=True)
    assert excluded == pytest.approx(min(ceiling, 300.0), rel=1e-11)
