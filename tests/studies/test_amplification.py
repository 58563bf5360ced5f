"""Amplification figures: settings, curves and tables, each against something computed in another way."""

import itertools
import json
import math

import numpy as np
import pandas as pd
import pytest

from segshuffle.accounting.single_message import variation_ratio_tables as tables
from segshuffle.accounting.single_message.accountants import ACCOUNTANTS
from segshuffle.accounting.single_message.decomposition import lower_bound_delta
from segshuffle.accounting.single_message.randomizers import KaryRandomizedResponse, SubsetSelection
from segshuffle.accounting.single_message.variation_ratio import published_epsilon
from segshuffle.accounting.single_message.variation_ratio_lower import (
    lower_bound_parameters,
    published_lower_delta,
    published_lower_epsilon,
)
from segshuffle.errors import ConfigError, ParameterError
from segshuffle.studies.amplification import curves, decomposition_paper, personalized_paper, variation_paper
from segshuffle.studies.amplification.compute import compute
from segshuffle.studies.amplification.curves import COLUMNS, Case, Point, evaluate, spaced
from segshuffle.studies.amplification.exhibits import EXHIBITS, FIGURES, TABLES
from segshuffle.studies.amplification.figure import LAYOUTS
from segshuffle.studies.amplification.readable import to_markdown

POINTS = {f"decomposition{n}": getattr(decomposition_paper, f"figure{n}") for n in range(2, 8)} | {
    f"variation{n}": getattr(variation_paper, f"figure{n}") for n in range(1, 6)
}


# --- settings ----------------------------------------------------------------------------------------------------


def test_every_figure_has_a_layout():
    assert set(LAYOUTS) == set(FIGURES)
    assert set(FIGURES) | set(TABLES) == set(EXHIBITS)


@pytest.mark.parametrize("figure", POINTS)
def test_curves_are_complete(figure):
    points = POINTS[figure](4)
    seen = {(p.panel, p.curve, p.accountant, p.x) for p in points}
    assert len(seen) == len(points), "no point twice"
    assert {p.accountant for p in points} <= set(ACCOUNTANTS)
    for (_, _, accountant), group in itertools.groupby(points, key=lambda p: (p.panel, p.curve, p.accountant)):
        xs = [p.x for p in group]
        assert xs == sorted(xs)
        assert len(xs) in (1, 4) or accountant == "erlingsson"


@pytest.mark.parametrize("figure", POINTS)
def test_each_case_has_what_its_accountant_needs(figure):
    needs = {
        **dict.fromkeys(("blanket", "blanket-lower", "hoeffding", "bennett", "tails-specific"), "randomizer"),
        **dict.fromkeys(("standard-clone", "stronger-clone", "tails-general", "erlingsson"), "local_epsilon"),
        "variation-lower": "lower",
    }
    for point in POINTS[figure](2):
        assert getattr(point.case, needs.get(point.accountant, "variation")) is not None
        assert 0 < point.case.delta < 1e-4


def test_an_unknown_item_is_refused():
    with pytest.raises(ConfigError, match="decomposition2"):
        compute("decomposition9", points=2)


def test_a_missing_part_of_a_case_is_named():
    with pytest.raises(ParameterError, match="randomizer"):
        ACCOUNTANTS["blanket"].epsilon_of(Case(n_users=100, delta=1e-6).mechanism, 100, 1e-6)


def test_grids_are_rounded_but_reach_their_ends():
    assert spaced(0.1, 5.0, 3, log=True) == [0.1, 0.707, 5.0]
    assert spaced(0.1, 5.0, 3, log=False) == [0.1, 2.55, 5.0]


# --- curves ------------------------------------------------------------------------------------------------------


def wide(table):
    """Epsilon per accountant, side by side."""
    epsilon = [json.loads(text)["epsilon"] for text in table["parameters"]]
    return table.assign(epsilon=epsilon).pivot_table(
        index=["panel", "curve", "x"], columns="accountant", values="epsilon"
    )


@pytest.mark.quick("decomposition6")
@pytest.mark.parametrize("figure", ["decomposition4", "decomposition6"])
def test_lower_bounds_lie_below_upper_ones(figure):
    chosen = [point for point in POINTS[figure](2) if point.case.n_users == 10_000]
    found = wide(evaluate(figure, chosen))
    assert (found["blanket-lower"] <= found["blanket"]).all()
    assert (found["blanket"] < found.index.get_level_values("x")).all(), "shuffling amplifies"


@pytest.mark.quick(0)
def test_proven_bounds_of_one_randomizer_contain_its_lower_bound():
    chosen = [
        p for p in decomposition_paper.figure2(2) if p.panel.startswith(("RAPPOR, $n = 10^4", "Laplace, $n = 10^4"))
    ]
    found = wide(evaluate("decomposition2", chosen))
    for upper in ("blanket", "standard-clone", "hoeffding", "bennett"):
        assert (found["blanket-lower"] <= found[upper]).all(), upper
    assert (found["blanket"] <= found[["hoeffding", "bennett"]].min(axis=1) * (1 + 1e-6)).all(), "same decomposition"


def test_the_rows_are_tidy():
    table = compute("variation4", points=2)
    assert list(table.columns) == list(COLUMNS)
    assert set(table["y_name"]) == {"log2_ratio"}
    row = table.iloc[0]
    assert row["y"] == math.log2(row["x"] / json.loads(row["parameters"])["epsilon"])
    assert set(table["status"]) == {"proven: the victim's message has no left-over"}


@pytest.mark.slow
def test_results_do_not_depend_on_the_number_of_processes():
    chosen = decomposition_paper.figure7(2)[:4]
    pd.testing.assert_frame_equal(evaluate("x", chosen, n_jobs=1), evaluate("x", chosen, n_jobs=2))


def test_the_reference_of_a_point_is_its_numerator():
    case = Case(n_users=10_000, delta=1e-6, local_epsilon=1.0)
    common = {"panel": "a", "curve": "b", "accountant": "standard-clone", "x_name": "c", "x": 1.0, "case": case}
    plain, ratio = Point(**common).row("f"), Point(**common, reference=1.0).row("f")
    assert ratio["y"] == math.log2(1.0 / plain["y"])


# --- the amplification variable ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("local_epsilon", "epsilon"), decomposition_paper.AMPLIFICATION_VARIABLES)
def test_the_law_of_the_amplification_variable(local_epsilon, epsilon):
    """Against the definition, on a fine grid of outputs under the blanket min(R_0, R_1)."""
    step = 1e-4
    outputs = np.arange(-8.0, 9.0, step) + step / 2
    zero = 0.5 * local_epsilon * np.exp(-local_epsilon * np.abs(outputs))
    one = 0.5 * local_epsilon * np.exp(-local_epsilon * np.abs(outputs - 1))
    blanket = np.minimum(zero, one)
    value = (zero - math.exp(epsilon) * one) / blanket
    left_over = 1 - math.exp(-local_epsilon / 2)
    for at in (-1.0, -0.3, -1e-9, 0.0, 0.2, 1.0):
        expected = float(np.sum(blanket[value <= at]) * step) + (left_over if at >= 0 else 0.0)
        found = decomposition_paper.laplace_gparv_cdf(local_epsilon=local_epsilon, epsilon=epsilon, value=at)
        assert found == pytest.approx(expected, abs=4e-4)


@pytest.mark.quick(0)
@pytest.mark.parametrize(("local_epsilon", "epsilon"), decomposition_paper.AMPLIFICATION_VARIABLES)
def test_its_mean_is_one_minus_e_to_epsilon(local_epsilon, epsilon):
    """Property 2 of the paper; E[G] = largest - integral of the distribution function."""
    least, largest = -math.expm1(epsilon + local_epsilon), math.exp(local_epsilon) - math.exp(epsilon)
    grid = np.linspace(least, largest, 400_001)
    law = [
        decomposition_paper.laplace_gparv_cdf(local_epsilon=local_epsilon, epsilon=epsilon, value=float(g))
        for g in grid
    ]
    middle = 0.5 * (np.array(law)[1:] + np.array(law)[:-1])
    mean = largest - float(np.sum(middle) * (grid[1] - grid[0]))
    assert mean == pytest.approx(1 - math.exp(epsilon), abs=1e-3 * (largest - least))


def test_its_figure_shows_both_sides_of_every_jump():
    table = compute("decomposition8", points=3)
    for _, rows in table.groupby("panel"):
        assert rows["y"].is_monotonic_increasing
        assert rows["x"].is_monotonic_increasing
        assert rows["y"].iloc[0] == 0.0
        assert rows["y"].iloc[-1] == 1.0
        assert rows["y"].diff().max() == pytest.approx(
            -math.expm1(-0.5 * json.loads(rows["parameters"].iloc[0])["local_epsilon"])
        )


# --- variation ratio -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("subset_size", [1, 2, 3])
def test_lower_bound_of_subset_selection_from_all_subsets(subset_size):
    matrix = SubsetSelection(local_epsilon=1.3, domain_size=6, subset_size=subset_size).matrix()
    expected = lower_bound_parameters(first=matrix[0], second=matrix[1], others=matrix[:3])
    found = variation_paper.subset_lower(local_epsilon=1.3, domain_size=6, subset_size=subset_size)
    for name in ("log_p0", "beta", "q0", "q1"):
        assert getattr(found, name) == pytest.approx(getattr(expected, name), rel=1e-12)
    assert found.symmetric


def test_the_published_bound_is_refuted_at_a_setting_of_its_own_figure():
    """Figure 1, n = 1e4, d = 128, epsilon_0 = 5, so k = 1: the delta of two datasets exceeds the target."""
    sizes = {"local_epsilon": 5.0, "domain_size": 128, "subset_size": 1}
    assert variation_paper.best_subset_size(local_epsilon=5.0, domain_size=128) == 1
    claimed = published_epsilon(randomizer=tables.subset_selection(**sizes), n_users=10_000, delta=1e-6)
    truth = lower_bound_delta(randomizer=SubsetSelection(**sizes), n_users=10_000, epsilon=claimed, rtol=1e-6)
    # 1.0041e-6: the numerics are certified, so any excess over the target refutes the bound
    assert truth.lower > 1.004e-6


@pytest.mark.parametrize("options", [2, 3, 7])
def test_lower_bound_of_randomized_response_from_all_outputs(options):
    matrix = KaryRandomizedResponse(local_epsilon=0.8, domain_size=options).matrix()
    expected = lower_bound_parameters(first=matrix[0], second=matrix[1], others=matrix)
    found = variation_paper.response_lower(local_epsilon=0.8, options=options)
    for name in ("log_p0", "beta", "q0", "q1"):
        assert getattr(found, name) == pytest.approx(getattr(expected, name), rel=1e-12)


@pytest.mark.parametrize("local_epsilon", [0.2, 2.0, 6.0])
def test_the_lower_bound_excludes_what_lies_below_it(local_epsilon):
    bound = variation_paper.response_lower(local_epsilon=local_epsilon, options=4)
    epsilon = published_lower_epsilon(bound=bound, n_users=1000, delta=1e-5, rtol=1e-3)
    assert 0 < epsilon < local_epsilon
    assert published_lower_delta(bound=bound, n_users=1000, epsilon=epsilon).lower >= 1e-5
    assert published_lower_delta(bound=bound, n_users=1000, epsilon=1.001 * epsilon).upper < 1e-5


def test_the_lower_bound_is_zero_where_nothing_is_excluded():
    bound = variation_paper.response_lower(local_epsilon=0.01, options=2)
    assert published_lower_epsilon(bound=bound, n_users=10**6, delta=0.4) == 0.0


@pytest.mark.parametrize("epsilon", [0.01, 0.3, 1.5])
@pytest.mark.parametrize("n_users", [10_000, 100_000])
def test_fake_messages_meet_the_original_condition_with_the_least_number(epsilon, n_users):
    count, flip = variation_paper.fake_messages(epsilon=epsilon, delta=1e-6, n_users=n_users)
    half = epsilon / 2
    need = 33 / 5 * ((math.exp(half) + 1) / (math.exp(half) - 1)) ** 2 * math.log(4 / 0.5e-6)
    assert flip * (1 - flip) * n_users * count == pytest.approx(need, rel=1e-9)
    assert 0 < flip <= variation_paper.LARGEST_FLIP * (1 + 1e-12)
    if count > 1:
        largest = variation_paper.LARGEST_FLIP * (1 - variation_paper.LARGEST_FLIP)
        assert largest * n_users * (count - 1) < need


def test_sizes_that_are_best_for_estimation():
    assert variation_paper.best_subset_size(local_epsilon=math.log(3), domain_size=16) == 4
    assert variation_paper.best_subset_size(local_epsilon=5.0, domain_size=16) == 1
    assert variation_paper.best_hash_size(local_epsilon=math.log(4)) == 5
    assert variation_paper.best_hash_size(local_epsilon=0.1) == 2


def test_range_queries_split_users_only_where_they_are_apart():
    cases = variation_paper._range_cases(10_000, 6, 1.0)
    users = {name: case.n_users for name, case in cases.items()}
    assert users["separate-best"] == users["separate-worst"] == 1666
    assert {users[name] for name in users if not name.startswith("separate")} == {10_000}
    beta = {name: case.variation.beta for name, case in cases.items() if case.variation}
    # section 7.3: GRR on d/2^h options, h uniform
    expected = sum((math.e - 1) / (math.e + 64 / 2**h - 1) for h in range(6)) / 6
    assert beta["parallel-advanced"] == pytest.approx(expected, rel=1e-12)
    assert beta["separate-best"] < beta["parallel-advanced"] < beta["separate-worst"]
    assert beta["separate-worst"] == pytest.approx(beta["parallel-basic"], rel=1e-12)


def test_table_5_is_near_the_printed_one():
    table = compute("variation-table5", points=2)
    printed = np.array([json.loads(text)["printed"] for text in table["parameters"]])
    assert len(table) == 24
    np.testing.assert_allclose(table["y"], printed, rtol=0.01)
    fine = table[table["panel"] == "T = 20"].set_index(["curve", "x"])["y"]
    coarse = table[table["panel"] == "T = 10"].set_index(["curve", "x"])["y"]
    assert (fine <= coarse[fine.index]).all()
    text = to_markdown("variation-table5", table)
    assert text.count("\n| 3 |") == 6
    assert "| 1 | 10,000 | 20 | 0.0433 |" in text


# --- personal budgets ----------------------------------------------------------------------------------------------


def test_no_personalised_number_is_called_a_guarantee():
    table = compute("personalized-table2", points=2)
    assert set(table["kind"]) <= {"published", "asymptotic"}
    assert {"theorem", "reduction", "stronger-clone"} <= set(table["accountant"])
    text = to_markdown("personalized-table2", table)
    assert "refuted as an upper bound" in text
    assert "epsilon = 0.05" in text


@pytest.mark.slow
def test_personalised_figure_has_shared_curves_once():
    table = compute("personalized4", points=2)
    assert not table.duplicated(["panel", "accountant", "curve", "x"]).any()
    assert list(table["panel"].drop_duplicates()) == [
        personalized_paper.panel_name(mechanism, settings) for mechanism, settings in personalized_paper.PANELS
    ]
    assert set(table["x"]) == {1000, 100_000}
    shared = table[table["accountant"] == "stronger-clone"]
    assert set(shared["curve"]) == {"largest budget"}
    assert set(table.loc[table["accountant"] == "theorem", "curve"]) == {"Uniform1", "Gauss1", "Uniform2", "Gauss2"}


@pytest.mark.parametrize(
    ("number", "name", "ends"),
    [
        (1, "local_epsilon", {0.1, 5.0}),
        (2, "local_epsilon", {0.1, 5.0}),
        (3, "claimed_epsilon", {0.01, 1.5}),
        (4, "claimed_epsilon", {0.01, 1.5}),
    ],
)
def test_axes_of_the_variation_ratio_figures_are_the_papers(number, name, ends):
    points = [point for point in getattr(variation_paper, f"figure{number}")(2) if point.accountant != "erlingsson"]
    assert {point.x_name for point in points} == {name}
    assert {point.x for point in points} == ends


def test_panels_of_the_range_queries_are_the_papers():
    """Section 7.3 of the variation-ratio paper: d = 64 or 2048, n = 10^4 or 10^5."""
    panels = list(dict.fromkeys(point.panel for point in variation_paper.figure5(2)))
    assert panels == [f"$n = 10^{power}$, $d = {d}$" for d in (64, 2048) for power in (4, 5)]


@pytest.mark.parametrize(("kind", "side"), [("lower", -1), ("upper", 1), ("published", 1)])
def test_a_row_is_rounded_to_the_safe_side_of_its_kind(kind, side):
    """Ten digits: a lower bound goes down, every other privacy number up, and nothing else moves."""
    value = 0.123456789012345
    row = curves.tidy(kind=kind, y_name="epsilon", y=value, x=value, parameters={"delta": value, "n_users": 7})
    safe = 0.1234567890 if side < 0 else 0.1234567891
    assert (row["y"], row["x"]) == (safe, value)
    assert json.loads(row["parameters"]) == {"delta": safe, "n_users": 7}
    assert curves.tidy(kind=kind, y_name="probability", y=value, parameters={})["y"] == value
