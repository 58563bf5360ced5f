"""Protocols at the ends of their ranges: a plan that keeps its promise, or an error that names what was given."""

import pytest

from segshuffle.errors import InfeasibleError, ParameterError
from segshuffle.plans.plan import PLAIN, Problem
from segshuffle.protocols.balls_into_bins import BallsIntoBins
from segshuffle.protocols.proven import ProvenSegmented
from segshuffle.protocols.segmented import Segmented
from segshuffle.protocols.subset_exponential import SubsetExponential
from segshuffle.protocols.subset_exponential_proven import ProvenSubsetExponential

# --- the subset exponential randomizer -------------------------------------------------------------------------------


def subsets_of(level, *, set_size=2):
    return Problem(
        domain_size=5, set_size=set_size, levels=(level,), level_counts=(100,), delta=1e-5, assumptions=PLAIN
    )


def test_users_that_hold_everything_have_no_subset_to_report():
    with pytest.raises(ParameterError, match=r"set_size = 5 .* less than domain_size = 5"):
        SubsetExponential().plan(subsets_of(0.5, set_size=5))


@pytest.mark.parametrize("shuffled", [SubsetExponential(), ProvenSubsetExponential()], ids=["published", "proven"])
@pytest.mark.parametrize("level", [49.99999, 50.0, 60.0, 100.0])
def test_a_level_beyond_the_largest_local_epsilon_is_kept_by_the_largest(shuffled, level):
    """Local privacy at 50 is not lost by shuffling; at 49.99999 the level itself is the answer, not the 50 above it."""
    plan = shuffled.plan(subsets_of(level))
    assert plan.parameters["local_epsilon"] == min(level, 50.0)


@pytest.mark.parametrize("shuffled", [SubsetExponential(), ProvenSubsetExponential()], ids=["published", "proven"])
def test_a_level_below_the_least_local_epsilon_is_refused_by_its_name(shuffled):
    with pytest.raises(ParameterError, match=r"levels = \(1e-13,\).*at least 1e-12"):
        shuffled.plan(subsets_of(1e-13))


# --- the Poisson blanket ---------------------------------------------------------------------------------------------

HOPELESS = Problem(domain_size=17, set_size=4, levels=(1e-7, 1.0), level_counts=(10, 10), delta=1e-6, assumptions=PLAIN)


@pytest.mark.quick("poisson-copies")
@pytest.mark.parametrize(
    "method",
    [ProvenSegmented(), ProvenSegmented(group_privacy=True), ProvenSegmented(copies_max=4.0, max_messages=3.0)],
    ids=lambda method: method.name,
)
def test_a_level_that_can_send_next_to_nothing_is_no_reason_to_refuse_the_others(method):
    """No blanket lets the level 1e-7 send everything once; it sends less, as at any given blanket."""
    plan = method.plan(HOPELESS)
    strict, liberal = plan.scheme.copies
    assert 0 < strict < 1e-4 < liberal
    assert all(level["delta_upper"] <= 1e-6 for level in plan.certificate)
    # the searched blanket is better than a given one
    given = ProvenSegmented(1.0, method.copies_max, method.max_messages, method.group_privacy).plan(HOPELESS)
    assert plan.mse_bound < given.mse_bound


@pytest.mark.exhaustive
def test_a_plan_whose_lattice_is_too_long_has_a_wider_certificate():
    """A million pairs: the usual width of 0.1 % needs a longer transform than there is."""
    crowd = Problem(
        domain_size=10**7, set_size=10**6, levels=(0.5,), level_counts=(10**6,), delta=1e-8, assumptions=PLAIN
    )
    (certificate,) = ProvenSegmented(2e8).plan(crowd).certificate
    assert 0.4e-8 < certificate["delta_lower"] <= certificate["delta_upper"] <= 1e-8


# --- the binomial blanket --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", [BallsIntoBins(), Segmented()], ids=lambda method: method.name)
def test_so_many_users_that_the_slots_cannot_be_counted_have_no_plan(method):
    """The refusal names the target, and no blanket that nobody gave."""
    crowd = Problem(
        domain_size=10**7, set_size=10**5, levels=(0.5,), level_counts=(10**15,), delta=1e-5, assumptions=PLAIN
    )
    with pytest.raises(InfeasibleError, match="meets the target: raise epsilon or delta, or lower the number of items"):
        method.plan(crowd)
