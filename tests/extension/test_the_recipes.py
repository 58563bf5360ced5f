"""CONTRIBUTING's recipes, followed: whoever adds something finds the tests green."""

import os
import subprocess
import sys
from types import SimpleNamespace

import pytest
from checkouts import copy_project
from extension_files import COMPETITOR, DATASET, add_accountant, add_law, add_study

#: Tests that go over all that is declared, and so could notice an addition.
NOTICING = (
    "accounting/single_message/test_accountants.py",
    "accounting/single_message/test_amplification.py",
    "collection/messages/test_dependence.py",
    "collection/messages/test_wire.py",
    "collection/planning",
    "datasets",
    "drawing/test_looks.py",
    "drawing/test_style.py",
    "extension",
    "protocols/test_conformance.py",
    "reproduction/studies/panels",
    "reproduction/studies/test_figures.py",
    "reproduction/studies/test_pareto.py",
    "reproduction/studies/test_referee.py",
    "reproduction/test_config.py",
    "reproduction/test_data.py",
    "reproduction/test_design.py",
    "reproduction/test_jobs.py",
    "reproduction/test_records.py",
    "reproduction/test_rows.py",
    "reproduction/test_runtimes.py",
    "reproduction/test_stamp.py",
    "reproduction/test_captions.py",
    "test_documents.py",
    "test_layers.py",
    "test_project.py",
    "test_seeds.py",
    "workflow/test_rules.py",
)


#: What the recipe for a law adds to each file, after which words.
DESCRIBED = {
    "docs/wire.md": (
        "|---|---|---|\n",
        "| `mixed` | none | single units: mean m/2; clusters: mean m/2, parameter 1/2 |\n",
    ),
    "tests/collection/messages/test_wire.py": (
        "PARTS = {\n",
        '    "mixed": lambda m: [([""], m / 2, Fraction(0)), ([""], m / 2, Fraction(1, 2))],\n',
    ),
    "docs/vectors.json": (
        "[\n",
        '{"name": "mixed", "scheme": {"domain_size": 17, "set_size": 1, "n_users": 5000, "copies": [0.5], '
        '"blanket_per_user": 2.0, "law": {"name": "mixed"}, "blanket_cap": null}, "items": [3], "level": 0, '
        '"bytes": "3db44ff77d56de114f06", "messages": ["2", "3", "15"]},\n',
    ),
}


@pytest.mark.exhaustive
def test_one_addition_of_each_kind_leaves_the_tests_green(root, tmp_path):
    copy_project(root, tmp_path)
    for add in (add_study, add_accountant, add_law):
        add(SimpleNamespace(folder=tmp_path))
    for name, (after, added) in DESCRIBED.items():
        before, found, rest = (tmp_path / name).read_text(encoding="utf-8").partition(after)
        (tmp_path / name).write_text(f"{before}{found}{added}{rest}", encoding="utf-8")
    (tmp_path / "src/segshuffle/protocols/guess.py").write_text(COMPETITOR, encoding="utf-8")
    copied = (root / "src/segshuffle/protocols/augmented_shuffling.py").read_text(encoding="utf-8")
    mine = copied.replace("augmented-shuffling", "mine").replace('"proven"', '"published"')
    (tmp_path / "src/segshuffle/protocols/mine.py").write_text(mine, encoding="utf-8")
    (tmp_path / "src/segshuffle/datasets/baskets.py").write_text(DATASET, encoding="utf-8")
    tests = [f"tests/{name}" for name in NOTICING]
    command = [sys.executable, "-m", "pytest", "-q", "-m", "not exhaustive and not pipeline", *tests]
    environment = os.environ | {"PYTHONPATH": str(tmp_path / "src")}
    # README selects the tests of one protocol; pytest ends with an error if there are none
    for each in (command, [*command[:4], "tests/protocols/test_conformance.py", "-k", "mine"]):
        done = subprocess.run(each, cwd=tmp_path, capture_output=True, text=True, env=environment, check=False)
        assert done.returncode == 0, done.stdout
