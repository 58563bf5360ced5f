"""A statement of the paper is judged at the paper's settings only; anything else says what differs."""

import copy

import numpy as np
import pandas as pd
import pytest
import yaml

from segshuffle.pipeline.judging import OPEN
from segshuffle.protocols.registry import paper_competitors
from segshuffle.studies.reproduction.panel_claims import evaluate
from segshuffle.studies.reproduction.paper import COMPETITORS, POPULATIONS, SPLITS, departure

GRID = [float(f"{m:.4g}") for m in np.geomspace(0.1, 10.0, 31)]


@pytest.fixture(scope="module")
def config(root):
    return yaml.safe_load((root / "config/config.yaml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def reference(root):
    return yaml.safe_load((root / "config/reference/claims.yaml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def table():
    """All panels of the paper, with made-up errors."""
    rows = []
    for dataset, (domain_size, users, sizes, source) in POPULATIONS.items():
        for place in [(n, s, split) for n in users for s in sizes for split in SPLITS]:
            common = dict(zip(("n_users", "set_size", "split"), place, strict=True))
            common |= {"dataset": dataset, "domain_size": domain_size, "source": source, "messages_per_user": 4.0}
            curve = [{"method": "segmented", "blanket_per_user": m, "mse_expected": 1 + (m - 1) ** 2} for m in GRID]
            others = [{"method": each, "blanket_per_user": 1.0, "mse_expected": 9.0} for each in paper_competitors()]
            common["accounting"] = "published"
            rows += [{**common, **each, "role": "grid"} for each in curve]
            rows += [{**common, **each, "role": "best"} for each in others]
    return pd.DataFrame(rows)


def judged(table, reference, config):
    """Ids of what was evaluated, and what was said of the others."""
    claims = evaluate(table, reference, config)
    still = claims["verdict"] == OPEN
    return set(claims.loc[~still, "id"]), claims.loc[still].set_index("id")["found"].to_dict()


def changed(config, path, value):
    found = copy.deepcopy(config)
    *parents, last = path.split(".")
    section = found
    for part in parents:
        section = section[part]
    section[last] = value
    return found


@pytest.mark.quick(0)
def test_the_shipped_configuration_is_the_papers(table, reference, config):
    assert judged(table, reference, config) == ({entry["id"] for entry in reference}, {})


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        ("levels", [0.7, 1.4, 2.0], "levels is [0.7, 1.4, 2.0], the paper's is [0.5, 1.0, 2.0]"),
        ("delta_times_n", 0.1, "delta_times_n is 0.1, the paper's is 0.01"),
    ],
)
def test_nothing_is_judged_at_other_levels_or_another_delta(table, reference, config, path, value, said):
    evaluated, open_ = judged(table, reference, changed(config, path, value))
    assert evaluated == set()
    assert all(said in found for found in open_.values())


@pytest.mark.quick(0)
def test_another_split_leaves_the_statements_on_the_first_one(table, reference, config):
    evaluated, open_ = judged(table, reference, changed(config, "splits.S3", [0.2, 0.2, 0.6]))
    assert "best-m-msnbc-small" in evaluated
    assert "splits.S3 is [0.2, 0.2, 0.6]" in open_["sepmm-worse-in-s3"]


def test_other_options_of_the_competitors_leave_what_is_said_of_ours_alone(table, reference, config):
    other = changed(config, "competitors.subset_exponential.local_epsilon", 1.0)
    evaluated, open_ = judged(table, reference, other)
    assert {"best-m-msnbc-small", "m-below-4", "ratio-of-minima"} <= evaluated
    assert "local_epsilon" in open_["reduction-70"]
    missing, open_ = judged(table[table["method"] != "mm"], reference, config)
    assert "best-m-msnbc-small" in missing
    assert "mm did not run" in open_["reduction-70"]


@pytest.mark.quick(1)
@pytest.mark.parametrize(
    ("dataset", "column", "value", "said"),
    [
        ("msnbc", "n_users", lambda n: n.where(n > 5000, 300), "did not run"),
        ("msnbc", "source", lambda _: "stand-in", "data is stand-in, the paper's is real"),
        ("msnbc", "domain_size", lambda _: 21, "domain_size is 21, the paper's is 17"),
        ("synthetic", "set_size", lambda s: s.where(s > 4, 5), "did not run"),
        ("synthetic", "domain_size", lambda _: 64, "domain_size is 64, the paper's is 128"),
    ],
)
def test_another_population_leaves_the_statements_on_the_other_dataset(
    table, reference, config, dataset, column, value, said
):
    mine = table["dataset"] == dataset
    other = table.assign(**{column: table[column].where(~mine, value(table[column]))})
    evaluated, open_ = judged(other, reference, config)
    said_of_mine = [found for found in open_.values() if said in found]
    assert said_of_mine
    assert len(said_of_mine) == len(open_)
    theirs = "synthetic" if dataset == "msnbc" else "msnbc"
    assert f"best-m-{theirs}-large" in evaluated


@pytest.mark.quick(0)
def test_a_further_population_changes_no_verdict(table, reference, config):
    more = table[table["n_users"] == 5000].assign(n_users=10_000, mse_expected=1e-9)
    both = [evaluate(each, reference, config) for each in (table, pd.concat([table, more]))]
    pd.testing.assert_frame_equal(*both)


def test_a_coarse_grid_of_m_tells_no_best_m(table, reference, config):
    coarse = table[(table["method"] != "segmented") | table["blanket_per_user"].isin(GRID[::15])]
    evaluated, open_ = judged(coarse, reference, config)
    assert evaluated == set()
    assert all("steps of a factor 10" in found for found in open_.values())


@pytest.mark.parametrize("missing", [GRID[0], GRID[-1]])
def test_a_grid_of_m_that_ends_early_tells_no_best_m(table, reference, config, missing):
    evaluated, open_ = judged(table[table["blanket_per_user"] != missing], reference, config)
    assert evaluated == set()
    assert {said.rpartition(": ")[2] for said in open_.values()} == {"the grid of m does not reach from 0.1 to 10"}


@pytest.mark.parametrize("step", [1.25, 1.25 + 2**-40])
def test_the_widest_step_of_m_is_allowed_and_no_more(table, reference, config, step):
    curve = table[table["role"] == "grid"]
    rows = [curve[curve["blanket_per_user"] == GRID[0]].assign(blanket_per_user=2**-4 * step**k) for k in range(24)]
    evaluated, _ = judged(pd.concat([*rows, table[table["role"] == "best"]]), reference, config)
    assert bool(evaluated) == (step == 1.25)


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ({}, None),
        ({"dataset": "adult"}, "the paper has no dataset adult"),
        ({"n_users": 7}, "the paper has no panel with n = 7 and s = 4"),
        ({"set_size": 5}, "the paper has no panel with n = 5000 and s = 5"),
        ({"split": "S9"}, None),
    ],
    ids=str,
)
def test_where_a_panel_departs_from_the_paper(table, config, place, said):
    """A split that neither side has differs in nothing; the panels of another size are not the paper's."""
    panel = {"dataset": "synthetic", "n_users": 5000, "set_size": 4, "split": "S1"}
    rows = table[(table[list(panel)] == list(panel.values())).all(axis=1)]
    assert departure(config, panel | place, rows) == said


def test_the_papers_populations_are_those_of_its_section_6():
    assert {name: tuple(each) for name, each in POPULATIONS.items()} == {
        "msnbc": (17, (5_000, 50_000), (4,), "real"),
        "synthetic": (128, (5_000, 50_000), (4, 8), "synthetic"),
    }
    assert COMPETITORS["subset_exponential"] == {"local_epsilon": 2.0}
