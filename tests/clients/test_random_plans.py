"""Random saved plans, by both verifiers: their bounds lie in the interval of the certificate."""

import pytest
from clients.test_module import check_as_certified
from clients.test_verify import check_bounds
from clients.verifier import random_plan


@pytest.mark.exhaustive
@pytest.mark.parametrize("seed", range(300))
def test_both_verifiers_accept_a_random_saved_plan(tmp_path, seed):
    made = random_plan(seed, tmp_path / "plan.json")
    check_bounds(made)
    check_as_certified(made)
