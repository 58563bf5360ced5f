"""Verdicts on the literature's own statements: every rule by hand, both ways, and the file of statements."""

from pathlib import Path

import pandas as pd
import pytest
import yaml

from segshuffle.pipeline.judging import NOT, OPEN, PARTLY, REPRODUCED, NotRunError
from segshuffle.protocols.registry import every
from segshuffle.studies.pareto.literature_claims import RULES, evaluate, markdown

REFERENCE = yaml.safe_load(
    (Path(__file__).parents[2] / "config/reference/claims-pareto.yaml").read_text(encoding="utf-8")
)


def sweep(rows):
    """One item, one level: (n, epsilon, method, accounting, messages, error) per row."""
    columns = ("n_users", "epsilon", "method", "accounting", "messages_per_user", "mse_expected")
    table = pd.DataFrame(rows, columns=columns)
    return table.assign(domain_size=10, set_size=1, split="one", refused="", error_ratio=table["mse_expected"])


def verdict(rule, arguments, rows):
    entry = {"id": "a", "paper": "b", "section": "c", "statement": "d", "rule": rule, "arguments": arguments}
    (row,) = evaluate(sweep(rows), [entry]).to_dict("records")
    return row["verdict"]


@pytest.mark.parametrize(
    ("errors", "expected"), [((3.0, 4.0), REPRODUCED), ((3.0, 4.1), PARTLY), ((5.0, 9.0), NOT)], ids=str
)
def test_messages_at_most(errors, expected):
    """Only plans within the messages count; a case without one does not hold."""
    rows = [(9, epsilon, "a", "published", 1.2, error) for epsilon, error in zip((1.0, 2.0), errors, strict=True)]
    dear = [(9, 2.0, "a", "published", 1.3, 0.1)]
    arguments = {"method": "a", "accounting": "published", "stated": 1.2, "error": 4.0}
    assert verdict("messages_at_most", arguments, rows + dear) == expected
    none = [(5, 1.0, "a", "published", 1.3, 0.1)]
    assert verdict("messages_at_most", arguments, rows + none) == (NOT if expected == NOT else PARTLY)


@pytest.mark.parametrize(("many", "expected"), [((2.0, 1.5), REPRODUCED), ((2.0, 3.0), PARTLY), ((3.0, 4.0), NOT)])
def test_extra_falls(many, expected):
    rows = [(5, epsilon, "a", "published", 3.0, 1.0) for epsilon in (1.0, 2.0)]
    rows += [(9, epsilon, "a", "published", messages, 1.0) for epsilon, messages in zip((1.0, 2.0), many, strict=True)]
    assert verdict("extra_falls", {"method": "a", "accounting": "published"}, rows) == expected


@pytest.mark.parametrize(("rival", "expected"), [((2.0, 3.0), REPRODUCED), ((0.5, 3.0), PARTLY), ((0.5, 1.0), NOT)])
def test_below_all(rival, expected):
    rows = [(5, epsilon, "a", "proven", 1.0, 1.0) for epsilon in (1.0, 2.0)]
    rows += [(5, epsilon, "b", "published", 1.0, error) for epsilon, error in zip((1.0, 2.0), rival, strict=True)]
    assert verdict("below_all", {"method": "a", "accounting": "proven"}, rows) == expected


#: Rows of another size, of another split and of a refused plan, which would be the best.
ELSEWHERE = {"domain_size": 10, "error_ratio": 0.01, "mse_expected": 0.01, "messages_per_user": 0.5, "epsilon": 1.0}
ELSEWHERE |= {"set_size": 1, "split": "one", "refused": "", "n_users": 9}


def said(rule, rows, method="a", accounting="published", **arguments):
    others = [
        ELSEWHERE | {"method": name, "accounting": side} | changed
        for name, side in (("a", accounting), ("b", "published"))
        for changed in ({"set_size": 2}, {"split": "S1"}, {"refused": "it is too dear"})
    ]
    table = pd.concat([sweep(rows), pd.DataFrame(others)], ignore_index=True)
    return RULES[rule](table, method=method, accounting=accounting, **arguments)


def test_what_is_found_is_said_with_every_number():
    rows = [(n, eps, "a", "published", m, e) for n, eps, m, e in ((9, 1.0, 1.2, 4.0), (9, 1.0, 1.2, 6.0))]
    rows += [(n, eps, "a", "published", m, e) for n, eps, m, e in ((9, 2.0, 1.3, 0.1), (5, 1.0, 1.2, 4.5))]
    found = said("messages_at_most", rows, stated=1.2, error=4.0)
    assert found == ("in 1 of 3 cases with at most 1.2 messages, least 4 times the curator's error", PARTLY)
    assert said("messages_at_most", rows, stated=1.0, error=4.0) == ("in 0 of 3 cases with at most 1 messages", NOT)
    # a sum of messages may be off by rounding
    assert said("messages_at_most", rows[:1], stated=1.2 * (1 - 1e-10), error=4.0).verdict == REPRODUCED
    assert said("messages_at_most", rows[:1], stated=1.2 * (1 - 1e-8), error=4.0).verdict == NOT

    # the fewest messages of several plans count; (messages - 1)/d is what lies above a user's own
    rows = [(n, eps, "a", "published", m, 1.0) for n, eps, m in ((5, 1.0, 3.0), (5, 1.0, 9.0), (5, 2.0, 2.5))]
    rows += [(9000, eps, "a", "published", m, 1.0) for eps, m in ((1.0, 2.0), (2.0, 2.5))]
    found = said("extra_falls", rows)
    assert (
        found.found
        == "n = 5: 0.2 at epsilon = 1, 0.15 at epsilon = 2; n = 9,000: 0.1 at epsilon = 1, 0.15 at epsilon = 2"
    )
    assert found.verdict == PARTLY
    # whenever n grows: not only from the smallest to the largest
    assert said("extra_falls", [*rows, (100, 1.0, "a", "published", 1.5, 1.0)]).verdict == NOT

    rows = [(5, eps, "a", "proven", 1.0, e) for eps, e in ((1.0, 1.0), (1.0, 3.0), (2.0, 0.5))]
    rows += [(5, eps, "b", "published", 1.0, e) for eps, e in ((1.0, 2.0), (1.0, 9.0), (2.0, 4.0))]
    found = said("below_all", rows, accounting="proven")
    assert found == ("its error over the best published one's, in 2 cases: 0.125 to 0.5", REPRODUCED)
    equal = [*rows, (5, 2.0, "b", "published", 1.0, 0.5)]
    assert said("below_all", equal, accounting="proven").verdict == PARTLY


def test_what_is_missing_is_named():
    for rows, rule, missing in (
        ([], "extra_falls", r"^a \(published\) has no plan for one item and one level$"),
        ([(5, 1.0, "a", "published", 2.0, 1.0)], "extra_falls", "two numbers of users$"),
    ):
        with pytest.raises(NotRunError, match=missing):
            said(rule, rows)
    with pytest.raises(NotRunError, match=r"^no published protocol"):
        said("below_all", [(5, 1.0, "a", "proven", 2.0, 1.0)], accounting="proven")


@pytest.mark.parametrize("entry", REFERENCE, ids=lambda entry: entry["id"])
def test_statements_are_about_methods_that_there_are(entry):
    assert entry["rule"] in RULES
    assert (entry["arguments"]["accounting"], entry["arguments"]["method"]) in every()


def test_what_did_not_run_is_not_judged():
    """One number of users says nothing of many; no plan at all, too."""
    claims = evaluate(sweep([(5, 1.0, "correlated-noise", "published", 1.0, 1.0)]), REFERENCE)
    assert set(claims["verdict"]) == {OPEN}
    assert "6 statements: 0 reproduced, 0 partly reproduced, 0 not reproduced, 6 not evaluated." in markdown(claims)
