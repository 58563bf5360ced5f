"""Error over messages: cases and choices, fronts and winners by hand, and the figure against its table."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from reader import complaints, points, visible

from segshuffle.plans.plan import Assumptions, Problem
from segshuffle.plans.registry import every
from segshuffle.protocols.central import WEIGHTED
from segshuffle.protocols.fake_users import FakeUsers
from segshuffle.reproduction.studies.pareto import compute
from segshuffle.reproduction.studies.pareto.report import draw, front, readable, winners

CONFIG = {
    "delta_times_n": 0.01,
    "splits": {"S1": [0.25, 0.5, 0.25]},
    "pareto": {"epsilons": [1.0], "split": "S1", "budgets": [1.5, 3.0]},
}


CHEAP = ("poisson-copies", "curator-weighted", "fake-users", "almost-single", "augmented-shuffling")


@pytest.fixture(scope="module")
def found():
    """Return the table of methods whose plans take milliseconds; a quick run of the pipeline has all methods."""
    chosen = {key: each for key, each in every().items() if each.name in CHEAP}
    for key in [key for key in chosen if key[1] == "fake-users"]:
        chosen[key] = replace(chosen[key], compared=({"fakes_per_user": 8}, {"fakes_per_user": 16}))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compute, "every", lambda: chosen)
        table = pd.DataFrame(compute.size_table(CONFIG, n_users=400, domain_size=17, set_size=2))
        return table[table["split"] == "one"]


def test_the_table_has_every_plan_once(found):
    assert list(found.columns) == list(compute.COLUMNS)
    assert set(found["method"]) == set(CHEAP)
    assert not found.duplicated(["split", "method", "accounting", "messages_per_user", "mse_expected"]).any()


def test_budgets_are_per_item_and_kept(found):
    rows = found[found["method"] == "poisson-copies"]
    assert (rows["messages_per_user"].to_numpy() <= [3.0 * (1 + 1e-9), 6.0 * (1 + 1e-9)]).all()
    assert rows["mse_expected"].is_monotonic_decreasing


def test_errors_are_over_the_weighted_gaussian_curators(found):
    sizes = {"n_users": 400, "domain_size": 17, "set_size": 2}
    plan = WEIGHTED.plan(compute.problem_of(CONFIG, **sizes, epsilon=1.0, split="one"))
    own = WEIGHTED.expected_mse(plan, np.full(17, 47))
    ratios = (found["mse_expected"] / found["error_ratio"]).dropna()
    assert ratios.to_list() == pytest.approx([own] * len(ratios), rel=1e-9)


def by_hand():
    head = {"n_users": 10, "domain_size": 17, "set_size": 2, "epsilon": 1.0, "split": "one", "refused": ""}
    rows = [
        ("a", "proven", "curve", 2.0, 8.0),
        ("a", "proven", "curve", 4.0, 2.0),
        ("b", "proven", "competitor", 3.0, 6.0),
        ("b", "proven", "competitor", 3.5, 7.0),
        ("c", "published", "competitor", 1.0, 0.5),
        ("curator-weighted", "proven", "reference", 2.0, 1.0),
        ("augmented-shuffling", "proven", "compared", 2.0, 0.1),
    ]
    names = ("method", "accounting", "role", "messages_per_user", "mse_expected")
    table = pd.DataFrame([head | dict(zip(names, row, strict=True)) for row in rows])
    return table.assign(error_ratio=4 * table["mse_expected"])


def test_winners_by_hand():
    """Budgets are 1, 3 and 8 messages; neither curators, nor another trust model, nor unproven accounting can win."""
    rows = winners(by_hand(), [0.5, 1.5, 4.0])
    assert rows["budget"].to_list() == [1.0, 3.0, 8.0]
    assert rows["winner"].fillna("").to_list() == ["", "b", "a"]
    assert rows["error_ratio"].to_list()[1:] == [24.0, 8.0]
    assert rows["second"].fillna("").to_list() == ["", "a", "b"]
    assert rows["second_ratio"].to_list()[1:] == [pytest.approx(8 / 6), 3.0]
    claims = pd.DataFrame(columns=["id", "section", "statement", "verdict", "found", "note", "rule"])
    text = readable(rows, claims)
    assert "| epsilon | split | 0.5 messages | 1.5 messages | 4 messages |" in text
    assert "| 10 | 17 | 2 | 1 | one | nobody | b: 24.00, next 1.33x | a: 8.00, next 3.00x |" in text


CHOOSING = [each for each in every().values() if each.compared]


@pytest.mark.parametrize("declared", CHOOSING, ids=lambda each: f"{each.accounting}-{each.name}")
def test_every_choice_makes_a_plan(declared):
    problem = compute.problem_of(CONFIG, n_users=10_000, domain_size=1000, set_size=1, epsilon=1.0, split="one")
    numbers = [compute.numbers_of(*plan, np.ones(1000)) for plan in compute.plans_of(declared, problem, [], {})]
    assert len(numbers) == len(declared.compared) > 1
    assert not [each["refused"] for each in numbers if "refused" in each]


def test_a_plan_that_is_refused_says_why():
    twice = Problem(17, 1, (1.0,), (2,), 1e-9, Assumptions("exactly", rounds=2))
    method = FakeUsers()
    row = compute.numbers_of(method, lambda: method.plan(twice), np.ones(17, dtype=np.int64))
    assert list(row) == ["refused"]
    assert row["refused"].startswith("rounds = 2")


@pytest.mark.quick(0)
def test_figure_draws_fronts_and_references_of_every_panel():
    one = by_hand()
    dearer = one[one["role"] == "reference"].assign(messages_per_user=3.0, error_ratio=6.0)
    one = pd.concat([one, dearer], ignore_index=True)
    panels = [
        one.assign(set_size=s, epsilon=epsilon, error_ratio=one["error_ratio"] * (1 + s + epsilon))
        for s in (4, 2)
        for epsilon in (2.0, 0.5, 1.0, 4.0)
    ]
    refused = one.tail(1).assign(
        role="compared", refused="needs more users", epsilon=0.5, mse_expected=np.nan, error_ratio=np.nan, method="d"
    )
    table = pd.concat([*panels, refused], ignore_index=True)
    table["n_users"] = 10_000
    figure = draw(table, n_users=10_000, domain_size=17, split="one")
    keys = [(s, epsilon) for s in (2, 4) for epsilon in (0.5, 1.0, 2.0, 4.0)]
    sizes = "$n$ = 10,000, $d$ = 17, $s$ = "
    for i, (axes, (s, epsilon)) in enumerate(zip(visible(figure), keys, strict=True)):
        assert axes.get_title().replace("\n", ": ") == f"({'abcdefgh'[i]}) $\\epsilon$ = {epsilon:g}: {sizes}{s}"
        drawn = {line.get_label(): line for line in axes.lines}
        scale = 4 * (1 + s + epsilon)
        # of the second method the dearer plan is worse than the cheaper one
        assert points(drawn["a (proven)"]) == [(2.0, 8.0 * scale), (4.0, 2.0 * scale)]
        assert points(drawn["b (proven)"]) == [(3.0, 6.0 * scale)]
        assert points(drawn["c"]) == [(1.0, 0.5 * scale)]
        assert set(drawn["Gaussian curator, weight per level"].get_ydata()) == {scale}
        assert len(drawn) == 5, "what is refused is not drawn"
    assert complaints(figure) == []


def test_a_front_has_no_two_plans_of_one_error():
    """Of equal errors the fewest messages stay, of equal messages the least error, in whatever order the rows are."""
    plans = [(3.0, 1.0), (2.0, 1.0), (1.0, 5.0), (1.0, 4.0), (2.5, 1.5), (4.0, 0.5)]
    kept = front(pd.DataFrame(plans, columns=["messages_per_user", "mse_expected"]))
    assert kept.to_numpy().tolist() == [[1.0, 4.0], [2.0, 1.0], [4.0, 0.5]]
