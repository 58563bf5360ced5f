"""Which rules run again after which edit: all that depends on it. Dry runs beside a finished run."""

import contextlib
import shutil
import subprocess

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.pipeline]

RECORDS = {"provenance", "page"}
ERRORS = {"simulate", "aggregate", "claims", "proven_summary", "figure", *RECORDS}
AUDIT = {"audit_setting", "audit", *RECORDS}
LEVELS = {"levels", "fig_levels", *RECORDS}
ASSUMPTIONS = {"fig_participation", "fig_influence", "fig_dependence", "fig_rounds", *RECORDS}
PARETO = {"pareto_case", "pareto", *RECORDS}
AMPLIFICATION = {"amplification_curves", "amplification", *RECORDS}
REFEREE = {"referee_trials", "referee", *RECORDS}
PLANS = {"plan", *ERRORS, *AUDIT, "fig_influence"}
POPULATIONS = {"population", "fig_dependence", *ERRORS, *LEVELS}
PANELS = PLANS | LEVELS | ASSUMPTIONS
# code counts by stage: an edit of one protocol or accountant computes everything again, one of a dataset also gets data
COMPUTED = PANELS | PARETO | AMPLIFICATION | REFEREE | {"limit"}
DATA = COMPUTED | {"dataset", "population"}
DRAWN = {
    *("figure", "limit", "audit", "fig_levels", "fig_participation", "fig_influence"),
    *("fig_dependence", "fig_rounds", "pareto", "proven_summary", "claims"),
    *("amplification", "referee", *RECORDS),
}


#: File -> rules that run again after an edit.
FILES = {
    "README.md": set(),
    "src/segshuffle/cli/__init__.py": set(),
    "src/segshuffle/reproduction/run_summary.py": set(),
    "src/segshuffle/drawing/looks.py": DRAWN,
    "src/segshuffle/drawing/segshuffle.mplstyle": DRAWN,
    "src/segshuffle/accounting/collections/full_view.py": COMPUTED,
    "src/segshuffle/protocols/fake_users.py": COMPUTED,
    "src/segshuffle/datasets/sampling.py": DATA,
    # what draws a study is in its folder with what computes it
    "src/segshuffle/reproduction/studies/panels/report.py": ERRORS,
    "src/segshuffle/reproduction/studies/audit/report.py": AUDIT,
    "src/segshuffle/reproduction/studies/referee/compute.py": REFEREE,
    "src/segshuffle/reproduction/studies/claims/report.py": {"claims", *RECORDS},
    "src/segshuffle/reproduction/studies/panels/captions.yaml": RECORDS,
    "src/segshuffle/reproduction/page/findings.py": RECORDS,
    "workflow/report/caption.rst": set(),
    "workflow/rules/limit.smk": set(),
    "workflow/scripts/limit.py": {"limit", *RECORDS},
    # its statements count, not its text
    "config/reference/claims.yaml": set(),
}


@pytest.mark.quick(6)
@pytest.mark.parametrize("name", FILES)
def test_editing_a_file(checkout, name):
    with checkout.edited(name, lambda text: f"{text}\n# an edit\n"):
        assert set(checkout.would_run()) == FILES[name]


#: Key, new value, and the rules that run again.
CHANGES = [
    ("seed", 1, POPULATIONS | {"dataset"}),
    ("repetitions", 6, ERRORS | LEVELS | {"fig_dependence"}),
    ("repetition_block", 4, ERRORS | LEVELS),
    ("recentring", False, ERRORS),
    ("levels", [0.5, 1.0, 2.5], PANELS),
    ("splits.S2", [0.25, 0.25, 0.5], PANELS | PARETO),
    ("delta_times_n", 0.02, PANELS | PARETO | REFEREE | {"limit"}),
    ("blanket_grid.include", [2.0, 4.0], PLANS),
    ("competitors.methods", ["mm"], PLANS - AUDIT | RECORDS),
    ("datasets.msnbc.padding", "dummy", PANELS | {"dataset", "population"}),
    ("datasets.synthetic.domain_size", 20, PANELS | {"population"}),
    ("proven.max_messages", [12, 40], PLANS - AUDIT - {"claims"} | RECORDS | {"fig_participation", "fig_rounds"}),
    ("proven.honest_fraction", 0.9, PANELS - AUDIT - {"claims"} | RECORDS),
    ("private_levels.epsilons", [0.5, 1.0], LEVELS),
    ("assumptions.rounds", [1, 2], {"fig_rounds", "fig_participation", *RECORDS}),
    ("pareto.budgets", [3.0], PARETO),
    ("amplification.points", 4, AMPLIFICATION),
    ("referee.shares", [0.5], REFEREE),
]


@pytest.mark.quick("datasets.synthetic.domain_size", "competitors.methods")
@pytest.mark.parametrize(("path", "value", "expected"), CHANGES, ids=[path for path, _, _ in CHANGES])
def test_changing_the_configuration(checkout, path, value, expected):
    with checkout.configured(path, value):
        assert set(checkout.would_run()) == expected


@pytest.mark.parametrize(
    ("path", "value", "expected"),
    [
        # 1 of the 2 populations, 3 of the 6 panels, 3 of the 5 figures of the paper and two with all panels; twice each
        (
            "datasets.synthetic.domain_size",
            20,
            {"population": 1, "plan": 3, "simulate": 2, "figure": 8, "audit_setting": 1, "levels": 1},
        ),
        ("datasets.msnbc.n_users", [200, 800], {"population": 1, "plan": 3, "simulate": 2, "figure": 6}),
        ("competitors.methods", ["mm"], {"plan": 2, "simulate": 2, "figure": 12}),
    ],
    ids=["domain size", "population", "competitor"],
)
def test_other_datasets_populations_and_plans_are_left_alone(checkout, path, value, expected):
    with checkout.configured(path, value):
        jobs = checkout.would_run()
    assert expected.items() <= jobs.items()
    assert "dataset" not in jobs


@contextlib.contextmanager
def repository(folder, file):
    """Make a git repository in a folder, with one commit of one file, and remove it at the end of the block."""
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]
    try:
        for arguments in (["init", "-q"], ["add", "-f", file], ["commit", "-q", "-m", "x"]):
            subprocess.run([*git, *arguments], cwd=folder, check=True, capture_output=True)
        yield
    finally:
        shutil.rmtree(folder / ".git")


def test_another_commit_is_recorded_and_nothing_else(checkout):
    with repository(checkout.folder, "Makefile"):
        assert set(checkout.would_run()) == RECORDS
    assert checkout.would_run() == {}


def test_the_commit_of_a_repository_around_it_is_not_taken(checkout):
    with repository(checkout.folder.parent, f"{checkout.folder.name}/Makefile"):
        assert checkout.would_run() == {}
