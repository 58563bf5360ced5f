"""Which rules run again after which edit: what depends on it, and nothing else. Dry runs beside a finished run."""

import contextlib
import shutil
import subprocess

import pytest
import yaml

pytestmark = [pytest.mark.slow, pytest.mark.pipeline]

RECORDS = {"provenance", "runtimes", "page"}
DRAWN = {"figure", *RECORDS}
AFTER_ERRORS = {"aggregate", "verdicts", "proven_summary", *DRAWN}
# the audit and what liars can do look at the published plans
AUDIT = {"audit_setting", "figure_audit", *RECORDS}
LIARS = {"influence", *RECORDS}
PROVEN = {"plan", "simulate", *AFTER_ERRORS}
AFTER_PLANS = PROVEN | AUDIT | LIARS
AFTER_POPULATIONS = {"population", "dependence", "simulate", "levels", "figure_levels", *AFTER_ERRORS}
LEVELS = {"levels", "figure_levels", *RECORDS}
ASSUMPTIONS = {"participation", "dependence", "rounds", *LIARS}
PROTOCOLS = AFTER_PLANS | LEVELS | ASSUMPTIONS
# a comparison has all protocols in it, and a figure or page has the looks of all
PARETO = {"pareto_case", "pareto_winners", "figure_pareto", *RECORDS}
LOOKS = {"figure", "influence", "dependence", *PARETO}
LABELS = {"figure", "figure_audit", "figure_levels", "participation", "influence", "dependence", "rounds", *RECORDS}
AMPLIFICATION = {"amplification_curves", "figure_amplification", "table_amplification", *RECORDS}
VERDICTS = {"verdicts", "pareto_winners", "figure_pareto"}
VERDICTS |= {"figure_amplification", "table_amplification", *RECORDS}
REFEREE = {"referee_trials", "referee_verdicts", *RECORDS}
DRAWINGS = {
    *("figure", "limit", "figure_audit", "figure_levels", "participation", "influence"),
    *("dependence", "rounds", "pareto_winners", "figure_pareto", "proven_summary"),
    *("figure_amplification", "table_amplification", "referee_verdicts", *RECORDS),
}


def comment(text):
    return f"{text}\n# an edit\n"


#: File -> rules that run again after an edit.
FILES = {
    "CONTENTS.md": set(),
    "Makefile": set(),
    "requirements.lock": set(),
    "src/segshuffle/cli/__init__.py": set(),
    "src/segshuffle/pipeline/run_summary.py": set(),
    "src/segshuffle/looks.py": DRAWINGS,
    "src/segshuffle/pipeline/style.py": DRAWINGS,
    "src/segshuffle/pipeline/segshuffle.mplstyle": DRAWINGS,
    "src/segshuffle/studies/reproduction/report.py": {"proven_summary", *DRAWN},
    "src/segshuffle/studies/audit/report.py": {"figure_audit", *RECORDS},
    "src/segshuffle/accounting/collections/published.py": PROTOCOLS | PARETO,
    "src/segshuffle/accounting/collections/full_view.py": AUDIT,
    "src/segshuffle/accounting/single_message/accountants/personalized.py": AMPLIFICATION | REFEREE,
    "src/segshuffle/protocols/segmented.py": PROTOCOLS | PARETO,
    "src/segshuffle/protocols/proven.py": PROTOCOLS - AUDIT | PARETO,
    "src/segshuffle/protocols/messages/level_counts.py": LEVELS,
    "src/segshuffle/datasets/sampling.py": LABELS | AFTER_POPULATIONS | {"dataset"},
    "src/segshuffle/protocols/fake_users.py": LOOKS | {"verdicts"},
    "src/segshuffle/studies/audit/compute.py": AUDIT,
    "src/segshuffle/studies/levels/compute.py": LEVELS,
    "src/segshuffle/studies/assumptions/compute.py": ASSUMPTIONS,
    "src/segshuffle/studies/referee/compute.py": REFEREE,
    "src/segshuffle/studies/amplification/compute.py": AMPLIFICATION,
    "src/segshuffle/studies/claims/report.py": {"verdicts", *RECORDS},
    "src/segshuffle/studies/verdicts.py": VERDICTS,
    "src/segshuffle/pipeline/provenance.py": {"provenance", "page"},
    "src/segshuffle/studies/reproduction/outputs.py": {"provenance", "page"},
    "src/segshuffle/pipeline/runtimes.py": {"runtimes", "page"},
    "src/segshuffle/page/findings.py": {"page"},
    "src/segshuffle/page/assets/page.css": {"page"},
    "src/segshuffle/page/assets/page.html.j2": {"page"},
    "workflow/report/output.rst": set(),
    "config/reference/claims.yaml": {"verdicts", *RECORDS},
}


@pytest.mark.parametrize("name", FILES)
def test_editing_a_file(checkout, name):
    with checkout.edited(name, comment):
        assert set(checkout.would_run()) == FILES[name]


def test_an_edit_of_the_synthetic_dataset_leaves_msnbc_alone(checkout):
    with checkout.edited("src/segshuffle/datasets/synthetic.py", comment):
        assert checkout.would_run("results/quick/figures/fig2.svg", "results/quick/levels/msnbc-n200-s2.csv") == {}
        jobs = checkout.would_run()
    assert {"population": 1, "simulate": 6}.items() <= jobs.items()
    assert "dataset" not in jobs


def test_a_new_competitor_costs_its_own_work(checkout, tmp_path):
    """The audit looks at no competitor, and stored results of the other methods are kept."""
    kept = checkout.out / "errors/published/msnbc-n200-s2-S1"
    before = {path.name: path.stat().st_mtime_ns for path in kept.iterdir()}
    config = yaml.safe_load((checkout.folder / "tiny.yaml").read_text())
    methods = [*config["competitors"]["methods"], "correlated-noise"]
    made = checkout.copied(tmp_path / "a copy")
    with made.configured("competitors.methods", methods):
        jobs = made.would_run()
        assert {"plan": 2, "simulate": 6}.items() <= jobs.items()
        assert "audit_setting" not in jobs
        made.finish("--cores", "1", "results/quick/panels/published/msnbc-n200-s2-S1.csv")
    after = {path.name: path.stat().st_mtime_ns for path in (made.out / kept.relative_to(checkout.out)).iterdir()}
    assert {name.partition(".")[0] for name in after.keys() - before.keys()} == {"correlated-noise"}
    assert before.items() <= after.items(), "the others were not simulated again"


def test_another_size_of_the_synthetic_domain_leaves_msnbc_alone(checkout):
    with checkout.configured("datasets.synthetic.domain_size", 20):
        jobs = checkout.would_run()
    # 1 of the 2 populations, 3 of the 6 panels, 3 of the 5 figures of the paper and two with all panels; twice each
    expected = {"population": 1, "plan": 3, "simulate": 6, "figure": 8, "audit_setting": 1, "levels": 1}
    assert expected.items() <= jobs.items()
    assert "dataset" not in jobs


def test_one_more_population_leaves_the_others_alone(checkout):
    with checkout.configured("datasets.msnbc.n_users", [200, 800]):
        jobs = checkout.would_run()
    expected = {"population": 1, "plan": 3, "simulate": 6, "figure": 6}
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
        assert set(checkout.would_run()) == {"provenance", "page"}
    assert checkout.would_run() == {}


def test_the_commit_of_a_repository_around_it_is_not_taken(checkout):
    with repository(checkout.folder.parent, f"{checkout.folder.name}/Makefile"):
        assert checkout.would_run() == {}
