"""The amplification targets: which jobs they need, and what an edit runs again. Dry runs only."""

import re

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.pipeline]


@pytest.fixture(scope="module")
def fresh(new_checkout):
    return new_checkout()


def jobs(checkout, *targets):
    status, said = checkout.run("-n", "--cores", "1", *targets)
    assert status == 0, said
    table = re.search(r"^job +count\n-+ +-+\n(.*?)^total", said, re.MULTILINE | re.DOTALL).group(1)
    return {name: int(count) for name, count in (line.split() for line in table.splitlines())}


@pytest.mark.exhaustive
def test_the_target_makes_everything_and_needs_no_data(fresh):
    assert jobs(fresh, "amplification") == {
        "amplification_curves": 15,
        "figure_amplification": 13,
        "table_amplification": 2,
        "claims_amplification": 1,
        "amplification": 1,
    }


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("target", "drawing"), [("fig_variation3", "figure_amplification"), ("table_variation5", "table_amplification")]
)
def test_one_target_makes_its_own_item_only(fresh, target, drawing):
    assert jobs(fresh, target) == {"amplification_curves": 1, drawing: 1, target: 1}


@pytest.mark.exhaustive
def test_edits_run_again_what_depends_on_them(fresh):
    fresh.finish("--cores", "1", "fig_variation4")
    status, said = fresh.run("-n", "--cores", "1", "fig_variation4")
    assert status == 0
    assert "Nothing to be done" in said

    def comment(text):
        return f"{text}\n# an edit\n"

    drawing = {"figure_amplification": 1, "fig_variation4": 1}
    with fresh.edited("src/segshuffle/studies/amplification/figure.py", comment):
        assert jobs(fresh, "fig_variation4") == drawing
    with fresh.edited("src/segshuffle/accounting/single_message/variation_ratio.py", comment):
        assert jobs(fresh, "fig_variation4") == {"amplification_curves": 1, **drawing}
    with fresh.configured("amplification.points", 4):
        assert jobs(fresh, "fig_variation4") == {"amplification_curves": 1, **drawing}
    with fresh.configured("repetitions", 6):
        assert "Nothing to be done" in fresh.finish("-n", "--cores", "1", "fig_variation4")
