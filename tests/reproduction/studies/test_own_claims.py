"""Claims of the documents against the results of a run: each is held or not, and nothing that is missing is held."""

import pandas as pd
import pytest

from segshuffle.reproduction.studies.own_claims import appendix, check, is_held

CLAIMS = [
    (
        "2 of 3 rows",
        {"table": "t.csv"},
        [("2", "count(*)", "size < 3"), ("0.53", "max(error)", "1")],
        True,
    ),
    ("0.52 in the text", {"table": "t.csv"}, [("0.52", r"3,([\d.]+)")], True),
    ("0.52 for the largest size", {"table": "t.csv"}, [("0.52", "error", "size > 1", "size DESC")], True),
    ("an error of 0.51", {"table": "t.csv"}, [("0.51", "max(error)", "1")], False),
    ("an error without rows of 0.5", {"table": "t.csv"}, [("0.5", "max(error)", "size > 3")], False),
    ("0.7 in no text", {"table": "t.csv"}, [("0.7", "seven ([0-9])")], False),
    ("epsilon 1.53", {"command": "python -c 'print(1.525)'"}, [("1.53", r"([\d.]+)")], True),
]


def experiment_of(claim, source, numbers):
    keys = ("stated", "printed"), ("stated", "value", "rows", "first_by")
    named = [dict(zip(keys[len(number) > 2], number, strict=False)) for number in numbers]
    claims = [{"document": "README.md", "claim": claim, **source, "numbers": named}]
    known = {"title": "One", "targets": "one", "minutes": 5, "rules": ["plan", "none"], "expected": "a table"}
    return {**known, "claims": claims}


@pytest.mark.parametrize(("claim", "source", "numbers", "held"), CLAIMS)
def test_a_claim_is_held_if_all_its_numbers_are_found(tmp_path, claim, source, numbers, held):
    pd.DataFrame({"size": [1, 2, 3], "error": [0.1, 0.2, 0.5213]}).to_csv(tmp_path / "t.csv", index=False)
    line, count = check([experiment_of(claim, source, numbers)], tmp_path)
    assert line.startswith(f"{'held' if held else 'NOT HELD'}: README.md: {claim} (found: ")
    assert count == f"{int(held)} of 1 claims are held."


@pytest.mark.parametrize(
    ("table", "rows", "rules", "judged"),
    [
        ("t.csv", "1", ["dataset"], False),
        ("t.csv", "dataset = 'real'", ["dataset"], True),
        ("without.csv", "1", ["dataset"], False),
        ("t.csv", "1", ["audit"], True),
    ],
)
def test_a_claim_on_rows_of_a_stand_in_is_not_judged(tmp_path, table, rows, rules, judged):
    errors = pd.DataFrame({"dataset": ["real", "drawn"], "error": [0.5, 0.5]})
    errors.to_csv(tmp_path / "t.csv", index=False)
    errors[["error"]].to_csv(tmp_path / "without.csv", index=False)
    claims = experiment_of("0.5", {"table": table}, [("0.5", "error", rows)]) | {"rules": rules}
    line, count = check([claims], tmp_path, ["drawn"])
    assert line.startswith("held: README.md: 0.5" if judged else "not judged: README.md: 0.5")
    assert count == (
        "1 of 1 claims are held."
        if judged
        else "0 of 0 claims are held. 1 are not judged: they rest on stand-ins for drawn."
    )
    assert check([claims], tmp_path)[-1] == "1 of 1 claims are held."


@pytest.mark.parametrize(
    ("stated", "found", "held"),
    [("15,040", 15040, True), ("15,040", 15041, False), ("2.15e-4", 2.146e-4, True), ("2.15e-4", 2.13e-4, False)],
)
def test_less_than_a_unit_of_the_last_digit_is_allowed(stated, found, held):
    assert is_held(stated, found) == held


def test_the_appendix_has_the_times_of_the_run_and_every_claim():
    runtimes = pd.DataFrame({"rule": ["plan", "page"], "seconds_total": [90.0, 30.0]})
    experiment = experiment_of("a | b", {"table": "t.csv"}, [])
    text = appendix(
        "A\n<!-- times -->\nold\n<!-- end -->\nB\n<!-- claims -->\n<!-- end -->\nC\n", [experiment], runtimes
    )
    everything = "| everything | all | 5 | 2.0 | all of the following |"
    assert f"{everything}\n| One | one | 5 | 1.5 | a table |\n<!-- end -->\nB\n" in text
    assert "| README.md | a \\| b | One | `t.csv` |\n<!-- end -->\nC\n" in text
    assert "old" not in text
    assert appendix(text, [experiment], runtimes) == text
