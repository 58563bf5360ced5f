"""What the verdicts measure: every measure on made-up tables, and where the settings are not the paper's."""

import itertools
import json

import numpy as np
import pandas as pd
import pytest
import yaml
from configurations import changed

from segshuffle.plans.registry import paper_competitors
from segshuffle.reproduction.studies.amplification import report as curve_claims
from segshuffle.reproduction.studies.amplification.report import curves_of
from segshuffle.reproduction.studies.claims import report as panel_claims
from segshuffle.reproduction.studies.claims.report import (
    COMMON,
    POPULATIONS,
    SPLITS,
    USERS,
    Panels,
    departure,
    evaluate,
)
from segshuffle.reproduction.studies.pareto import report as winners
from segshuffle.reproduction.studies.verdicts import OPEN, NotRunError

# --- the panels ------------------------------------------------------------------------------------------------------

MSNBC = {"dataset": "msnbc", "n_users": "smallest", "set_size": 4, "split": "S1"}
S1, SPLIT_PAIR = {"datasets": ["msnbc"], "splits": ["S1"]}, {"datasets": ["msnbc"], "before": "S2", "after": "S3"}
GRID = (0.1, 1.0, 10.0)
BEST_AT_10 = (4.0, 2.0, 1.0)


def panel(*, curve=(2.0, 1.0, 4.0), messages=GRID, competitors=None, **place):
    """Make rows of one panel: our error at every m of the grid, and the competitors' (10 unless given)."""
    common = {**MSNBC, "n_users": 100, "domain_size": 17, "source": "real", "accounting": "published", "role": "best"}
    common |= place
    rows = [
        {
            **common,
            "method": "segmented",
            "blanket_per_user": m,
            "mse_expected": error,
            "role": "grid",
            "messages_per_user": k,
        }
        for m, error, k in zip(GRID, curve, messages, strict=True)
    ]
    # the searched optimum is not on the grid, and one competitor is not the paper's: both are passed over
    others = {"segmented": 1e-9, "inverse-variance-sepmm": 1e-9, **dict.fromkeys(paper_competitors(), 10.0)}
    others |= competitors or {}
    return rows + [
        {**common, "method": name, "blanket_per_user": 3.3, "mse_expected": error} for name, error in others.items()
    ]


#: Options of the paper's competitors.
OPTIONS = {"balls_into_bins": {"analysis": "numerical"}, "subset_exponential": {"local_epsilon": 2.0}}


def measured(name, *rows, competitors=OPTIONS, **of):
    """Measure panels as if they were the paper's."""
    table = pd.DataFrame([row for part in rows for row in part])
    users = dict(zip(("smallest", "largest"), sorted(set(table["n_users"])), strict=False))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(panel_claims, "USERS", users)
        patch.setitem(POPULATIONS, "msnbc", {**POPULATIONS["msnbc"], "set_size": sorted(set(table["set_size"]))})
        patch.setattr(panel_claims, "WIDEST_STEP", 10.0)
        panels = Panels(table, {**COMMON, "splits": SPLITS, "competitors": competitors})
        found = getattr(panel_claims, name)(panels, **of)
    return {title: dict(part) for title, part in found.parts.items()}


TWO = panel(competitors={"mm": 4.0}), panel(n_users=900, curve=BEST_AT_10, competitors={"sepmm": 2.0})
ONE_NAME, OTHER_NAME = "msnbc n=100 s=4 S1", "msnbc n=900 s=4 S1"


def test_a_best_m_is_the_range_of_nearly_least_errors():
    flat, steep = panel(curve=(1.02, 1.0, 1.1)), panel(n_users=900, curve=(2.0, 1.03, 1.0))
    one, other = (
        f"{ONE_NAME}: best m 0.1 to 1, at the start of the grid",
        f"{OTHER_NAME}: best m 10, at the end of the grid",
    )
    assert measured("best_m", flat, steep, **S1) == {"largest best m, msnbc": {one: 1.0, other: 10.0}}
    rise = measured("rise_at_ends", flat, steep, **S1)
    assert rise["error at the smallest m above the least"] == pytest.approx({one: 0.02, other: 1.0})
    assert rise["error at the largest m above the least"] == pytest.approx({one: 0.1, other: 0.0})
    found = measured("messages", flat, steep, **S1)
    assert found == {
        "fewest messages per user": {one: 0.1, other: 10.0},
        "most messages per user": {one: 1.0, other: 10.0},
    }


def test_what_a_stated_m_costs_is_at_the_nearest_point_of_the_grid():
    for blanket, nearest, excess in ((1.0, 1, 0.0), (0.3, 0.1, 1.0), (3.2, 10, 3.0), (3.1, 1, 0.0)):
        found = measured("excess_at", *TWO, blanket=blanket, **MSNBC)
        assert found == {f"error at m = {nearest} above the least": {f"{ONE_NAME}: best m 1": excess}}


def test_reduction_is_against_the_named_or_the_strongest_competitor():
    assert measured("reduction", *TWO, **S1, against=["strongest", "sepmm"]) == {
        "reduction against the strongest": {ONE_NAME: 0.75, OTHER_NAME: 0.5},
        "reduction against sepmm": {ONE_NAME: 0.9, OTHER_NAME: 0.5},
    }
    means = measured("mean_reduction", *TWO, **S1)
    assert means["mean reduction against mm"] == {"msnbc, 2 panels": pytest.approx(0.825)}
    assert set(means) == {f"mean reduction against {name}" for name in paper_competitors()}


def test_another_reading_of_balls_into_bins_is_marked():
    other = {**OPTIONS, "balls_into_bins": {"analysis": "closed-form"}}
    found = measured("reduction", *TWO, competitors=other, **S1, against=["strongest", "mm", "subexp-local"])
    assert "reduction against mm" in measured("reduction", *TWO, competitors={}, **S1, against=["mm"])
    marked = "(balls into bins with analysis closed-form, weight_users level)"
    assert set(found) == {
        f"reduction against the strongest {marked}",
        f"reduction against mm {marked}",
        "reduction against subexp-local",
    }


def test_a_best_m_falls_if_both_ends_do_and_is_apart_if_every_m_is():
    few, many = panel(curve=(2.0, 1.0, 1.01)), panel(n_users=900, curve=(1.0, 1.01, 2.0))
    first = f"{ONE_NAME}: best m 1 to 10, at the end of the grid"
    said = f"{first}, against {OTHER_NAME}: best m 0.1 to 1, at the start of the grid"
    assert measured("fall_with_users", few, many, **S1) == {"ratio of best m": {said: pytest.approx(10.0)}}
    pairs = [[MSNBC, MSNBC | {"n_users": "largest"}]]
    assert measured("apart", few, many, pairs=pairs) == {"ratio of best m": {said: 1.0}}
    # beyond the end of the grid, the best m may be on either side of the other
    for name, of in (("fall_with_users", S1), ("apart", {"pairs": pairs})):
        with pytest.raises(NotRunError, match=f"^{OTHER_NAME}: best m 10, at the end of the grid, so that"):
            measured(name, panel(), panel(n_users=900, curve=BEST_AT_10), **of)
    halved = panel(n_users=900, curve=(9.0, 0.5, 9.0))
    said = f"{OTHER_NAME}: 0.5 against {ONE_NAME}: 1"
    assert measured("error_ratio", TWO[0], halved, **S1) == {"ratio of least error": {said: 0.5}}


def test_changes_from_one_split_to_another():
    rows = panel(split="S2", competitors={"mm": 2.0}), panel(split="S3", curve=(9, 0.5, 9), competitors={"mm": 2.5})
    assert measured("change", *rows, method="mm", **SPLIT_PAIR) == {"error of mm, S2 to S3": {"msnbc n=100 s=4": 0.25}}
    assert measured("change", *rows, method="segmented", **SPLIT_PAIR) == {
        "error of segmented, S2 to S3": {"msnbc n=100 s=4": -0.5}
    }
    found = measured("growth_of_gap", *rows, methods=["mm", "strongest"], **SPLIT_PAIR)
    assert list(found.values()) == [{"msnbc n=100 s=4: 2.00x to 5.00x": 2.5}] * 2


@pytest.mark.parametrize(
    ("name", "of", "said"),
    [
        ("best_m", S1 | {"splits": ["S9"]}, "^panel msnbc n=100 s=4 S9 did not run$"),
        ("best_m", S1 | {"set_sizes": [8]}, "s=8 S1 did not run$"),
        ("reduction", S1 | {"against": ["x"]}, f"^x did not run on {ONE_NAME}$"),
    ],
)
def test_what_did_not_run_is_named(name, of, said):
    with pytest.raises(NotRunError, match=said):
        measured(name, TWO[0], **of)


# --- only the paper's own settings are judged ----------------------------------------------------------------------

BLANKETS = [float(f"{m:.4g}") for m in np.geomspace(0.1, 10.0, 31)]


@pytest.fixture(scope="module")
def reference(root):
    return yaml.safe_load((root / "config/reference/claims.yaml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def table():
    """Return all panels of the paper, with made-up errors."""
    rows = []
    for dataset, population in POPULATIONS.items():
        for place in itertools.product(USERS.values(), population["set_size"], SPLITS):
            common = dict(zip(("n_users", "set_size", "split"), place, strict=True))
            common |= {"dataset": dataset, "domain_size": population["domain_size"], "source": population["source"]}
            common |= {"messages_per_user": 4.0, "accounting": "published"}
            curve = [{"method": "segmented", "blanket_per_user": m, "mse_expected": 1 + (m - 1) ** 2} for m in BLANKETS]
            others = [{"method": each, "blanket_per_user": 1.0, "mse_expected": 9.0} for each in paper_competitors()]
            rows += [{**common, **each, "role": "grid"} for each in curve]
            rows += [{**common, **each, "role": "best"} for each in others]
    return pd.DataFrame(rows)


def judged(table, reference, config):
    """Return ids of what was evaluated, and what was said of the others."""
    claims = evaluate(table, reference, config)
    still = claims["verdict"] == OPEN
    return set(claims.loc[~still, "id"]), claims.loc[still].set_index("id")["found"].to_dict()


@pytest.mark.quick(0)
def test_the_shipped_configuration_is_the_papers(table, reference, full_config):
    assert judged(table, reference, full_config) == ({entry["id"] for entry in reference}, {})
    assert set(table["accounting"]) == {"published"}, "no row of the proven side is needed"
    more = table[table["n_users"] == 5000].assign(n_users=10_000, mse_expected=1e-9)
    both = [evaluate(each, reference, full_config) for each in (table, pd.concat([table, more]))]
    pd.testing.assert_frame_equal(*both, obj="verdicts with a further population")


@pytest.mark.parametrize(
    ("real", "best", "expected"),
    [(2.0, 2.0, "reproduced"), (1.3, 1.3, "not reproduced"), (2.0, 1.3, "partly reproduced")],
)
def test_a_statement_on_both_kinds_of_data_must_hold_on_both(table, reference, full_config, real, best, expected):
    """Real data count for a third of the panels: alone, they move the mean of all panels within the tolerance."""
    others = table["role"] == "best"
    errors = table["mse_expected"].where(~others, 2.0).where(~others | (table["dataset"] != "msnbc"), real)
    errors = errors.where((table["method"] != "mm") | (table["dataset"] != "msnbc"), best)
    claims = evaluate(table.assign(mse_expected=errors), reference, full_config).set_index("id")
    assert claims.loc["reduction-50", "verdict"] == expected


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        ("levels", [0.7, 1.4, 2.0], "levels is [0.7, 1.4, 2.0], the paper's is [0.5, 1.0, 2.0]"),
        ("delta_times_n", 0.1, "delta_times_n is 0.1, the paper's is 0.01"),
    ],
)
def test_nothing_is_judged_at_other_levels_or_another_delta(table, reference, full_config, path, value, said):
    evaluated, open_ = judged(table, reference, changed(full_config, path, value))
    assert evaluated == set()
    assert all(said in found for found in open_.values())


def test_other_splits_and_missing_competitors_leave_the_other_statements_alone(table, reference, full_config):
    evaluated, open_ = judged(table, reference, changed(full_config, "splits.S3", [0.2, 0.2, 0.6]))
    assert "best-m-msnbc-small" in evaluated
    assert "S3 is [0.2, 0.2, 0.6]" in open_["sepmm-worse-in-s3"]
    other = changed(full_config, "competitors.subset_exponential.local_epsilon", 1.0)
    evaluated, open_ = judged(table, reference, other)
    assert {"best-m-msnbc-small", "less-noise"} <= evaluated
    assert "local_epsilon" in open_["reduction-70"]
    closed = changed(full_config, "competitors.balls_into_bins.analysis", "closed-form")
    assert judged(table, reference, closed) == ({entry["id"] for entry in reference}, {})
    evaluated, open_ = judged(table[table["method"] != "mm"], reference, full_config)
    assert "best-m-msnbc-small" in evaluated
    assert "mm did not run" in open_["reduction-70"]


@pytest.mark.quick(1)
@pytest.mark.parametrize(
    ("dataset", "column", "value", "said"),
    [
        ("msnbc", "n_users", lambda n: n.where(n > 5000, 300), "did not run"),
        ("msnbc", "source", lambda _: "stand-in", "source is stand-in, the paper's is real"),
        ("synthetic", "set_size", lambda s: s.where(s > 4, 5), "did not run"),
        ("synthetic", "domain_size", lambda _: 64, "domain_size is 64, the paper's is 128"),
    ],
)
def test_another_population_leaves_the_other_dataset_alone(table, reference, full_config, dataset, column, value, said):
    mine = table["dataset"] == dataset
    other = table.assign(**{column: table[column].where(~mine, value(table[column]))})
    evaluated, open_ = judged(other, reference, full_config)
    assert open_
    assert all(said in found for found in open_.values())
    assert f"best-m-{'synthetic' if dataset == 'msnbc' else 'msnbc'}-large" in evaluated


@pytest.mark.parametrize(
    ("blankets", "said"),
    [
        (
            [0.1, 1.0, 10.0],
            "in steps of up to a factor 10; it must go from 0.1 to 10, in steps of at most a factor 1.25",
        ),
        (BLANKETS[1:], "goes from 0.1166 to 10 "),
        (BLANKETS[:-1], "goes from 0.1 to 8.577 "),
        (BLANKETS[:1], "goes from 0.1 to 0.1 "),
        ([2**-4 * (1.25 + 2**-40) ** k for k in range(24)], "steps of up to a factor "),
        ([2**-4 * 1.25**k for k in range(24)], None),
    ],
)
def test_a_grid_of_m_must_tell_a_best_m(full_config, blankets, said):
    curve = pd.DataFrame({"blanket_per_user": blankets, "domain_size": 17, "source": "real"})
    found = departure(full_config, "msnbc", "S1", curve)
    assert found is None if said is None else said in found


# --- curves of the amplification papers ------------------------------------------------------------------------------


def rows(accountant, values, *, figure="f", panel="p", curve="c", **known):
    """Return a curve with the given epsilons at x = 1, 2, ..."""
    head = {"figure": figure, "panel": panel, "curve": curve, "accountant": accountant}
    return [
        {**head, "x": float(x), "y": 2 * value, "parameters": json.dumps({"epsilon": value, **known})}
        for x, value in enumerate(values, start=1)
    ]


def of_curves(measure, *parts, figures=("f",), least=1, **of):
    curves = curves_of(pd.DataFrame([row for part in parts for row in part]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(curve_claims, "LEAST_POINTS", least)
        return {title: dict(part) for title, part in measure(curves, figures=list(figures), **of).parts.items()}


A, B, C = (rows(*each) for each in (("a", [0.5, 0.9]), ("b", [1.0, 1.5]), ("c", [2.0, 1.0])))


def test_savings_are_over_the_least_of_the_others_or_over_the_abscissa():
    # other accountants and figures are not asked, whether their names come before or after
    noise = [[row | {column: name, "y": 9.0} for row in A] for column in ("figure", "accountant") for name in "Az"]
    found = of_curves(
        curve_claims.saving, *noise[:2], A, B, C, *noise[2:], pairs=[["a", ["b", "c"]], ["a", "the original analysis"]]
    )
    assert found == {
        "saving of a against the least of b, c": {"f, p, c, x = 1": 0.5, "f, p, c, x = 2": pytest.approx(0.1)},
        "saving of a against the original analysis": {"f, p, c, x = 1": 0.5, "f, p, c, x = 2": pytest.approx(0.55)},
    }
    (part,) = of_curves(curve_claims.ratio, A, B, pairs=[["a", "b"]], from_x=1.5).values()
    assert part == {"f, p, c, x = 2": pytest.approx(0.6)}
    # only where both were asked
    (part,) = of_curves(curve_claims.ratio, A, rows("b", [1.0]), pairs=[["a", "b"]]).values()
    assert part == {"f, p, c, x = 1": 0.5}
    with pytest.raises(NotRunError, match=r"^no point of f has both a and z$"):
        of_curves(curve_claims.ratio, A, pairs=[["a", "z"]])


def test_ratios_are_of_curves_panels_and_mechanisms():
    curves = [
        rows("a", [1.0], curve="single", panel="R, 2-joint"),
        rows("a", [0.5], curve="2-joint", panel="R, 2-joint"),
    ]
    joint = {"column": "curve", "pairs": [["2-joint", "single"]], "by": ["randomizer", "x"]}
    other = rows("b", [0.1], curve="2-joint", panel="R, 2-joint")
    (part,) = of_curves(curve_claims.ratio, *curves, other, **joint, where={"accountant": "a"}).values()
    assert part == {"f, R, 2-joint, 2-joint, x = 1": 0.5}
    panels = rows("a", [1.0], panel="$T = 20$"), rows("a", [4.0], panel="$T = 10$")
    found = of_curves(curve_claims.ratio, *panels, column="panel", pairs=[["$T = 20$", "$T = 10$"]], value="y")
    assert found == {"T = 20 divided by T = 10": {"f, T = 20, c, x = 1": 0.25}}
    laws = rows("a", [1.0], mechanism="gaussian", panel="q"), rows("a", [8.0], mechanism="laplace")
    found = of_curves(curve_claims.ratio, *laws, column="mechanism", pairs=[["gaussian", "laplace"]], by=["curve", "x"])
    assert found == {"gaussian divided by laplace": {"f, q, c, x = 1": 0.125}}
    # if the other accountant has several curves, the least one counts
    others = rows("b", [9.0], curve="bad"), rows("b", [1.0], curve="good")
    (part,) = of_curves(curve_claims.ratio, A[:1], *others, pairs=[["a", "b"]], by=["panel", "x"]).values()
    assert part == {"f, p, c, x = 1": 0.5}


def test_curves_of_few_points_are_not_judged_and_printed_tables_are():
    for name, points in (("variation1", 12), ("variation-table5", 11)):
        curves = [rows(accountant, [1.0] * points, figure=name) for accountant in ("a", "b")]
        assert of_curves(curve_claims.ratio, *curves, figures=[name], pairs=[["a", "b"]], least=12)
    curves = [rows(accountant, [1.0] * 11, figure="variation1") for accountant in ("a", "b")]
    with pytest.raises(NotRunError, match=r"^the curves of variation1 have 11 points, fewer than 12$"):
        of_curves(curve_claims.ratio, *curves, figures=["variation1"], pairs=[["a", "b"]], least=12)


# --- the sweep of the literature -------------------------------------------------------------------------------------


def sweep(measure, plans, **of):
    """Measure plans (n, epsilon, method, accounting, messages, error) of one item and level; others must not count."""
    columns = ("n_users", "epsilon", "method", "accounting", "messages_per_user", "mse_expected")
    table = pd.DataFrame(plans, columns=columns).assign(set_size=1, split="one")
    elsewhere = [
        table.assign(**{"mse_expected": 1e-9, "messages_per_user": 0.1, name: value})
        for name, value in (("set_size", 2), ("split", "S1"), ("mse_expected", float("nan")))
    ]
    table = pd.concat([table, *elsewhere]).assign(domain_size=10)
    ((_, part),) = measure(table.assign(error_ratio=table["mse_expected"]), **of).parts.items()
    return part


CASE = "n = {}, d = 10, epsilon = {}"
A_PUBLISHED = {"method": "a", "accounting": "published"}


def test_least_error_within_messages():
    plans = [(9, 1.0, "a", "published", m, e) for m, e in ((1.2, 4.0), (1.2, 6.0), (1.3, 0.1))]
    plans += [(5, 1.0, "a", "published", 1.3, 0.1), (5, 1.0, "b", "published", 1.0, 0.1)]
    found = sweep(winners.error_within, plans, **A_PUBLISHED, messages=1.2)
    assert found == {CASE.format(9, 1): 4.0, CASE.format(5, 1): pytest.approx(float("nan"), nan_ok=True)}
    # a sum of messages may be off by rounding
    for stated, reached in ((1.2 * (1 - 1e-10), True), (1.2 * (1 - 1e-8), False)):
        assert (
            sweep(winners.error_within, plans[:1], **A_PUBLISHED, messages=stated)[CASE.format(9, 1)] == 4.0
        ) == reached


def test_further_messages_fall_whenever_n_grows():
    plans = [(n, 1.0, "a", "published", m, 1.0) for n, m in ((5, 3.0), (5, 9.0), (100, 5.0), (9000, 2.0))]
    found = sweep(winners.change_of_extra, plans, **A_PUBLISHED)
    assert found == {"epsilon = 1, n = 5 to 100": 2.0, "epsilon = 1, n = 100 to 9,000": 0.25}
    with pytest.raises(NotRunError, match=r"two numbers of users$"):
        sweep(winners.change_of_extra, plans[:2], **A_PUBLISHED)


def test_error_over_the_best_published_one():
    plans = [(5, eps, "a", "proven", 1.0, e) for eps, e in ((1.0, 1.0), (1.0, 3.0), (2.0, 0.5))]
    plans += [(5, eps, "b", "published", 1.0, e) for eps, e in ((1.0, 2.0), (1.0, 9.0), (2.0, 4.0))]
    assert sweep(winners.error_over_published, plans, method="a", accounting="proven") == {
        CASE.format(5, 1): 0.5,
        CASE.format(5, 2): 0.125,
    }
    with pytest.raises(NotRunError, match=r"^no protocol \(published\) has no plan"):
        sweep(winners.error_over_published, plans[:3], method="a", accounting="proven")
