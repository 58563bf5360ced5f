"""Plans in other libraries: OpenDP's measurements, and events of dp_accounting."""

from dataclasses import replace

import numpy as np
import pytest

import segshuffle
from segshuffle.collection.with_dp_accounting import partner
from segshuffle.collection.with_opendp import measurement
from segshuffle.errors import ParameterError


def planned(**changed):
    problem = segshuffle.Problem(6, 2, (1.0,), (300,), 1e-6, segshuffle.Assumptions(**changed))
    return segshuffle.plan(problem)


@pytest.fixture(scope="module")
def plan():
    return planned()


@pytest.fixture(scope="module")
def opendp():
    dp = pytest.importorskip("opendp.prelude")
    dp.enable_features("contrib", "honest-but-curious")
    return dp


def test_the_map_of_opendp_is_the_certificate_and_one_user_is_proven(opendp, plan):
    found = measurement(plan, level=1.0)
    assert found.map(1) == (1.0, plan.certificate[0]["delta_upper"])
    assert found.map(0) == (0.0, 0.0)
    with pytest.raises(Exception, match="not proven"):
        found.map(2)


def test_several_collections_are_one_measurement_which_costs_less_than_their_sum(opendp, plan):
    epsilon, delta = measurement(plan, level=1.0, collections=2).map(1)
    assert 1.0 < epsilon < 1.6
    assert delta == plan.problem.deltas[0]
    one = measurement(plan, level=1.0)
    basic = opendp.c.make_composition([one, one]).map(1)
    assert basic[0] == 2.0 > epsilon


def test_opendp_releases_what_real_clients_send(opendp, plan):
    users = [([0, 1], 0)] * 200 + [([2, 3], 0)] * 100
    (shares,) = measurement(plan, level=1.0)(users)
    error = np.sqrt(plan.mse_bound)
    assert shares == pytest.approx([2 / 3, 2 / 3, 1 / 3, 1 / 3, 0, 0], abs=7 * error)


def test_what_a_measurement_cannot_promise_is_refused(opendp, plan):
    with pytest.raises(ParameterError, match="level"):
        measurement(plan, level=2.0)
    with pytest.raises(ParameterError, match="one collection"):
        measurement(planned(rounds=2), level=1.0)


def test_dp_accounting_composes_plans_with_others_and_seven_cost_what_we_compute(plan):
    dp_accounting = pytest.importorskip("dp_accounting")
    event, accountant = partner()
    own = event(plan=plan, level=1.0)
    (whole,) = plan.collections
    uncapped = replace(plan, collections=(replace(whole, announcement=replace(whole.announcement, blanket_cap=None)),))
    seven = accountant(1e-4).compose(event(plan=uncapped, level=1.0), 7)
    assert seven.get_epsilon(1e-6) == pytest.approx(segshuffle.compose([(uncapped, 1.0)] * 7, delta=1e-6), rel=1e-5)
    mixed = accountant(1e-3).compose(dp_accounting.ComposedDpEvent([own, dp_accounting.GaussianDpEvent(10.0)]))
    alone = accountant(1e-3).compose(own)
    assert alone.get_epsilon(1e-6) < mixed.get_epsilon(1e-6)
    # within the promise of the capped plan
    assert alone.get_epsilon(1e-6) <= 1.0 + 1e-3
    assert mixed.ledger is not None
    with pytest.raises(Exception, match="REPLACE_SPECIAL"):
        accountant().compose(dp_accounting.LaplaceDpEvent(1.0))
