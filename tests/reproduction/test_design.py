"""Scenarios: the panels of the paper, stable names, a grid of m that holds the stated values, exact level counts."""

import math
import re
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from segshuffle.plans.shares import level_counts
from segshuffle.reproduction.design import (
    FIGURES,
    Scenario,
    Setting,
    blanket_grid,
    figures_of,
    output_folder,
    without_paths,
)
from segshuffle.reproduction.scenarios import scenarios, settings

# sections 6.1-6.3 of the paper, in the order of the letters (a), (b), ...
PANELS = {
    "fig2": [("msnbc", 5_000, 4, "S1"), ("msnbc", 50_000, 4, "S1")],
    "fig3": [("synthetic", n, s, "S1") for s in (4, 8) for n in (5_000, 50_000)],
    "fig4": [("msnbc", n, 4, split) for split in ("S2", "S3") for n in (5_000, 50_000)],
    "fig5": [("synthetic", n, s, "S2") for s in (4, 8) for n in (5_000, 50_000)],
    "fig6": [("synthetic", n, s, "S3") for s in (4, 8) for n in (5_000, 50_000)],
}
#: Datasets of the configuration that are not in the paper.
ADDED = ("groceries", "msweb")


def test_the_eighteen_panels_are_those_of_the_paper_in_its_order(full_config):
    found = {
        figure: [(p.setting.dataset, p.setting.n_users, p.setting.set_size, p.split) for p in panels]
        for figure, panels in figures_of(scenarios(full_config)).items()
        if figure in FIGURES
    }
    assert found == PANELS
    others = [panel for panel in scenarios(full_config) if panel.setting.dataset in ADDED]
    assert sum(map(len, found.values())) == 18 == len(scenarios(full_config)) - len(others)


def test_what_no_figure_of_the_paper_shows_has_one_of_its_own(full_config):
    full_config["splits"]["S4"] = [0.2, 0.4, 0.4]
    every = scenarios(full_config)
    mine = [Scenario(Setting("mine", n, 3, 9), split) for n in (10, 20) for split in ("S1", "S4")]
    figures = figures_of([*every, *mine])
    others = tuple(f"panels-{name}-" for name in ADDED)
    added = {name: panels for name, panels in figures.items() if name not in FIGURES and not name.startswith(others)}
    assert list(added) == ["panels-msnbc-S4", "panels-synthetic-S4", "panels-mine-S1", "panels-mine-S4"]
    assert sorted(map(str, [*every, *mine])) == sorted(str(p) for panels in figures.values() for p in panels)
    assert [panel.setting.n_users for panel in added["panels-mine-S4"]] == [10, 20]
    assert "fig4" not in figures_of([panel for panel in every if panel.split == "S1"])


def test_dummy_padding_adds_as_many_items_as_a_user_may_lack(full_config):
    full_config["datasets"]["msnbc"]["padding"] = "dummy"
    full_config["datasets"]["msnbc"]["set_sizes"] = [4, 6]
    assert {(s.set_size, s.domain_size) for s in settings(full_config) if s.dataset == "msnbc"} == {(4, 21), (6, 23)}


def test_names_are_unique_and_fit_for_files_and_patterns(full_config):
    names = [scenario.id for scenario in scenarios(full_config)]
    assert len(set(names)) == len(names)
    for name in names:
        # no dot, slash or space; and no name begins another, for wildcards
        assert re.fullmatch(r"[a-z0-9]+-n\d+-s\d+-S\d", name)
    assert len({setting.id for setting in settings(full_config)}) == len(settings(full_config))


def test_a_quick_run_never_writes_where_a_full_one_does(full_config, quick_config):
    assert output_folder(full_config) == "results"
    assert output_folder(quick_config) == "results/quick"


@given(data=st.data(), n_users=st.integers(1, 10**8))
def test_level_counts_add_up_and_are_the_shares_rounded(data, n_users):
    weights = data.draw(st.lists(st.floats(0, 1), min_size=1, max_size=50).filter(lambda w: sum(w) > 0.1))
    shares = [weight / math.fsum(weights) for weight in weights]
    counts = level_counts(n_users, shares)
    assert sum(counts) == n_users
    for count, share in zip(counts, shares, strict=True):
        assert count >= 0
        assert abs(count - share * n_users) < 1 + 1e-6


def test_what_the_snakefile_imports_stays_light(root):
    """The Snakefile is parsed again for every remote job."""
    text = "".join(path.read_text() for path in (root / "workflow/rules").glob("*.smk"))
    imports = re.findall(r"^ *(from segshuffle[^(\n]*(?:\([^)]*\))?)$", text, re.MULTILINE)
    assert len(imports) > 8
    heavy = "import sys; print({'numpy', 'scipy', 'pandas', 'matplotlib', 'joblib'} & set(sys.modules))"
    command = [sys.executable, "-c", "\n".join([*imports, heavy])]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip() == "set()"


def test_scripts_of_many_jobs_import_no_pandas(root):
    """It takes up to half of the start of a job."""
    names = ("amplification_curves", "audit_setting", "dataset", "pareto_case", "plan", "population", "simulate")
    lines = [line for name in names for line in (root / f"workflow/scripts/{name}.py").read_text().splitlines()]
    imports = [line for line in lines if line.startswith(("import ", "from "))]
    heavy = "import sys; print({'pandas', 'matplotlib'} & set(sys.modules))"
    command = [sys.executable, "-c", "\n".join([*imports, heavy])]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip() == "set()"


@pytest.mark.parametrize(
    ("n_users", "shares", "counts"),
    [
        # 1.8, 3.7 and 4.5: the largest remainders are rounded up, and of equal ones the first
        (10, [0.18, 0.37, 0.45], (2, 4, 4)),
        (10, [0.45, 0.18, 0.37], (4, 2, 4)),
        (10, [0.25, 0.5, 0.25], (3, 5, 2)),
        (7, [0.25, 0.25, 0.25, 0.25], (2, 2, 2, 1)),
        # 0.29 * 100 is 28.999999999999996
        (100, [0.29, 0.71], (29, 71)),
        (3, [0.0, 1.0], (0, 3)),
    ],
)
def test_level_counts_by_hand(n_users, shares, counts):
    assert level_counts(n_users, shares) == counts


def test_paths_are_left_out_of_records():
    config = {"seed": 3, "datasets": {"a": {"path": "/x", "n_users": [5]}, "b": {"items": "/y", "download": True}}}
    hidden = {"a": {"path": None, "n_users": [5]}, "b": {"items": None, "download": True}}
    assert without_paths(config) == {"seed": 3, "datasets": hidden}
    assert config["datasets"]["a"]["path"] == "/x"


def test_the_grid_by_hand():
    """The grid is log-spaced, and has the values to include, each value once and in order."""
    grid = {"low": 0.5, "high": 8.0, "points": 5, "include": [3.0, 2.0]}
    assert blanket_grid(grid) == [0.5, 1.0, 2.0, 3.0, 4.0, 8.0]
    # four digits
    grid = {"low": 1.0, "high": 10.0, "points": 4, "include": [0.123456]}
    assert blanket_grid(grid) == [0.1235, 1.0, 2.154, 4.642, 10.0]
