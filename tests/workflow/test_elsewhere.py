"""The workflow where its user is: in another directory, as a module of another workflow, with Snakemake alone."""

import os
import re
import subprocess
import sys
import time
from importlib import metadata

import pytest
import yaml
from checkouts import Workflow, said_until
from packaging.requirements import Requirement

pytestmark = [pytest.mark.slow, pytest.mark.pipeline]

#: What replaces a rule of the module.
REPLACED = """
use rule limit from segshuffle as segshuffle_limit with:
    output:
        table="results/my/limit.csv",
        drawing=multiext("results/my/figures/limit", ".pdf", ".svg", ".png"),
    params:
        set_sizes=[3],
        deltas=[1e-5],
"""


@pytest.fixture
def elsewhere(root, tmp_path):
    """Return a folder with a configuration of its own, and nothing else."""
    (tmp_path / "mine.yaml").write_bytes((root / ".test/config/config.yaml").read_bytes())
    return Workflow(tmp_path)


@pytest.mark.quick(0)
@pytest.mark.parametrize("dry", [["-n"], []], ids=["dry", "made"])
def test_it_runs_in_another_directory(root, elsewhere, tmp_path_factory, dry):
    from_here = Workflow(tmp_path_factory.mktemp("where the user stands"))
    where = ("-s", str(root / "Snakefile"), "--directory", str(elsewhere.folder))
    config = str(elsewhere.folder / "mine.yaml")
    said = from_here.finish(*where, "--cores", "1", *dry, "results/quick/limit.csv", "--configfile", config)
    assert re.search(r"^limit +1$", said, re.MULTILINE)
    made = {path.name for path in elsewhere.folder.rglob("limit.*")}
    assert made == (set() if dry else {f"limit.{each}" for each in ("csv", "pdf", "svg", "png", "tsv", "log")})
    assert not list(from_here.folder.iterdir())


@pytest.mark.exhaustive
def test_results_that_cannot_be_written_are_said_in_a_sentence(root, elsewhere):
    (elsewhere.folder / "results").write_text("in the way")
    run = (
        "-s",
        str(root / "workflow/Snakefile"),
        "--cores",
        "1",
        "results/quick/limit.csv",
        "--configfile",
        "mine.yaml",
    )
    status, said = elsewhere.run(*run)
    assert status != 0
    assert "results/quick/logs/configuration.yaml: cannot be written" in said
    assert "pathlib" not in said, "a traceback"


@pytest.mark.exhaustive
def test_a_killed_run_in_another_directory_goes_on(root, elsewhere):
    run = (
        "-s",
        str(root / "Snakefile"),
        "--cores",
        "1",
        "results/quick/limit.csv",
        "--configfile",
        "mine.yaml",
    )
    with elsewhere.started(*run) as killed:
        said_until(killed, "rule limit:")
        marks = elsewhere.folder / ".snakemake/incomplete"
        while not list(marks.iterdir()):
            time.sleep(0.05)
    assert elsewhere.run(*run)[0] != 0, "locked"
    elsewhere.finish(*run, "--unlock")
    elsewhere.finish(*run)
    assert (elsewhere.folder / "results/quick/limit.csv").is_file()


@pytest.fixture
def module(root, elsewhere):
    """Return a folder with the workflow of docs/running.md that uses this one, and a configuration with other keys."""
    guide = (root / "docs/running.md").read_text(encoding="utf-8")
    (snippet,) = re.findall(r"```python\n(.*?)```", guide, re.DOTALL)
    (elsewhere.folder / "Snakefile").write_text(snippet.replace("PATH", str(root)))
    config = yaml.safe_load((elsewhere.folder / "mine.yaml").read_text())
    whole = {"another": "key", "segshuffle": config | {"edition": "my"}}
    (elsewhere.folder / "mine.yaml").write_text(yaml.safe_dump(whole))
    return elsewhere


def test_a_workflow_that_uses_this_one_keeps_its_first_rule(module):
    said = module.finish("-n", "--cores", "1")
    assert re.search(r"^mine +1$", said, re.MULTILINE)
    assert re.search(r"^segshuffle_limit +1$", said, re.MULTILINE)
    assert re.search(r"^total +2$", said, re.MULTILINE), "and runs nothing else"


@pytest.mark.exhaustive
def test_another_workflow_uses_it_with_one_rule_replaced(module):
    with (module.folder / "Snakefile").open("a") as file:
        file.write(REPLACED)
    module.finish("--cores", "1")
    rows = (module.folder / "results/my/limit.csv").read_text().splitlines()
    assert {row.split(",")[0] for row in rows[1:]} == {"3"}, "as the replaced rule says"
    assert "segshuffle_figure" in module.finish("-n", "--cores", "1", "results/my/figures/fig2.svg")
    # another configuration must not write into the same folder
    stamp = yaml.safe_load((module.folder / "results/my/logs/configuration.yaml").read_text())
    assert (stamp["file"], stamp["config"]["edition"]) == ("mine.yaml", "my")
    other = (module.folder / "mine.yaml").read_text().replace("seed: 20241120", "seed: 1")
    (module.folder / "other.yaml").write_text(other)
    snakefile = (module.folder / "Snakefile").read_text().replace("mine.yaml", "other.yaml")
    (module.folder / "Snakefile").write_text(snakefile)
    assert "results of mine.yaml, which has other values of seed" in module.run("-n", "--cores", "1")[1]


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


#: Targets that the documents name.
TARGETS = {"all", "figures", "claims", "fig2", "fig3", "fig4", "fig5", "fig6", "docs_figures"}


@pytest.mark.quick("--list")
@pytest.mark.parametrize("command", ["--list", "--lint"])
def test_it_is_read_where_only_snakemake_is_installed(root, tmp_path, command):
    """Neither the package nor the libraries of its jobs are installed; -S hides all that this environment has."""
    alone = snakemake_alone(tmp_path)
    run = [sys.executable, "-S", "-m", "snakemake", "-s", str(root / "workflow/Snakefile"), command]
    environ = os.environ | {"PYTHONPATH": str(alone)}
    done = subprocess.run(run, cwd=root, env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    if command == "--list":
        menu = dict(line.partition(" ")[::2] for line in done.stdout.splitlines())
        assert menu.keys() >= TARGETS
        for name, explanation in menu.items():
            assert re.fullmatch(r"\(.{10,}\)", explanation), f"{name} has no docstring"
    without = [sys.executable, "-S", "-c", "import numpy"]
    assert subprocess.run(without, env=environ, capture_output=True, check=False).returncode != 0
