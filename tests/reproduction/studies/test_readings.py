"""Readings of the paper: every combination of its open choices, each with errors of its own; ours is the default."""

import re

import numpy as np
import pandas as pd
import pytest

from segshuffle.datasets.sampling import padded_population
from segshuffle.plans.plan import PLAIN, Problem
from segshuffle.protocols.balls_into_bins import BallsIntoBins
from segshuffle.protocols.segmented import Segmented
from segshuffle.reproduction.studies.claims import report as claims
from segshuffle.reproduction.studies.readings.choices import CHOICES, READINGS, place_of_ours
from segshuffle.reproduction.studies.readings.compute import verdicts
from segshuffle.reproduction.studies.readings.report import MARKS, draw, section
from segshuffle.reproduction.studies.verdicts import NOT, PARTLY, REPRODUCED
from segshuffle.seeds import stream

USERS = {"smallest": 40, "largest": 400}
COUNTS = {40: (10, 20, 10), 400: (100, 200, 100)}
ROWS = np.random.default_rng(5).random((500, 17)) < 0.15


def reduction(reading):
    """Return the mean reduction of the error against Weighted SepMM under a reading, by the formulas themselves."""
    found = []
    for n_users, counts in COUNTS.items():
        problem = Problem(17 + 4 * (reading["padding"] == "dummy"), 4, (0.5, 1.0, 2.0), counts, 0.01 / n_users, PLAIN)
        users = padded_population(
            data=ROWS,
            domain_size=17,
            n_users=n_users,
            set_size=4,
            padding=reading["padding"],
            rng=stream(3, "population", f"msnbc-n{n_users}-s4"),
        )
        drawn = 4 - ((users.item_counts / n_users) ** 2).sum()

        def error(method, problem=problem, users=users, drawn=drawn):
            plan = method.plan(problem)
            if reading["error"] == "bound":
                return plan.mse_bound
            expected = method.expected_mse(plan, users.item_counts)
            return expected + drawn / problem.n_users * (reading["error"] == "distribution")

        ours = min(error(Segmented(m)) for m in (0.1, 1.0, 10.0))
        found.append(1 - ours / error(BallsIntoBins(reading["analysis"], "weighted-sepmm", reading["weight_users"])))
    return np.mean(found)


def test_every_reading_has_its_own_errors(full_config, monkeypatch):
    """Each statement has the number of one reading, and is reproduced under this reading (and readings that agree)."""
    monkeypatch.setattr(claims, "USERS", USERS)
    monkeypatch.setattr(claims, "WIDEST_STEP", 10.0)
    full_config["datasets"] = {"msnbc": full_config["datasets"]["msnbc"] | {"n_users": list(COUNTS)}}
    full_config |= {"seed": 3, "splits": {"S1": [0.25, 0.5, 0.25]}}
    full_config["blanket_grid"] = {"low": 0.1, "high": 10.0, "points": 3, "include": []}
    full_config["competitors"]["methods"] = ["weighted-sepmm"]
    of = {"datasets": ["msnbc"], "splits": ["S1"], "against": ["weighted-sepmm"]}
    numbers = {"/".join(reading.values()): reduction(reading) for reading in READINGS}
    statements = [
        {
            "id": name,
            "section": "1",
            "statement": "",
            "measure": "mean_reduction",
            "of": of,
            "reproduced": ["all", "near", float(number), 1e-9],
        }
        for name, number in numbers.items()
    ]
    source = {"kind": "real", "sha256": None, "origin": "a test"}
    data = {"msnbc": {"data": ROWS, "source": source}}
    table = verdicts(full_config, statements, data, {})
    assert len(table) == len(READINGS) <= 24
    for row in table.to_dict("records"):
        own = numbers["/".join(row[choice] for choice in CHOICES)]
        expected = {name for name, number in numbers.items() if abs(number - own) <= 1e-9}
        assert {name for name in numbers if row[name] == REPRODUCED} == expected
    assert len({round(number, 8) for number in numbers.values()}) > 15, "the choices matter"
    assert table[REPRODUCED].is_monotonic_decreasing
    # plans of the run serve the readings with its padding
    problem = Problem(17, 4, (0.5, 1.0, 2.0), COUNTS[40], 0.01 / 40, PLAIN)
    points = [{"role": "grid", "plan": Segmented(m).plan(problem).as_dict()} for m in (0.1, 1.0, 10.0)]
    for point in points:
        point["plan"]["mse_bound"] *= 1.01
    changed = verdicts(full_config, statements, data, {"msnbc-n40-s4": {"S1": points}}).set_index(list(CHOICES))
    every = [tuple(reading.values()) for reading in READINGS]
    for name, row in zip(numbers, changed.loc[every].to_dict("records"), strict=True):
        assert (row[name] == REPRODUCED) == (not name.endswith("in-domain/bound"))


def made(ours, *others):
    """Return a table of readings in which so many of two statements are reproduced."""
    rows = []
    for reading, count in zip(READINGS, (ours, *others), strict=False):
        each = {"one": REPRODUCED if count else NOT, "two": REPRODUCED if count > 1 else PARTLY}
        counts = [list(each.values()).count(word) for word in (REPRODUCED, PARTLY, NOT)]
        rows.append({**reading, "ours": reading == READINGS[0], **dict(zip(MARKS, counts, strict=False)), **each})
    return pd.DataFrame(rows)


@pytest.mark.quick(0)
def test_the_page_marks_ours_and_says_if_others_are_better():
    assert place_of_ours(made(1, 1, 0)).endswith("ours reproduces 1 statements, and none reproduces more.")
    table = made(1, 0, 2)
    assert "ours reproduces 1 statements. 1 others reproduce more, up to 2" in place_of_ours(table)
    text = section(table)
    assert "| reading | **1** | 2 | 3 |\n" in text
    assert "| error | users | distribution | bound |\n| reproduced | 1 | 0 | 2 |\n" in text
    assert "| two | (+) | (+) | + |" in text
    assert "- `error: distribution`: one (reproduced -> not reproduced)." in text
    (axis,) = draw(table).axes
    options = [f"{choice}: {value}" for choice, values in CHOICES.items() for value in values]
    assert [label.get_text() for label in axis.get_yticklabels()] == [*options, "one", "two"]


def test_the_documented_verdicts_of_ours_are_those_of_the_claims(root):
    claimed = (root / "docs/claims.md").read_text(encoding="utf-8")
    verdict = dict(re.findall(r"^\| \*\*([a-z0-9-]+)\*\* .*? \| ([a-z ]+) \| ", claimed, re.MULTILINE))
    head, *rows = re.search(r"^\| reading \|.*?\n\n", claimed, re.MULTILINE | re.DOTALL)[0].strip().splitlines()
    place = next(i for i, cell in enumerate(head.split(" | ")) if cell.startswith("**"))
    marks = {cells[0].strip("| "): cells[place].strip("| ") for cells in (row.split(" | ") for row in rows[1:])}
    assert {name: marks[name] for name in verdict} == {name: MARKS[said] for name, said in verdict.items()}
    assert re.search(r"Of 24 \[readings .*, ours reproduces \d+ statements", claimed)
