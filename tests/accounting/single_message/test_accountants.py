"""The accountants of one message: a file of its own is all that a new one needs."""

import json
import os
import shutil
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest
from extension_files import ACCOUNTANT

import segshuffle
from segshuffle.accounting.single_message import accountants
from segshuffle.accounting.single_message.accountants import ACCOUNTANTS
from segshuffle.accounting.single_message.mechanisms import mechanism

FOLDER = Path(accountants.__file__).parent
ASKED = """
import json, sys
import pandas as pd
from segshuffle.accounting.single_message.amplification import compare
from segshuffle.looks import ACCOUNTANTS as LISTED, looks_of
from segshuffle.accounting.single_message.mechanisms import mechanism
from segshuffle.studies.amplification.report import draw
from segshuffle.studies.referee.compute import trials

krr = mechanism("krr", local_epsilon=1.0, domain_size=3)
entries, _ = compare(mechanism=krr, n_users=100, delta=1e-4)
grid = {"cases": ["krr-3"], "local_epsilons": [1.0], "few_users": [], "shares": [], "many_users": [1000]}
config = {"referee": grid, "delta_times_n": 0.01}
rows = trials(config)
row = {"panel": "p", "curve": "c", "x_name": "local_epsilon", "y_name": "epsilon"}
names = ("blanket", "half-of-it")
table = pd.DataFrame([{**row, "accountant": name, "x": x, "y": x / 2} for name in names for x in (1.0, 2.0)])
legend = draw(table).legends[0]
print(json.dumps({
    "account": {e.accountant: e.value for e in entries},
    "referee": dict(zip(rows["accountant"], rows["outcome"])),
    "look": looks_of(["half-of-it"], LISTED)["half-of-it"].label,
    "legend": [text.get_text() for text in legend.get_texts()],
}))
"""


@pytest.mark.quick(0)
def test_a_new_accountant_is_one_file(tmp_path):
    """In a copy of the package it is in answers, in the referee's rows and in a figure's legend, and the tests pass."""
    shutil.copytree(Path(segshuffle.__file__).parent, tmp_path / "segshuffle")
    added = tmp_path / "segshuffle" / FOLDER.relative_to(Path(segshuffle.__file__).parent) / "half_of_it.py"
    added.write_text(ACCOUNTANT, encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "MPLBACKEND": "agg"}
    here = Path(__file__).parent
    tests = [here / "test_amplification.py", here / "test_accountants.py", here.parents[1] / "studies/test_referee.py"]
    for command in (["-m", "pytest", "-q", "-m", "not exhaustive", *map(str, tests)], ["-c", ASKED]):
        run = subprocess.run(
            [sys.executable, *command],
            env=environment,
            cwd=here.parents[2],
            capture_output=True,
            text=True,
            check=False,
        )
        assert run.returncode == 0, run.stdout + run.stderr
    found = json.loads(run.stdout)
    assert found["account"]["half-of-it"] == 0.5
    assert set(found["account"]) <= {"half-of-it", *ACCOUNTANTS}
    assert found["referee"]["half-of-it"] == "holds"
    assert found["look"] == "half-of-it"
    assert "half-of-it" in found["legend"]


@pytest.mark.parametrize("n_users", [2, 40, 200_000])
@pytest.mark.parametrize("asked", [("krr", 3), ("krr", 2), ("blh", None), ("laplace", None)], ids=str)
def test_every_delta_is_a_probability_and_falls_with_epsilon_and_with_users(asked, n_users):
    """Epsilon goes from 0 to beyond the local one, where every proven upper bound is 0."""
    name, size = asked
    made = mechanism(name, local_epsilon=1.5, **({"domain_size": size} if size else {}))
    for each in ACCOUNTANTS.values():
        if each.delta is None or not each.applies(made):
            continue
        found = [each.delta_of(made, n_users, epsilon) for epsilon in (0.0, 0.02, 0.5, 1.499, 1.5, 1.6)]
        assert all(0.0 <= low <= high <= 1.0 for low, high in found), each.name
        assert all(after.lower <= before.upper for before, after in pairwise(found)), each.name
        if n_users < 200_000:
            assert each.delta_of(made, 4 * n_users, 0.02).lower <= found[1].upper * (1 + 1e-9), each.name
        if each.kind_for(made) == "upper":
            assert all(after.upper <= before.upper for before, after in pairwise(found)), each.name
            assert found[-2] == found[-1] == (0.0, 0.0), each.name
