"""Verdicts on the literature's own statements: every rule by hand, both ways, and the file of statements."""

from pathlib import Path

import pandas as pd
import pytest
import yaml

from segshuffle.pipeline.judging import NOT, OPEN, PARTLY, REPRODUCED
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


@pytest.mark.parametrize("entry", REFERENCE, ids=lambda entry: entry["id"])
def test_statements_are_about_methods_that_there_are(entry):
    assert entry["rule"] in RULES
    assert (entry["arguments"]["accounting"], entry["arguments"]["method"]) in every()


def test_what_did_not_run_is_not_judged():
    """One number of users says nothing of many; no plan at all, too."""
    claims = evaluate(sweep([(5, 1.0, "correlated-noise", "published", 1.0, 1.0)]), REFERENCE)
    assert set(claims["verdict"]) == {OPEN}
    assert "6 statements: 0 reproduced, 0 partly reproduced, 0 not reproduced, 6 not evaluated." in markdown(claims)
