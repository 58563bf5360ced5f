"""The engine of the verdicts: every comparison, what is said of it, and the files of statements."""

import numpy as np
import pandas as pd
import pytest
import yaml

from segshuffle.accounting.single_message.accountants import ACCOUNTANTS
from segshuffle.errors import ConfigError
from segshuffle.plans.registry import every
from segshuffle.reproduction.captions import titles
from segshuffle.reproduction.studies.amplification import report as curve_claims
from segshuffle.reproduction.studies.amplification.compute import FIGURES
from segshuffle.reproduction.studies.claims import report as panel_claims
from segshuffle.reproduction.studies.pareto import report as winners
from segshuffle.reproduction.studies.verdicts import (
    NOT,
    OPEN,
    PARTLY,
    REPRODUCED,
    Condition,
    Measured,
    NotRunError,
    judge,
    markdown,
)


def given(subject, *, form="g"):
    """The values themselves."""
    if not subject:
        raise NotRunError("nothing ran")
    return Measured({"value": dict(zip("abcdefgh", subject, strict=False))}, form)


def halved(subject):
    """Half of the values."""
    return Measured({"half": {name: value / 2 for name, value in zip("abcdefgh", subject, strict=False)}}, "g")


ENTRY = {"id": "x", "section": "6.1", "statement": "It is so.", "measure": "given", "of": {}, "note": "a | b"}


def judged(values, reproduced, **changed):
    entry = {**ENTRY, "reproduced": reproduced, **changed}
    (row,) = judge(values, (given, halved), [entry]).to_dict("records")
    return row


NAN = float("nan")


@pytest.mark.parametrize(
    ("values", "condition", "expected"),
    [
        # exactly at the stated number, or at the end of a range, at least, at most, between and near hold
        ([1.0, 2.0], ["all", "at least", 1.0], REPRODUCED),
        ([1.0, 2.0], ["all", "above", 1.0], PARTLY),
        ([1.0, 2.0], ["all", "at most", 1.0], PARTLY),
        ([1.0, 2.0], ["all", "below", 1.0], NOT),
        ([1.0, 2.0], ["all", "between", 1.0, 2.0], REPRODUCED),
        ([0.75, 1.25], ["all", "near", 1.0, 0.25], REPRODUCED),
        ([0.7, 1.25], ["all", "near", 1.0, 0.25], PARTLY),
        # a factor up or down
        ([3.2, 5.0], ["all", "about", 4.0, 1.25], REPRODUCED),
        ([3.1, 5.0], ["all", "about", 4.0, 1.25], PARTLY),
        ([3.1, 5.1], ["all", "about", 4.0, 1.25], NOT),
        # half of the values are not most of them
        ([1.0, 1.0, 9.0], ["most", "below", 2.0], REPRODUCED),
        ([1.0, 9.0], ["most", "below", 2.0], PARTLY),
        ([1.0, 9.0], ["some", "below", 2.0], REPRODUCED),
        ([8.0, 9.0], ["most", "below", 2.0], NOT),
        # one number of all
        ([1.0, 2.0, 9.0], ["median", "near", 2.0, 0.0], REPRODUCED),
        ([1.0, 2.0, 9.0], ["mean", "near", 4.0, 0.0], REPRODUCED),
        ([1.0, 2.0, 9.0], ["least", "near", 1.0, 0.0], REPRODUCED),
        ([1.0, 2.0, 9.0], ["largest", "near", 9.0, 0.0], REPRODUCED),
        ([1.0, 2.0, 9.0], ["median", "near", 9.0, 0.0], PARTLY),
        ([1.0, 2.0, 9.0], ["mean", "near", 5.0, 0.5], NOT),
        # where there is no value nothing holds
        ([1.0, NAN], ["all", "below", 2.0], PARTLY),
        ([NAN, NAN], ["all", "below", 2.0], NOT),
        ([], ["all", "below", 2.0], OPEN),
    ],
    ids=str,
)
def test_a_verdict_is_what_the_condition_says(values, condition, expected):
    row = judged(values, condition)
    assert row["verdict"] == expected
    assert row["note"] == ("a | b" if expected in (PARTLY, NOT) else ""), "only where the statement did not come out"


def test_partly_has_a_condition_of_its_own_and_a_measure():
    wanted = ["all", "above", 4.0]
    assert judged([3.0, 5.0], wanted)["verdict"] == PARTLY
    assert judged([3.0, 5.0], wanted, partly=[])["verdict"] == NOT
    assert judged([3.0, 5.0], wanted, partly=["largest", "above", 6.0])["verdict"] == NOT
    also = {"also": {"measure": "halved", "of": {}}}
    assert judged([3.0, 5.0], wanted, **also)["verdict"] == NOT
    row = judged([3.0, 5.0], wanted, **also, partly=["all", "at most", 2.5])
    assert (row["verdict"], row["found"]) == (PARTLY, "value: 3 (a), 5 (b); half: 1.5 (a), 2.5 (b)")
    assert row["rule"] == (
        "The values themselves. Reproduced if every value is above 4. Otherwise half of the "
        "values. Partly reproduced if every value is at most 2.5."
    )


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"measure": "guess"}, "'guess'"),
        ({"also": {"measure": "guess", "of": {}}}, "'guess'"),
        ({"reproduced": ["every", "above", 1.0]}, "'every'"),
        ({"reproduced": ["all", "over", 1.0]}, "'over'"),
    ],
)
def test_what_does_not_exist_is_named_with_what_does(changed, named):
    with pytest.raises(ConfigError, match=f"statement x: {named} is not one of given, halved, all, .*, about"):
        judged([1.0], **{"reproduced": ["all", "above", 0.0], **changed})


def test_the_readable_table_counts_and_lists():
    entries = [
        {**ENTRY, "id": i, "paper": p, "reproduced": ["all", "above", v]}
        for i, p, v in (("one", "p", 0.0), ("two", "q", 9.0))
    ]
    claims = judge([1.0], (given,), entries)
    text = markdown(claims, title="# T", table=pd.DataFrame({"dataset": ["a"], "source": ["real"]}))
    assert "2 statements: 1 reproduced, 0 partly reproduced, 1 not reproduced." in text
    assert "Data: a (real)." in text
    assert "\n| **two** (6.1) It is so. | not reproduced | value: 1 (a). *a \\| b* |" in text
    assert "\n- two: The values themselves. Reproduced if every value is above 9." in text
    text = markdown(claims, title="# T", papers={"p": "First", "q": "Second"})
    assert text.index("## First") < text.index("**one**") < text.index("## Second") < text.index("**two**")
    nothing = judge([], (given,), entries)
    assert "0 not reproduced, 2 not evaluated." in markdown(nothing, title="#")


# --- the files of statements -----------------------------------------------------------------------------------------

PAPERS = titles("amplification-")
FILES = {"claims": panel_claims, "claims-amplification": curve_claims, "claims-pareto": winners}


def statements(root, name):
    return yaml.safe_load((root / f"config/reference/{name}.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", FILES)
def test_statements_are_complete(root, name):
    found = statements(root, name)
    measures = {measure.__name__ for measure in FILES[name].MEASURES}
    used = set()
    assert len({entry["id"] for entry in found}) == len(found)
    for entry in found:
        assert set(entry) - {"note", "paper", "also", "partly"} == {
            "id",
            "section",
            "statement",
            "measure",
            "of",
            "reproduced",
        }
        assert isinstance(entry["section"], str), "6.1 would be a number"
        used |= {entry["measure"], *([entry["also"]["measure"]] if "also" in entry else [])}
        for condition in (entry["reproduced"], entry.get("partly")):
            assert not condition or Condition.of(condition).sentence
    assert used == measures, "no measure without a statement"


def test_statements_are_about_what_there_is(root):
    for entry in statements(root, "claims-amplification"):
        assert entry["paper"] in PAPERS
        assert set(entry["of"]["figures"]) <= {name for name in FIGURES if name.startswith(entry["paper"])}
        if entry["of"].get("column", "accountant") == "accountant":
            names = pd.Series([name for pair in entry["of"].get("pairs", []) for name in pair]).explode()
            assert set(names) <= {*ACCOUNTANTS, *curve_claims.OTHERS}, entry["id"]
    for entry in statements(root, "claims-pareto"):
        assert (entry["of"]["accounting"], entry["of"]["method"]) in every()


def test_what_did_not_run_is_not_evaluated(root, full_config):
    panels = pd.DataFrame(columns=["accounting", "dataset", "n_users", "set_size", "split"])
    point = {"panel": "p", "curve": "c", "accountant": "nobody", "x": 1.0, "y": 1.0, "parameters": "{}"}
    sweep = {"set_size": [1], "split": "one", "mse_expected": np.nan, "accounting": "proven", "method": "signed"}
    claims = [
        panel_claims.evaluate(panels, statements(root, "claims"), full_config),
        curve_claims.evaluate(
            pd.DataFrame({"figure": list(FIGURES), **point}), statements(root, "claims-amplification")
        ),
        winners.evaluate(pd.DataFrame(sweep), statements(root, "claims-pareto")),
    ]
    for each, said in zip(claims, ("did not run", "fewer than 12|no point of", "has no plan"), strict=True):
        assert set(each["verdict"]) == {OPEN}
        assert each["found"].str.contains(said).all()
    text = markdown(claims[1], title="# T", papers=PAPERS)
    assert text.count("\n## ") == 3
