"""Verdicts on the amplification papers: every rule on made-up curves that make it come out, half come out, and fail."""

import json

import pandas as pd
import pytest
import yaml

from segshuffle.accounting.single_message.accountants import ACCOUNTANTS
from segshuffle.errors import ConfigError
from segshuffle.pipeline.judging import NOT, OPEN, PARTLY, REPRODUCED
from segshuffle.studies.amplification.curve_claims import RULES, Curves, evaluate, to_markdown
from segshuffle.studies.amplification.exhibits import EXHIBITS, PAPERS


def rows(accountant, values, *, figure="f", panel="p", curve="c", **known):
    """A curve with the given epsilons at x = 1, 2, ..."""
    return [
        {
            "figure": figure,
            "panel": panel,
            "curve": curve,
            "accountant": accountant,
            "x": float(x),
            "y": value,
            "parameters": json.dumps({"epsilon": value, **known}),
        }
        for x, value in enumerate(values, start=1)
    ]


def verdict(rule, *parts, **arguments):
    return RULES[rule](Curves(pd.DataFrame([row for part in parts for row in part])), **arguments)


PAIR = {"figures": ["f"], "ours": "a", "against": ["b", "c"]}
OTHERS = (rows("b", [1.0, 1.0]), rows("c", [2.0, 2.0]))


@pytest.mark.parametrize(("ours", "expected"), [([0.8, 0.9], REPRODUCED), ([0.8, 0.95], PARTLY), ([0.95, 1.2], NOT)])
def test_saving_at_least(ours, expected):
    found = verdict("saving_at_least", rows("a", ours), *OTHERS, **PAIR, stated=0.0999)
    assert found.verdict == expected
    assert f"least {1 - max(ours):.2%} (f, p, c, x = 2)" in found.found


@pytest.mark.parametrize(("ours", "expected"), [([0.5, 0.9], REPRODUCED), ([0.3, 0.9], PARTLY), ([0.7, 0.9], NOT)])
def test_saving_up_to(ours, expected):
    assert verdict("saving_up_to", rows("a", ours), *OTHERS, **PAIR, stated=0.5, tolerance=0.05).verdict == expected


@pytest.mark.parametrize(("ours", "expected"), [([0.68, 0.72], REPRODUCED), ([0.7, 0.1], PARTLY), ([0.9, 0.1], NOT)])
def test_saving_about(ours, expected):
    assert verdict("saving_about", rows("a", ours), *OTHERS, **PAIR, stated=0.3, tolerance=0.05).verdict == expected


@pytest.mark.parametrize(("ours", "expected"), [([0.1, 0.15], REPRODUCED), ([0.1, 0.9], PARTLY), ([0.9, 1.9], NOT)])
def test_saving_between_looks_at_each_of_the_others(ours, expected):
    found = verdict("saving_between", rows("a", ours), *OTHERS, **PAIR, low=0.8, high=0.951)
    assert found.verdict == expected
    assert "against b" in found.found
    assert "against c" in found.found


@pytest.mark.parametrize(
    ("ours", "about", "above"),
    # savings over x = 1, 2
    [([0.25, 0.5], REPRODUCED, REPRODUCED), ([0.25, 1.9], PARTLY, PARTLY), ([1.1, 2.1], NOT, NOT)],
)
def test_savings_over_what_the_original_analysis_claims(ours, about, above):
    common = {"figures": ["f"], "stated": 0.75}
    assert verdict("claimed_saving_about", rows("a", ours), **common, ours="a", tolerance=0.05).verdict == about
    common["stated"] = 0.7
    assert verdict("claimed_saving_above", rows("a", ours), **common, ours=["a"]).verdict == above


@pytest.mark.parametrize(
    ("upper", "share", "expected"),
    [
        ([1.05, 1.5], 0.5, REPRODUCED),
        ([1.05, 1.5], 1.0, PARTLY),
        ([1.2, 1.5], 0.5, NOT),
    ],
)
def test_gap_small(upper, share, expected):
    arguments = {"figures": ["f"], "upper": "u", "lower": "l", "within": 0.1, "share": share}
    assert verdict("gap_small", rows("u", upper), rows("l", [1.0, 1.0]), **arguments).verdict == expected


@pytest.mark.parametrize(("claimed", "expected"), [([1.0, 1.1], REPRODUCED), ([0.999, 5.0], NOT)])
def test_never_excluded_is_refuted_by_one_point(claimed, expected):
    parts = rows("a", claimed), rows("l", [1.0, 1.0])
    found = verdict("never_excluded", *parts, figures=["f"], claimed="a", lower="l")
    assert found.verdict == expected
    assert ("most by 0.10% (f, p, c, x = 1)" in found.found) == (expected == NOT)


def test_gap_small_can_start_further_right():
    parts = rows("u", [5.0, 1.0]), rows("l", [1.0, 1.0])
    common = {"figures": ["f"], "upper": "u", "lower": "l", "within": 0.1, "share": 1.0}
    assert verdict("gap_small", *parts, **common).verdict == PARTLY
    assert verdict("gap_small", *parts, **common, x_from=1.5).verdict == REPRODUCED


@pytest.mark.parametrize(("second", "expected"), [([1.0, 2.0], REPRODUCED), ([0.9, 2.0], PARTLY), ([0.9, 0.8], NOT)])
def test_ordered(second, expected):
    parts = rows("a", [1.0, 1.0], curve="one"), rows("a", second, curve="two")
    arguments = {"figures": ["f"], "accountant": "a", "order": ["one", "two"], "tolerance": 0.0}
    assert verdict("ordered", *parts, **arguments).verdict == expected


@pytest.mark.parametrize(("joint", "expected"), [([0.5, 0.9], REPRODUCED), ([0.5, 1.1], PARTLY), ([1.5, 1.1], NOT)])
def test_composition_helps_compares_panels_of_one_randomizer(joint, expected):
    parts = (
        rows("a", [1.0, 1.0], curve="single", panel="R, 2-joint"),
        rows("a", joint, curve="2-joint", panel="R, 2-joint"),
        rows("other", [0.0, 0.0], curve="2-joint", panel="R, 2-joint"),
    )
    arguments = {"figure": "f", "sizes": ["single", "2-joint"], "accountant": "a"}
    assert verdict("composition_helps", *parts, **arguments).verdict == expected


@pytest.mark.parametrize(("inner", "expected"), [([1.5, 1.5], REPRODUCED), ([1.5, 2.5], PARTLY), ([0.5, 2.5], NOT)])
def test_between(inner, expected):
    parts = (
        rows("a", inner, curve="in"),
        rows("a", [1.0, 2.0], curve="x"),
        rows("a", [2.0, 1.0], curve="y"),
    )
    arguments = {"figure": "f", "accountant": "a", "inner": "in", "outer": ["x", "y"], "tolerance": 0.0}
    assert verdict("between", *parts, **arguments).verdict == expected


@pytest.mark.parametrize(("ten", "expected"), [(1.004, REPRODUCED), (1.2, PARTLY)])
def test_converges(ten, expected):
    parts = (rows("a", [ten], curve="10"), rows("a", [0.9999], curve="100"), rows("a", [1.0], curve="all"))
    arguments = {"figure": "f", "accountant": "a", "limit": "all", "sizes": ["10", "100"], "within": 0.01}
    assert verdict("converges", *parts, **arguments).verdict == expected


@pytest.mark.parametrize(("printed", "expected"), [(1.005, REPRODUCED), (1.1, NOT)])
def test_printed_values(printed, expected):
    assert verdict("printed_values", rows("a", [1.0], printed=printed), figure="f", within=0.01).verdict == expected


@pytest.mark.parametrize(("fine", "expected"), [([1.0, 0.5], REPRODUCED), ([1.0, 1.5], PARTLY), ([2.0, 1.5], NOT)])
def test_finer_is_tighter(fine, expected):
    parts = rows("a", fine, panel="fine"), rows("a", [1.0, 1.0], panel="coarse")
    assert verdict("finer_is_tighter", *parts, figure="f", fine="fine", coarse="coarse").verdict == expected


@pytest.mark.parametrize(("ours", "expected"), [([0.5, 0.5], REPRODUCED), ([0.5, 1.5], PARTLY), ([2.0, 3.0], NOT)])
def test_smallest_takes_the_best_curve_of_every_other(ours, expected):
    parts = rows("a", ours), rows("b", [9.0, 9.0], curve="bad"), rows("b", [1.0, 1.0], curve="good")
    assert verdict("smallest", *parts, figure="f", ours="a", against=["b", "absent"]).verdict == expected


@pytest.mark.parametrize(("gauss", "expected"), [([0.5, 0.5], REPRODUCED), ([0.5, 1.5], PARTLY), ([2.0, 3.0], NOT)])
def test_mechanism_order(gauss, expected):
    parts = rows("a", gauss, mechanism="gaussian", panel="q"), rows("a", [1.0, 1.0], mechanism="laplace")
    arguments = {"figure": "f", "accountant": "a", "smaller": "gaussian", "larger": "laplace"}
    assert verdict("mechanism_order", *parts, **arguments).verdict == expected


# --- the reference -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def reference(root):
    return yaml.safe_load((root / "config/reference/claims-amplification.yaml").read_text(encoding="utf-8"))


def test_the_reference_is_complete(reference):
    assert len({entry["id"] for entry in reference}) == len(reference) >= 20
    for entry in reference:
        assert set(entry) <= {"id", "paper", "section", "statement", "rule", "arguments", "note"}
        assert entry["paper"] in PAPERS
        arguments = entry["arguments"]
        figures = [*arguments.get("figures", []), *([arguments["figure"]] if "figure" in arguments else [])]
        assert figures
        for figure in figures:
            assert EXHIBITS[figure].paper == entry["paper"], entry["id"]
    assert {entry["rule"] for entry in reference} == set(RULES), "no rule without a statement"


def test_the_accountants_of_the_reference_exist(reference):
    personal = {"theorem", "chen-cao-ge", "liu-2023", "blanket-hoeffding"}
    for entry in reference:
        for key in ("ours", "against", "upper", "lower", "accountant", "claimed"):
            value = entry["arguments"].get(key, [])
            for name in [value] if isinstance(value, str) else value:
                assert name in ACCOUNTANTS or name in personal, (entry["id"], name)


def test_what_did_not_run_is_not_evaluated(reference):
    claims = evaluate(pd.DataFrame(rows("a", [1.0])), reference)
    assert set(claims["verdict"]) == {OPEN}
    assert "did not run" in claims["found"].iloc[0]
    text = to_markdown(claims, edition="quick")
    assert "**quick** configuration" in text
    assert f"{len(reference)} not evaluated" in text
    assert text.count("\n## ") == 3


def test_an_unknown_rule_is_refused():
    entry = {"id": "x", "paper": "variation", "section": "1", "statement": "", "rule": "guess", "arguments": {}}
    with pytest.raises(ConfigError, match="guess"):
        evaluate(pd.DataFrame(rows("a", [1.0])), [entry])


def test_a_note_is_printed_only_if_the_statement_fails():
    def entry(stated):
        return {
            "id": f"s{stated}",
            "paper": "variation",
            "section": "7",
            "statement": "so it is",
            "rule": "saving_at_least",
            "arguments": {**PAIR, "stated": stated},
            "note": "because",
        }

    table = pd.DataFrame([*rows("a", [0.5, 0.5]), *OTHERS[0], *OTHERS[1]])
    claims = evaluate(table, [entry(0.4), entry(0.6)]).set_index("id")
    assert list(claims["verdict"]) == [REPRODUCED, NOT]
    assert list(claims["note"]) == ["", "because"]


def test_curves_of_few_points_are_not_judged_and_printed_tables_are():
    reference = [
        {
            "id": name,
            "paper": "variation",
            "section": "6",
            "statement": "It is smaller.",
            "rule": "saving_at_least",
            "arguments": {"figures": [name], "ours": "a", "against": ["b"], "stated": 0.0},
        }
        for name in ("variation1", "variation-table5")
    ]
    table = pd.DataFrame(
        [
            {
                **dict.fromkeys(("panel", "curve"), "one"),
                "figure": each["id"],
                "accountant": accountant,
                "x": 1.0,
                "y": epsilon,
                "parameters": json.dumps({"epsilon": epsilon}),
            }
            for each in reference
            for accountant, epsilon in (("a", 0.5), ("b", 1.0))
        ]
    )
    assert evaluate(table, reference, points=12)["verdict"].tolist() == [REPRODUCED] * 2
    few = evaluate(table, reference, points=11)
    assert few["verdict"].tolist() == [OPEN, REPRODUCED]
    assert few["found"][0] == "the curves of variation1 have 11 points, fewer than 12"
