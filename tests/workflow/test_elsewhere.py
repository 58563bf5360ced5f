"""The workflow where its user is: in another directory, as a module of another workflow, with Snakemake alone."""

import os
import re
import subprocess
import sys
from importlib import metadata

import pytest
from checkouts import Workflow
from packaging.requirements import Requirement

pytestmark = [pytest.mark.slow, pytest.mark.pipeline]

#: Six lines replace a rule.
MODULE = """
configfile: "mine.yaml"

module segshuffle:
    snakefile: "{snakefile}"
    config: config

use rule * from segshuffle as segshuffle_*

use rule limit from segshuffle as segshuffle_limit with:
    output:
        table="results/quick/limit.csv",
        figure=multiext("results/quick/figures/limit", ".pdf", ".svg", ".png"),
    params:
        set_sizes=[3],
        deltas=[1e-5],

rule mine:
    default_target: True
    input:
        "results/quick/limit.csv",
"""


@pytest.fixture
def elsewhere(root, tmp_path):
    """Return a folder with a configuration of its own, and nothing else."""
    (tmp_path / "mine.yaml").write_bytes((root / ".test/config/config.yaml").read_bytes())
    return Workflow(tmp_path)


@pytest.mark.parametrize("snakefile", ["Snakefile", "workflow/Snakefile"])
def test_everything_is_made_without_a_target(root, elsewhere, snakefile):
    said = elsewhere.finish("-s", str(root / snakefile), "-n", "--cores", "1", "--configfile", "mine.yaml")
    assert {"page", "provenance", "runtimes", "figure", "referee_verdicts"} <= set(
        re.findall(r"^rule (\w+):", said, re.M)
    )


@pytest.mark.quick("dry")
@pytest.mark.parametrize("dry", [["-n"], []], ids=["dry", "made"])
def test_it_runs_in_another_directory(root, elsewhere, tmp_path_factory, dry):
    from_here = Workflow(tmp_path_factory.mktemp("where the user stands"))
    where = ("-s", str(root / "workflow/Snakefile"), "--directory", str(elsewhere.folder))
    config = str(elsewhere.folder / "mine.yaml")
    said = from_here.finish(*where, "--cores", "1", *dry, "results/quick/limit.csv", "--configfile", config)
    assert re.search(r"^limit +1$", said, re.MULTILINE)
    made = {path.name for path in elsewhere.folder.rglob("limit.*")}
    assert made == (set() if dry else {f"limit.{each}" for each in ("csv", "pdf", "svg", "png", "tsv", "log")})
    assert not list(from_here.folder.iterdir())


@pytest.mark.exhaustive
def test_another_workflow_uses_it_with_one_rule_replaced(root, elsewhere):
    text = MODULE.format(snakefile=root / "workflow/Snakefile")
    (elsewhere.folder / "Snakefile").write_text(text)
    said = elsewhere.finish("--cores", "1")
    assert re.search(r"^segshuffle_limit +1$", said, re.MULTILINE)
    rows = (elsewhere.folder / "results/quick/limit.csv").read_text().splitlines()
    assert {row.split(",")[0] for row in rows[1:]} == {"3"}, "as the replaced rule says"
    assert "segshuffle_figure" in elsewhere.finish("-n", "--cores", "1", "results/quick/figures/fig2.svg")


def snakemake_alone(folder):
    """Link Snakemake and all that it requires into a folder, and nothing else of this environment."""
    found, asked = set(), ["snakemake"]
    while asked:
        if (name := asked.pop()) not in found:
            found.add(name)
            package = metadata.distribution(name)
            for top in {file.parts[0] for file in package.files} - {"..", "__pycache__"}:
                if not (folder / top).exists():
                    (folder / top).symlink_to(package.locate_file(top))
            required = map(Requirement, package.requires or [])
            asked += [each.name for each in required if not each.marker or each.marker.evaluate({"extra": ""})]
    return folder


@pytest.mark.parametrize("command", ["--list", "--lint"])
def test_it_is_read_where_only_snakemake_is_installed(root, tmp_path, command):
    """Neither the package nor the libraries of its jobs are installed; -S hides all that this environment has."""
    alone = snakemake_alone(tmp_path)
    run = [sys.executable, "-S", "-m", "snakemake", "-s", str(root / "workflow/Snakefile"), command]
    environ = os.environ | {"PYTHONPATH": str(alone)}
    done = subprocess.run(run, cwd=root, env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert ("fig2" in done.stdout) == (command == "--list")
    without = [sys.executable, "-S", "-c", "import numpy"]
    assert subprocess.run(without, env=environ, capture_output=True, check=False).returncode != 0
