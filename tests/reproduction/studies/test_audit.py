"""The audit's table and figure, on the smallest settings that show the finding."""

import json
import math

import numpy as np
import pandas as pd
import pytest
import yaml

from segshuffle.accounting.collections import full_view
from segshuffle.accounting.collections.full_view import worst_split_user_lower
from segshuffle.accounting.collections.published import published_item_delta
from segshuffle.protocols.segmented import Segmented
from segshuffle.reproduction.design import Setting
from segshuffle.reproduction.studies.audit import report as words
from segshuffle.reproduction.studies.audit.compute import COLUMNS, VIEWS, audit_setting
from segshuffle.reproduction.studies.audit.report import draw
from segshuffle.reproduction.studies.planning import problem_of

CONFIG = yaml.safe_load("""
delta_times_n: 0.01
levels: [0.5, 2.0]
splits: {S1: [0.5, 0.5], S2: [0.1, 0.9]}
""")
SETTING = Setting("synthetic", 1000, 2, 16)
GRID = [0.2, 1.0, 1.5, 4.0]


@pytest.fixture(scope="module")
def plans():
    found = {}
    for split in CONFIG["splits"]:
        problem = problem_of(CONFIG, SETTING, split)
        grid = [{"role": "grid", "plan": Segmented(m).plan(problem).as_dict()} for m in GRID]
        found[split] = [*grid, {"role": "best", "plan": Segmented(0.2).plan(problem).as_dict()}]  # quickly audited
    return json.loads(json.dumps(found))  # as the pipeline hands it on


def last_blanket_of(plans):
    """Return the plans with the largest m of the grid, and the best ones."""
    return {split: points[len(GRID) - 1 :] for split, points in plans.items()}


@pytest.fixture(scope="module")
def table(plans):
    return pd.DataFrame(audit_setting(CONFIG, SETTING, plans))


KEY = ["dataset", "n_users", "set_size", "split", "blanket_per_user", "optimum", "level", "view"]


def rows_of(table, **values):
    chosen = table
    for name, value in values.items():
        chosen = chosen[chosen[name] == value]
    return chosen


def test_one_row_per_split_blanket_level_and_view(table):
    assert tuple(table.columns) == COLUMNS
    assert len(table) == (len(GRID) + 1) * 2 * 2 * len(VIEWS)
    assert not table.duplicated(KEY).any()
    needed = table.drop(columns=["proven_user_delta"])
    assert needed.notna().all().all()
    assert (rows_of(table, view="blanket-only")["kind"] == "upper").all()


def test_the_claim_is_what_the_published_accountant_says(table):
    """A calibrated level's published epsilon is its own; a level that sends everything has room to spare."""
    published = rows_of(table, view="published")
    short = published[published["sampling_rate"] < 1]
    assert len(short) > 0
    np.testing.assert_allclose(short["actual_user_epsilon"], short["claimed_user_epsilon"], rtol=2e-4)
    assert (published["actual_user_epsilon"] <= published["claimed_user_epsilon"] * (1 + 1e-4)).all()
    row = short.iloc[0]
    again = published_item_delta(
        domain_size=16,
        n_users=1000,
        blanket_per_user=row["blanket_per_user"],
        sampling_rate=row["sampling_rate"],
        epsilon=row["level"] / 2,
    )
    assert row["item_delta"] == again.upper
    assert row["user_delta"] == pytest.approx(2 * math.exp(row["level"]) * again.upper)


def test_integer_blanket_alone_breaks_the_claim_and_fractional_hardly(table):
    sampled = rows_of(table, view="blanket-only", split="S1", level=0.5, optimum=False)
    by_m = sampled.set_index("blanket_per_user")["actual_user_epsilon"]
    assert by_m[1.0] > 1.0
    assert by_m[1.5] < 0.52


@pytest.mark.quick(0)
def test_rows_that_need_too_large_a_grid_say_so(plans, table, monkeypatch):
    """m = 4: 2 n m/d = 500 messages on the two items. With a limit of 499 only their published view is left."""
    monkeypatch.setattr(full_view, "LARGEST_MEAN", 499.0)
    short = last_blanket_of(plans)
    found = pd.DataFrame(audit_setting(CONFIG, SETTING, short))
    kept = found["kind"] != "skipped"
    assert kept.any()
    assert not kept.all()
    skipped = found[~kept]
    assert (skipped["blanket_per_user"] >= 3.9).all()
    assert (skipped["sampling_rate"] < 1).all()
    assert (skipped["view"] != "published").all()
    assert skipped[["item_delta", "user_delta", "actual_user_epsilon"]].isna().all().all()
    before = table.set_index(KEY).loc[found[kept].set_index(KEY).index].reset_index()
    columns = [name for name in COLUMNS if name != "proven_user_delta"]
    assert (before[columns] == found[kept][columns].reset_index(drop=True)).all().all()
    draw(found)


def test_the_worst_over_the_splits_and_the_broken_promises_by_hand():
    head = {"dataset": "x", "n_users": 9, "set_size": 2, "domain_size": 5, "level": 1.0, "claimed_user_epsilon": 1.0}
    head |= {"target_delta": 0.25}
    rows = [
        (1.0, 2.0, 0.125, False, False, 0.5),
        (1.0, 1.5, 0.5, True, False, 0.5),
        (2.0, 3.0, 0.25, False, False, 0.5),
        (2.0, 9.0, 0.25, False, True, 0.5),
        (3.0, 9.0, 0.25, False, False, 1.0),
        (4.0, 9.0, 0.25, False, True, 1.0),
    ]
    names = ("blanket_per_user", "actual_user_epsilon", "proven_user_delta", "reachable", "optimum", "sampling_rate")
    table = pd.DataFrame([head | dict(zip(names, row, strict=True)) for row in rows])
    asked = words.audited(table)
    assert asked.index.tolist() == [0, 1, 2]
    worst = words.worst_over_splits(asked)
    assert worst["blanket_per_user"].tolist() == [1.0, 2.0]
    assert worst["actual_user_epsilon"].tolist() == [2.0, 3.0]
    assert worst["proven_user_delta"].tolist() == [0.5, 0.25]
    assert worst["reachable"].tolist() == [True, False]
    assert words.worst_over_splits(asked[::-1])["blanket_per_user"].tolist() == [2.0, 1.0]  # in the order of the rows
    broken = words.broken_promises(asked)
    assert broken[["blanket_per_user", "actual_user_epsilon", "proven_user_delta"]].to_numpy().tolist() == [
        [1, 1.5, 0.5]
    ]


def test_numbers_of_a_view_are_those_of_its_accountant(table):
    """For m = 4, S2 and the level that samples, all is computed anew from the full view of what the others send."""
    cells = rows_of(table, split="S2", blanket_per_user=4.0, optimum=False)
    rate, other_rate = (rows_of(cells, level=level)["sampling_rate"].iloc[0] for level in (0.5, 2.0))
    assert 0 < rate < 1
    common = {"domain_size": 16, "n_users": 1000, "blanket_per_user": 4.0, "sampling_rate": rate}
    # a user has two items: one further item of the victim's, and two of each of 99 and 900 others
    everybody = [(1, rate), (2 * 99, rate), (2 * 900, other_rate)]
    others = {
        "blanket-only": {},
        "worst-split": {"sent": everybody[:1], "covered_items": 1},
        "others-spread": {"sent": everybody, "covered_items": 14},
        "others-concentrated": {"sent": everybody, "covered_items": 2},
    }
    for view, sent in others.items():
        full, (row,) = full_view.FullView(**common, **sent), rows_of(cells, level=0.5, view=view).to_dict("records")
        item, lower = full.delta(0.25), full.one_sided(0.5, upper=False)
        assert (row["item_delta_lower"], row["item_delta"]) == (item.lower, item.upper)
        # s e^level item_delta, with s = 2
        assert row["user_delta"] == pytest.approx(2 * math.exp(0.5) * item.upper, rel=1e-9, abs=0)
        assert (row["claimed_user_epsilon"], row["target_delta"]) == (0.5, 1e-5)
        if view == "worst-split":
            lower = max(lower, worst_split_user_lower(**common, set_size=2, epsilon=0.5))
        if view != "blanket-only":
            assert row["proven_user_delta"] == lower
        # the epsilon at which group privacy gives the target
        found = 2 * math.exp(row["actual_user_epsilon"]) * full.one_sided(row["actual_user_epsilon"] / 2, upper=True)
        assert found == pytest.approx(1e-5, rel=2e-3, abs=0)
