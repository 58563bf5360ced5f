"""CONTRIBUTING's recipes, followed: whoever adds something finds the tests green."""

import os
import shutil
import subprocess
import sys
from types import SimpleNamespace

import pytest
from extension_files import COMPETITOR, DATASET, add_accountant, add_law, add_study

#: Tests that go over all that is declared, and so could notice an addition.
NOTICING = (
    "accounting/single_message/test_accountants.py",
    "accounting/single_message/test_amplification.py",
    "datasets",
    "extension",
    "pipeline",
    "planning",
    "protocols/messages/test_dependence.py",
    "protocols/test_conformance.py",
    "studies/reproduction",
    "studies/test_figures.py",
    "studies/test_pareto.py",
    "studies/test_referee.py",
    "test_documents.py",
    "test_looks.py",
    "test_project.py",
    "workflow/test_rules.py",
)


@pytest.mark.exhaustive
def test_one_addition_of_each_kind_leaves_the_tests_green(root, tmp_path):
    command = ["git", "ls-files", "-co", "--exclude-standard"]
    listed = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    for name in filter(lambda name: (root / name).is_file(), listed.stdout.splitlines()):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(root / name, tmp_path / name)
    for add in (add_study, add_accountant, add_law):
        add(SimpleNamespace(folder=tmp_path))
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
