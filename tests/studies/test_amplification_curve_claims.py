"""Verdicts on the amplification papers: every rule on made-up curves that make it come out, half come out, and fail."""

import json

import pandas as pd
import pytest
import yaml

from segshuffle.accounting.single_message.accountants import ACCOUNTANTS
from segshuffle.errors import ConfigError
from segshuffle.pipeline.judging import NOT, OPEN, PARTLY, REPRODUCED, NotRunError
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


# --- what is said --------------------------------------------------------------------------------------------------

PLACE = "f, n = 1, c"
A, B, C = (
    rows(name, values, panel="$n = 1$")
    for name, values in zip("abc", ([0.5, 0.9, 0.6], [1.0] * 3, [2.0] * 3), strict=True)
)
STEPS = [
    row
    for figure, middle in (("f", [1.0, 0.9, 2.0]), ("g", [1.5, 1.5, 1.5]))
    for curve, values in (("one", [1.0] * 3), ("two", middle), ("three", [2.0, 0.9, 1.9]))
    for row in rows("a", values, figure=figure, curve=curve)
]
#: Randomizers R and Q, alone and composed; another accountant is not asked.
COMPOSED = [
    row
    for name, curve, values in (
        ("R", "single", [1.0, 1.0, 1.0]),
        ("R", "2-joint", [0.5, 0.75, 0.875]),
        ("R", "3-joint", [0.5, 0.6, 0.7]),
        ("Q", "single", [1.0, 1.0, 1.0]),
        ("Q", "2-joint", [0.25, 1.0, 1.5]),
        ("Q", "3-joint", [0.2, 0.4, 0.3]),
    )
    for row in rows("a", values, curve=curve, panel=f"{name}, {curve if curve != 'single' else '2-joint'}")
]
INNER = [
    row
    for curve, values in (("in", [0.98, 2.05, 1.5]), ("x", [1.0] * 3), ("y", [2.0] * 3))
    for row in rows("a", values, curve=curve)
]
LIMITS = [
    row
    for curve, values in (("$d = 2$", [1.2, 1.25]), ("$d = 3$", [0.99, 1.005]), ("all", [1.0, 1.0]))
    for row in rows("a", values, curve=curve)
]
FIGURE, BOUND = {"figure": "f"}, {"figure": "f", "accountant": "a"}
SAID = [
    (
        ("saving_at_least", [A, B, C], {**PAIR, "stated": 0.4}),
        f"a against the best of b, c: 2 of 3 points; least 10.00% ({PLACE}, x = 2), median 40.0%",
    ),
    (
        ("saving_up_to", [A, B, C], {**PAIR, "stated": 0.5, "tolerance": 0.0}),
        f"a against the best of b, c: largest 50.00% ({PLACE}, x = 1)",
    ),
    (
        ("saving_about", [A, B, C], {**PAIR, "stated": 0.41, "tolerance": 0.05}),
        f"a against the best of b, c: median 40.0%, from 10.00% ({PLACE}, x = 2) to 50.00% ({PLACE}, x = 1); "
        "1 of 3 points within 5% of it",
    ),
    (
        ("saving_between", [A, B, C], {**PAIR, "low": 0.35, "high": 0.6}),
        "a: against b 2 of 3 points, from 10.0% to 50.0%; against c 1 of 3 points, from 55.0% to 75.0%",
    ),
    (
        ("claimed_saving_about", [A], {"figures": ["f"], "ours": "a", "stated": 0.56, "tolerance": 0.03}),
        f"a against the original analysis: median 55.0%, from 50.00% ({PLACE}, x = 1) to 80.00% ({PLACE}, x = 3); "
        "1 of 3 points within 3% of it",
    ),
    (
        ("claimed_saving_above", [A, B], {"figures": ["f"], "ours": ["a", "b"], "stated": 0.5}),
        f"a: 2 of 3 points, least 50.00% ({PLACE}, x = 1); b: 1 of 3 points, least 0.00% ({PLACE}, x = 1)",
    ),
    (
        (
            "gap_small",
            [rows("u", [1.0625, 1.5, 1.2]), rows("l", [1.0] * 3)],
            {"figures": ["f"], "upper": "u", "lower": "l", "within": 0.0625, "share": 0.5},
        ),
        "u over l: 1 of 3 points within 6.25 %; median 20.00%, largest 50.00% (f, p, c, x = 2)",
    ),
    (
        (
            "never_excluded",
            [A, rows("l", [1.0, 0.9, 1.0], panel="$n = 1$")],
            {"figures": ["f"], "claimed": "a", "lower": "l"},
        ),
        f"a is below l at 2 of 3 points; most by 100.00% ({PLACE}, x = 1)",
    ),
    (
        (
            "ordered",
            [STEPS, rows("b", [9.0, 0.1, 9.0], curve="two")],
            {"figures": ["f", "g"], "accountant": "a", "order": ["one", "two", "three"], "tolerance": 0.06},
        ),
        # three over two of g: 2/1.5, 0.9/1.5 and 1.9/1.5
        "a, one <= two <= three: 10 of 12 comparisons; least ratio 0.6000",
    ),
    (
        (
            "composition_helps",
            [COMPOSED, rows("b", [9.0] * 3, curve="2-joint", panel="R, 2-joint")],
            {**BOUND, "sizes": ["single", "2-joint", "3-joint"]},
        ),
        # ratios of the first step: 1/4, 1/2, 3/4, 7/8, 1 and 3/2; of the second: 1/5, 2/5, 4/5, 4/5, 4/5 and 1
        "9 of 12 comparisons; single to 2-joint: ratio 0.812 in the median, at most 1.500 (Q, x = 3), "
        "2-joint to 3-joint: ratio 0.800 in the median, at most 1.000 (R, x = 1)",
    ),
    (
        (
            "between",
            [INNER, rows("b", [9.0] * 3, curve="in")],
            {**BOUND, "inner": "in", "outer": ["x", "y"], "tolerance": 0.03},
        ),
        "in between x and y: 3 of 3 points",
    ),
    (
        ("between", [INNER], {**BOUND, "inner": "in", "outer": ["y", "x"], "tolerance": 0.022}),
        "in between y and x: 2 of 3 points",
    ),
    (
        (
            "converges",
            [LIMITS, rows("b", [9.0] * 2, curve="all")],
            {**BOUND, "limit": "all", "sizes": ["$d = 2$", "$d = 3$"], "within": 0.02},
        ),
        "largest relative distance from the limit: d = 2 0.25, d = 3 0.01",
    ),
    (
        (
            "printed_values",
            [rows("a", [0.75, 1.5, 1.25], printed=1.0), rows("a", [2.0], printed=2.0, curve="d")],
            {**FIGURE, "within": 0.25},
        ),
        "3 of 4 values within 25.0%; here over printed from 0.7500 to 1.5000",
    ),
    (
        (
            "finer_is_tighter",
            [rows("a", [1.0, 0.5, 1.5], panel="fine"), rows("a", [1.0] * 3, panel="coarse")],
            {**FIGURE, "fine": "fine", "coarse": "coarse"},
        ),
        "2 of 3 rows; fine over coarse from 0.500 to 1.500",
    ),
    (
        (
            "smallest",
            [rows("a", [1.0, 3.0]), rows("b", [2.0, 9.0]), rows("b", [1.0, 4.0], curve="other"), rows("d", [4.0, 4.0])],
            {**FIGURE, "ours": "a", "against": ["b", "absent", "d"]},
        ),
        "a: 3 of 4 comparisons; ratio over b from 0.75 to 1, over d from 0.25 to 0.75",
    ),
    (
        (
            "mechanism_order",
            [
                rows("a", [0.5, 1.0, 1.5], mechanism="gaussian", panel="q"),
                rows("a", [1.0] * 3, mechanism="laplace"),
                rows("b", [9.0] * 3, mechanism="laplace"),
            ],
            {**BOUND, "smaller": "gaussian", "larger": "laplace"},
        ),
        "a: 1 of 3 points; gaussian over laplace from 0.5 to 1.5",
    ),
]


@pytest.mark.parametrize(("asked", "said"), SAID, ids=[asked[0] for asked, _ in SAID])
def test_what_is_found_is_said_with_every_number(asked, said):
    rule, parts, arguments = asked
    assert verdict(rule, *parts, **arguments).found == said


#: The others ask for all accountants of a figure.
OF_AN_ACCOUNTANT = [case for case in SAID if {"ours", "accountant", "upper", "claimed"} & set(case[0][2])]


@pytest.mark.parametrize(
    ("column", "asked", "said"),
    [("figure", *case) for case in SAID] + [("accountant", *case) for case in OF_AN_ACCOUNTANT],
)
def test_of_what_is_not_asked_for_nothing_is_said(column, asked, said):
    """Other figures, and other accountants on the same curves, whether their names come before or after."""
    rule, parts, arguments = asked
    before, after = ([[row | {column: name, "y": 9 * row["y"]} for row in part] for part in parts] for name in "Az")
    assert verdict(rule, *before, *parts, *after, **arguments).found == said


def test_what_is_said_is_tested_for_every_rule():
    assert {asked[0] for asked, _ in SAID} == set(RULES)
    everywhere = verdict(
        "never_excluded", A, rows("l", [0.5, 0.1, 0.1], panel="$n = 1$"), figures=["f"], claimed="a", lower="l"
    )
    assert everywhere.found == "a is below l at 0 of 3 points"


@pytest.mark.parametrize(
    ("rule", "parts", "arguments", "expected"),
    [
        # exactly at the stated number, or at the tolerance, everything holds
        ("saving_up_to", [A, B, C], {**PAIR, "stated": 0.25, "tolerance": 0.25}, REPRODUCED),
        ("saving_up_to", [A, B, C], {**PAIR, "stated": 0.75, "tolerance": 0.25}, REPRODUCED),
        ("saving_between", [rows("a", [0.5, 0.25]), *OTHERS], {**PAIR, "low": 0.5, "high": 0.875}, REPRODUCED),
        ("ordered", [rows("a", [1.0], curve="x"), rows("a", [0.75], curve="y")],
         {"figures": ["f"], "accountant": "a", "order": ["x", "y"], "tolerance": 0.25}, REPRODUCED),
        ("gap_small", [rows("u", [1.25, 2.0]), rows("l", [1.0] * 2)],
         {"figures": ["f"], "upper": "u", "lower": "l", "within": 0.25, "share": 0.5, "x_from": 1.0}, REPRODUCED),
        # what must be smaller may not be equal
        ("smallest", [rows("a", [1.0]), rows("b", [1.0])], {**FIGURE, "ours": "a", "against": ["b"]}, NOT),
        ("composition_helps", [rows("a", [1.0], curve="1"), rows("a", [1.0], curve="2")],
         {**BOUND, "sizes": ["1", "2"]}, NOT),
        ("mechanism_order", [rows("a", [1.0], mechanism="g", panel="q"), rows("a", [1.0], mechanism="l")],
         {**BOUND, "smaller": "g", "larger": "l"}, NOT),
    ],
)  # fmt: skip
def test_where_a_rule_just_holds(rule, parts, arguments, expected):
    assert verdict(rule, *parts, **arguments).verdict == expected


def test_what_has_no_common_point_is_named():
    with pytest.raises(NotRunError, match=r"^no point of f has all of a, z$"):
        verdict("saving_up_to", A, figures=["f"], ours="a", against=["z"], stated=0.5, tolerance=0.1)
    with pytest.raises(NotRunError, match=r"^none of y, z ran$"):
        verdict("smallest", A, figure="f", ours="a", against=["y", "z"])


def test_the_readable_table_has_a_section_for_every_paper():
    def entry(name, paper):
        arguments = {**PAIR, "stated": 0.0}
        return {
            "id": name,
            "paper": paper,
            "section": "7",
            "statement": "It saves.",
            "rule": "saving_at_least",
            "arguments": arguments,
        }

    reference = [entry("one", "variation"), entry("two", "decomposition")]
    table = pd.DataFrame([*A, *B, *C])
    lines = to_markdown(evaluate(table, reference), edition="full").splitlines()
    head = ["# Statements of the amplification papers, and what came out", ""]
    head += ["2 statements: 2 reproduced, 0 partly reproduced, 0 not reproduced.", ""]
    assert lines[:4] == head
    found = f"a against the best of b, c: 3 of 3 points; least 10.00% ({PLACE}, x = 2), median 40.0%"
    for i, (name, paper) in enumerate((("one", "variation"), ("two", "decomposition"))):
        assert lines[4 + 6 * i : 10 + 6 * i] == [
            f"## {PAPERS[paper]}",
            "",
            "| statement | verdict | found |",
            "|---|---|---|",
            f"| **{name}** (7) It saves. | reproduced | {found}. |",
            "",
        ]
    assert lines[16:] == ["How each is judged:", "", f"- one, two: {RULES['saving_at_least'].__doc__}"]


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
