"""Amplification figures: settings, curves and tables, each against something computed in another way."""

import itertools
import json
import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from segshuffle.accounting.single_message import randomizers
from segshuffle.accounting.single_message import variation_ratio_tables as tables
from segshuffle.accounting.single_message.accountants import ACCOUNTANTS
from segshuffle.accounting.single_message.decomposition import lower_bound_delta
from segshuffle.accounting.single_message.personalized_settings import BoundPoint
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
    # the numbers that they have in the papers
    numbers = {"decomposition": [2, 3, 4, 5, 6, 7, 8], "variation": [1, 2, 3, 4, 5], "personalized": [4]}
    assert [f"{paper}{number}" for paper, several in numbers.items() for number in several] == list(FIGURES)
    assert list(TABLES) == ["variation-table5", "personalized-table2"]


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
    assert list(table.index) == list(range(len(table)))
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


@pytest.fixture(scope="module")
def table5():
    return compute("variation-table5", points=2)


def test_table_5_is_near_the_printed_one(table5):
    printed = np.array([json.loads(text)["printed"] for text in table5["parameters"]])
    assert len(table5) == 24
    np.testing.assert_allclose(table5["y"], printed, rtol=0.01)
    fine = table5[table5["panel"] == "T = 20"].set_index(["curve", "x"])["y"]
    coarse = table5[table5["panel"] == "T = 10"].set_index(["curve", "x"])["y"]
    assert (fine <= coarse[fine.index]).all()
    text = to_markdown("variation-table5", table5)
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
    assert list(table.index) == list(range(len(table)))
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


# --- settings of every figure, as docs/amplification.md states them ----------------------------------------------


def one(name, **fixed):
    return lambda local_epsilon: getattr(randomizers, name)(local_epsilon=local_epsilon, **fixed)


SINGLE = {
    "10-RR": one("KaryRandomizedResponse", domain_size=10),
    "BLH": one("BinaryLocalHash"),
    "RAPPOR": one("Rappor"),
    "OUE": one("OptimizedUnaryEncoding"),
    # cells on each half
    "Laplace": one("Laplace", cells=150),
}


def joint(name, count, differing=None):
    """Equal shares of the local epsilon."""
    return lambda local_epsilon: randomizers.JointComposition(
        components=tuple(SINGLE[name](local_epsilon / count) for _ in range(count)), differing=differing
    )


def either(local_epsilon):
    """10-RR or BLH, with probability 1/2 each."""
    parts = (SINGLE["10-RR"](local_epsilon), SINGLE["BLH"](local_epsilon))
    return randomizers.ParallelComposition(components=parts, weights=(0.5, 0.5))


def sampled(rate):
    return lambda local_epsilon: randomizers.poisson_subsampled(SINGLE["10-RR"](local_epsilon), rate=rate)


BOTH = ("blanket", "blanket-lower")
AGAINST = (*BOTH, "standard-clone", "hoeffding", "bennett")
POWERS = {f"$n = 10^{power}$": 10**power for power in (4, 6)}
#: Figure -> (panel, curve) -> randomizer, number of users and accountants, in the order of the table.
DECOMPOSITION = {
    2: {(f"{x}, {n}", x): (make, users, AGAINST) for x, make in SINGLE.items() for n, users in POWERS.items()},
    3: {
        (f"{x}, {k}-joint", curve): (make, 10_000, accountants)
        for x in ("10-RR", "BLH", "RAPPOR", "OUE")
        for k in (2, 3)
        for curve, make, accountants in ((f"{k}-joint", joint(x, k), AGAINST), ("single", SINGLE[x], ("blanket",)))
    },
    4: {
        (n, curve): (make, users, BOTH)
        for n, users in POWERS.items()
        for curve, make in (("10-RR", SINGLE["10-RR"]), ("parallel", either), ("BLH", SINGLE["BLH"]))
    },
    5: {
        (n, curve): (make, users, ("blanket",))
        for n, users in POWERS.items()
        for curve, make in (
            *((f"$d = {d}$", one("Rappor", domain_size=d)) for d in (2, 3, 5, 10, 100)),
            ("$d \\to \\infty$", SINGLE["RAPPOR"]),
        )
    },
    6: {
        (n, f"rate {rate}"): (sampled(float(rate)), users, BOTH)
        for n, users in POWERS.items()
        for rate in ("1", "0.5", "0.1")
    },
    7: {
        (n, f"distance {distance}"): (joint("10-RR", 3, distance), users, ("blanket",))
        for n, users in POWERS.items()
        for distance in (1, 2, 3)
    },
}


@pytest.mark.parametrize("number", DECOMPOSITION)
def test_settings_of_the_decomposition_figures(number):
    expected = [
        (panel, curve, accountant, x, users, make(x))
        for (panel, curve), (make, users, accountants) in DECOMPOSITION[number].items()
        for accountant in accountants
        for x in (0.1, 0.707, 5.0)  # evenly in the logarithm
    ]
    found = getattr(decomposition_paper, f"figure{number}")(3)
    assert [(p.panel, p.curve, p.accountant, p.x, p.case.n_users, p.case.randomizer) for p in found] == expected
    for point in found:
        assert (point.x_name, point.case.local_epsilon, point.reference) == ("local_epsilon", point.x, None)
        assert point.case.delta == 0.01 / point.case.n_users
        # the standard clone needs nothing of the mechanism but its local epsilon
        reserved = point.curve == "Laplace" and point.accountant != "standard-clone"
        assert point.case.status == (decomposition_paper.LAPLACE_STATUS if reserved else "")


EARLIER = ("tails-general", "tails-specific", "standard-clone", "stronger-clone", "variation-ratio", "variation-lower")
#: Evenly in epsilon, and in its logarithm.
EVEN, LOG = (0.1, 2.55, 5.0), (0.01, 0.122, 1.5)
TENS = {f"$n = 10^{power}$": 10**power for power in (4, 5)}


def short_range(panel, curve, n_users):
    """The closed form of Erlingsson et al. ends below 1/2."""
    for x in (0.1, 0.49):
        yield panel, curve, "erlingsson", x, x, Case(n_users=n_users, delta=0.01 / n_users, local_epsilon=x), {}


def subset_selection():
    # nearest integers to d/(e^epsilon + 1), at least 1
    best = {16: (8, 1, 1), 128: (61, 9, 1)}
    for d, (n, users) in itertools.product(best, TENS.items()):
        panel = f"{n}, $d = {d}$"
        yield from short_range(panel, "subset", users)
        for x, size in zip(EVEN, best[d], strict=True):
            sizes = {"local_epsilon": x, "domain_size": d, "subset_size": size}
            case = Case(
                n_users=users,
                delta=0.01 / users,
                local_epsilon=x,
                randomizer=SubsetSelection(**sizes),
                variation=tables.subset_selection(**sizes),
                lower=variation_paper.subset_lower(**sizes),
            )
            for accountant in (*EARLIER, *BOTH):
                yield panel, "subset", accountant, x, x, case, {"subset_size": size}


def local_hash():
    for panel, users in TENS.items():
        yield from short_range(panel, "local hash", users)
        # nearest integers to e^epsilon + 1, at least 2
        for x, size in zip(EVEN, (2, 14, 149), strict=True):
            case = Case(
                n_users=users,
                delta=0.01 / users,
                local_epsilon=x,
                randomizer=KaryRandomizedResponse(local_epsilon=x, domain_size=size),
                variation=tables.local_hash(local_epsilon=x, hash_size=size),
                lower=variation_paper.response_lower(local_epsilon=x, options=size),
            )
            for accountant in EARLIER:
                yield panel, "local hash", accountant, x, x, case, {"hash_size": size}


CLOSED = ("variation-ratio", "variation-ratio-closed-form", "variation-asymptotic")


def fake_users():
    for panel, users in TENS.items():
        for x in LOG:
            count, flip = variation_paper.fake_messages(epsilon=x, delta=0.01 / users, n_users=users)
            case = Case(n_users=1 + count * users, delta=0.01 / users, variation=tables.flipped_one_hot(flip=flip))
            for accountant in CLOSED:
                yield panel, "fake users", accountant, x, x, case, {"fake_per_user": count, "flip": flip}


def bins():
    for d in (16, 128):
        for x in LOG:
            # the least number of messages with 32 log(2/delta) d/eps^2 at most that, delta = 1e-6
            blanket = -int(-32 * math.log(2e6) * d / x**2 // 1)
            proven = "proven: the victim's message has no left-over"
            case = Case(n_users=blanket + 1, delta=1e-6, variation=tables.balls_into_bins(domain_size=d), status=proven)
            for accountant in CLOSED:
                yield f"$d = {d}$", "balls into bins", accountant, x, x, case, {"blanket": blanket}


def range_queries():
    for levels, (n, users) in itertools.product((6, 11), TENS.items()):
        for x in EVEN:
            # the nodes of a level, the leaves first; apart, each level has its share of the users
            nodes = [2**power for power in range(levels, 0, -1)]
            response = [KaryRandomizedResponse(local_epsilon=x, domain_size=count) for count in nodes]
            proven = randomizers.ParallelComposition(components=tuple(response), weights=(1 / levels,) * levels)
            common = {"delta": 0.01 / users, "local_epsilon": x}
            apart, whole = common | {"n_users": users // levels}, common | {"n_users": users}
            cases = {
                "separate-best": Case(
                    variation=tables.randomized_response(local_epsilon=x, domain_size=2**levels), **apart
                ),
                "separate-worst": Case(variation=tables.randomized_response(local_epsilon=x, domain_size=2), **apart),
                "parallel-basic": Case(variation=tables.general(local_epsilon=x), **whole),
                "parallel-advanced": Case(variation=tables.range_query(local_epsilon=x, levels=levels), **whole),
                "blanket": Case(randomizer=proven, **whole),
                "blanket-lower": Case(randomizer=proven, **whole),
            }
            for accountant, case in cases.items():
                yield f"{n}, $d = {2**levels}$", "range query", accountant, x, x, case, {"levels": levels}


@pytest.mark.parametrize(
    ("number", "expected"), list(enumerate((subset_selection, local_hash, fake_users, bins, range_queries), start=1))
)
def test_settings_of_the_variation_ratio_figures(number, expected):
    found = getattr(variation_paper, f"figure{number}")(3)
    shown = [(p.panel, p.curve, p.accountant, p.x, p.reference, p.case, p.parameters) for p in found]
    assert shown == list(expected())


def test_the_short_curve_has_a_third_of_the_points():
    for points, xs in ((9, [0.1, 0.295, 0.49]), (3, [0.1, 0.49])):
        found = [point.x for point in variation_paper.figure2(points) if point.accountant == "erlingsson"]
        assert found == 2 * xs


def test_a_readable_table_has_every_number_of_its_rows():
    """Made-up numbers in the columns of the tables."""
    known = [
        {"local_epsilon": 1.5, "iterations": 20, "printed": 0.5, "without_bisection": 0.4375},
        {"local_epsilon": 3.0, "iterations": 10, "printed": 0.25, "without_bisection": 0.125},
    ]
    table = pd.DataFrame({"x": [10_000, 100_000_000], "y": [0.5625, 0.25], "kind": "published", "status": "not proven"})
    assert to_markdown("variation-table5", table.assign(parameters=list(map(json.dumps, known)))).splitlines() == [
        "# Table 5: general randomizers, bisection with 20 and 10 steps",
        "",
        "*Privacy Amplification via Shuffling: Unified, Simplified, and Tightened*",
        "",
        "| local epsilon | n | T | printed | here | here / printed | without bisection |",
        "|---|---|---|---|---|---|---|",
        "| 1.5 | 10,000 | 20 | 0.5 | 0.5625 | 1.1250 | 0.4375 |",
        "| 3 | 100,000,000 | 10 | 0.25 | 0.25 | 1.0000 | 0.125 |",
        "",
        "delta = 0.01/n. *Here* is the same bisection of [0, local epsilon] in T steps, upper end; every "
        "comparison is decided by certified intervals. Kind: published (not proven).",
        "",
        "Running times: `python benchmarks/variation_ratio.py`.",
    ]
    rows = [("b", 0.25, 3e-5, "upper", "proven"), ("b", 0.5, 1.25e-6, "upper", "proven")]
    rows += [("a", 0.5, 0.125, "published", "not proven"), ("a", 0.25, 0.75, "published", "not proven")]
    table = pd.DataFrame(rows, columns=["accountant", "x", "y", "kind", "status"])
    table = table.assign(parameters=json.dumps({"n_users": 10_000}), panel="pure, $\\varepsilon_i$ in [1, 2]")
    assert to_markdown("personalized-table2", table).splitlines() == [
        "# Table 2: delta at given epsilon, approximate mechanisms",
        "",
        "*Enhanced Privacy Bound for Shuffle Model with Personalized Privacy*",
        "",
        "| bound | epsilon = 0.25 | epsilon = 0.5 | kind |",
        "|---|---|---|---|",
        "| b | 3e-05 | 1.25e-06 | upper: proven |",
        "| a | 0.75 | 0.125 | published: not proven |",
        "",
        "Delta; n = 10,000, pure, \\varepsilon_i in [1, 2]. The printed values are not in our copy.",
    ]


def test_rows_of_table_5_say_what_was_asked(table5):
    known = [json.loads(text) for text in table5["parameters"]]
    # every local epsilon with 20 steps and with 10, for the three numbers of users each
    asked = [(local, steps, n) for local in (1.0, 3.0, 5.0, 7.0) for steps in (20, 10) for n in (10**4, 10**6, 10**8)]
    assert [(each["local_epsilon"], each["iterations"], x) for each, x in zip(known, table5["x"], strict=True)] == asked
    assert table5["panel"].tolist() == [f"T = {steps}" for _, steps, _ in asked]
    assert table5["curve"].tolist() == [f"local epsilon {local:g}" for local, _, _ in asked]
    for each, (local, steps, n), y in zip(known, asked, table5["y"], strict=True):
        assert each["delta"] == pytest.approx(0.01 / n, rel=1e-9, abs=0)
        # the upper end of the last interval, which has the exact epsilon in it; that is rounded up in turn
        assert -1e-5 * y <= y - each["without_bisection"] <= local / 2**steps * (1 + 1e-9)
    # Table 5 of the paper, as printed there
    assert [each["printed"] for each in known] == [
        *(0.0433, 0.00503, 0.000566),
        *(0.0440, 0.00586, 0.000977),
        *(0.227, 0.0255, 0.00283),
        *(0.229, 0.0264, 0.00293),
        *(0.743, 0.0778, 0.00853),
        *(0.743, 0.0782, 0.00977),
        *(6.99, 0.224, 0.0242),
        *(6.99, 0.225, 0.0273),
    ]


def test_a_mechanism_has_the_local_epsilon_that_its_case_knows():
    variation = tables.general(local_epsilon=0.75)
    case = Case(n_users=9, delta=1e-6, variation=variation)
    assert case.mechanism.local_epsilon == 0.75
    assert Case(n_users=9, delta=1e-6, variation=variation, local_epsilon=2.0).mechanism.local_epsilon == 2.0
    assert math.isnan(Case(n_users=9, delta=1e-6).mechanism.local_epsilon)


def test_the_distribution_function_is_drawn_at_twenty_values_a_point_and_at_its_jumps():
    table = compute("decomposition8", points=2)
    for (local, epsilon), (panel, rows) in zip(
        ((1.0, 0.1), (4.0, 0.5)), table.groupby("panel", sort=False), strict=True
    ):
        assert panel == f"$\\varepsilon_0 = {local:g}$, $\\varepsilon = {epsilon:g}$"
        least, largest = 1 - math.exp(epsilon + local), math.exp(local) - math.exp(epsilon)
        x, y = rows["x"].to_numpy(), rows["y"].to_numpy()
        # 40 on a line, both sides of 0, and what lies just below either end
        assert len(rows) == 40 + 4
        assert x[1] == pytest.approx(least, rel=1e-14)
        assert x[-1] == pytest.approx(largest, rel=1e-14)
        assert x[0] < x[1]
        assert x[-2] < x[-1]
        assert x[[0, -2]] == pytest.approx(x[[1, -1]], rel=1e-14)
        inside = np.delete(x, [0, np.flatnonzero(x == 0.0)[0], np.flatnonzero(x == 0.0)[0] - 1, len(x) - 2])
        np.testing.assert_allclose(np.diff(inside), (largest - least) / 39, rtol=1e-9)
        # what lies beyond 1, or below 0, under a Laplace law at the other end
        assert (y[0], y[1]) == (0.0, pytest.approx(0.5 * math.exp(-local), rel=1e-12))
        assert 1 - y[-2] == pytest.approx(0.5 * math.exp(-local), rel=1e-12)


def test_rows_of_the_personalised_paper(monkeypatch):
    """Three of the 20 numbers of users; what depends on the largest budget alone is asked once per panel."""
    asked = []

    def made_up(*, setting, mechanism, n_users, personal_only):
        asked.append((setting.name, mechanism, n_users, personal_only))
        methods = [("theorem", "published"), ("liu-2023", "published")]
        methods += [] if personal_only else [("standard-clone", "upper"), ("other", "published")]
        head = {"setting": setting.name, "mechanism": mechanism, "n_users": n_users, "delta": 1e-5}
        return [BoundPoint(**head, method=name, kind=kind, epsilon=n_users / 8) for name, kind in methods]

    monkeypatch.setattr(personalized_paper, "figure_points", made_up)
    table = personalized_paper.figure4(3)
    names = [("Uniform1", "Gauss1"), ("Uniform1", "Gauss1"), ("Uniform2", "Gauss2"), ("Uniform2", "Gauss2")]
    # 1000 * 100^(k/19) for k = 0, 10 and 19, rounded down
    users = [1000, int(1000 * 100 ** (10 / 19)), 100_000]
    assert asked == [
        (name, mechanism, n, name.startswith("Gauss"))
        for both, mechanism in zip(names, ("laplace", "gaussian") * 2, strict=True)
        for name in both
        for n in users
    ]
    assert tuple(table.columns) == COLUMNS
    assert table.index.tolist() == list(range(len(table)))
    panels = [f"{kind}, $\\varepsilon_i \\in [{ends}]$" for ends in ("0.05, 1", "0.5, 2") for kind in KINDS]
    expected = [
        (panel, curve, accountant, x)
        for panel, (uniform, gauss) in zip(panels, names, strict=True)
        for curve, accountants in (
            ("largest budget", ("other", "standard-clone")),
            (uniform, ("liu-2023", "theorem")),
            (gauss, ("liu-2023", "theorem")),
        )
        for accountant in accountants
        for x in users
    ]
    assert list(table[["panel", "curve", "accountant", "x"]].itertuples(index=False, name=None)) == expected
    assert set(table["x_name"]) == {"n_users"}
    assert set(table["y_name"]) == {"epsilon"}
    assert (table["y"] == table["x"] / 8).all()
    assert dict(zip(table["accountant"], table["status"], strict=True)) == {
        "standard-clone": "proven",
        "other": "not proven",
        "theorem": personalized_paper._STATUS["theorem"],
        "liu-2023": personalized_paper._STATUS["liu-2023"],
    }
    known = json.loads(table["parameters"][0])
    assert known == {"n_users": 1000, "delta": 1e-5, "epsilon": 125.0, "mechanism": "laplace", "setting": "Uniform1"}


KINDS = ("pure (Laplace)", "approximate (Gauss)")


def test_table_2_asks_for_deltas(monkeypatch):
    asked = []

    def made_up(*, setting, mechanism, n_users):
        asked.append((setting.name, mechanism, n_users))
        head = {"setting": setting.name, "mechanism": mechanism, "n_users": n_users, "kind": "published"}
        return [BoundPoint(**head, method="theorem", epsilon=0.25, delta=0.125)]

    monkeypatch.setattr(personalized_paper, "table_points", made_up)
    (row,) = personalized_paper.table2().to_dict("records")
    assert asked == [("Uniform2", "gaussian", 10_000)]
    assert [row[name] for name in ("curve", "x_name", "x", "y_name", "y")] == [
        "Uniform2",
        "epsilon",
        0.25,
        "delta",
        0.125,
    ]


@pytest.mark.parametrize(("kind", "side"), [("lower", 0.1234567890), ("upper", 0.1234567891)])
def test_a_point_is_rounded_before_it_is_a_ratio(monkeypatch, kind, side):
    found = SimpleNamespace(kind=kind, status="its own", epsilon_of=lambda mechanism, n, delta: 0.123456789012345)
    monkeypatch.setitem(curves.ACCOUNTANTS, "made up", found)
    case = Case(n_users=9, delta=1e-6, local_epsilon=1.0)
    common = {"panel": "a", "curve": "b", "accountant": "made up", "x_name": "c", "x": 2.0, "parameters": {"k": 3}}
    plain, ratio = Point(**common, case=case).row("f"), Point(**common, case=case, reference=2.0).row("f")
    assert (plain["y_name"], plain["y"]) == ("epsilon", side)
    assert (ratio["y_name"], ratio["y"]) == ("log2_ratio", math.log2(2.0 / side))
    assert json.loads(ratio["parameters"]) == {"n_users": 9, "delta": 1e-6, "epsilon": side, "k": 3}
    assert (plain["status"], plain["kind"], plain["figure"]) == ("its own", kind, "f")
    assert Point(**common, case=replace(case, status="another")).row("f")["status"] == "another"
