"""What published constants are worth: golden values, sums over all values of the noise, and the page in docs/."""

import math
from pathlib import Path

import numpy as np
import pytest

from segshuffle.reproduction.studies.deployments.compute import KINDS, deployments_table
from segshuffle.reproduction.studies.deployments.report import description, draw, page
from segshuffle.reproduction.tables import read_yaml

ROOT = Path(__file__).resolve().parents[3]
ROWS = read_yaml(ROOT / "config/reference/deployments.yaml")
PAGE = (ROOT / "docs/deployments.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def quick():
    """The rows that take little time."""
    return deployments_table([each for each in ROWS if each.get("kind") != "bit-sums"])


def test_the_page_says_what_is_computed(quick):
    made = page(quick, ROWS)
    assert [line for line in made.splitlines() if line not in PAGE.splitlines()] == []
    assert all(f"| {each['label']} |" in PAGE for each in ROWS)


@pytest.mark.exhaustive
def test_the_whole_page_is_what_a_run_writes():
    assert page(deployments_table(ROWS), ROWS) == PAGE


@pytest.mark.parametrize(("local_epsilon", "deviation"), [(5.0, 26.1337), (6.5, 12.28), (7.0, 9.558)])
def test_the_variance_of_flipped_bits_is_that_of_the_draft(local_epsilon, deviation):
    """The draft prints the deviation of the sum of 100,000 users."""
    assert math.sqrt(1e5 * KINDS["bit-sums"].variance(local_epsilon)) == pytest.approx(deviation, rel=1e-5)


def enclosed(interval, number):
    return interval.lower <= number <= interval.upper <= interval.lower * (1 + 1e-8)


def test_a_curators_noise_is_a_sum_over_the_noise_of_both_counts():
    x = np.arange(-30, 31)
    law = np.exp(-(x**2) / (2 * 1.3**2))
    law /= law.sum()
    rest = np.zeros(1)
    gains, loses = np.append(rest, law), np.append(law, rest)
    held = np.outer(gains, loses)
    for epsilon in (0.0, 0.7, 2.0):
        delta = np.maximum(held - math.exp(epsilon) * held.T, 0.0).sum()
        assert enclosed(KINDS["curator"].bound(deviation=1.3).delta(epsilon=epsilon), delta)


def test_the_least_noise_is_enough_and_a_little_less_is_not(quick):
    chosen = {each["name"]: each for each in ROWS}
    for row in quick.dropna(subset=["least"]).to_dict("records"):
        given = chosen[row["name"]]
        less = row["least"] - 1 if row["noise"] == "threshold" else row["least"] * 0.995
        for value, met in ((row["least"], True), (less, False)):
            value = int(value) if row["noise"] == "threshold" else value
            bound = KINDS[given["kind"]].bound(**{**given["parameters"], row["noise"]: value})
            assert (bound.delta(epsilon=row["stated_epsilon"]).upper <= row["stated_delta"]) == met


def test_a_row_without_an_epsilon_says_so_in_figure_and_words(quick):
    none = quick[quick["epsilon_upper"].isna() & quick["value"].notna()]
    assert list(none["name"]) == ["nebula-visible"]
    assert (none["delta_lower"] > none["stated_delta"]).all(), "proven: what is stated does not hold in this view"
    said = [text.get_text() for text in draw(quick).axes[0].texts]
    assert said == ["none: here δ ≥ 0.0110", "no constants"]
    words = description("deployments", {"deployments.csv": quick})
    assert "Nebula, tags visible: 1, none" in words
    assert "Nebula, tags hidden: 1, 0.3181" in words
    assert "Prochlo: no constants" in words
