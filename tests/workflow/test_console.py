"""What a run says on the console: a line per job, a failed job's own message and log, the rest in Snakemake's log."""

import re
from functools import partial
from pathlib import Path

import pytest
from checkouts import Workflow

pytestmark = pytest.mark.pipeline

SNAKEFILE = """
include: {console!r}

rule all:
    input: expand("{{x}}.txt", x=["good", "bad", "killed"])

rule one:
    '''One of several. Sees no data.'''
    output: "{{x}}.txt"
    log: "logs/{{x}}.log"
    script: "one.py"
"""
SCRIPT = """
import os, sys
from pathlib import Path
from segshuffle.errors import DataError
from segshuffle.pipeline.jobs import logged
with logged(snakemake.log[0]):
    if snakemake.wildcards.x == "bad":
        raise DataError("this is bad: take another")
    if snakemake.wildcards.x == "killed":
        os.kill(os.getpid(), 9)
    Path(snakemake.output[0]).touch()
"""


@pytest.fixture
def snakemake(tmp_path, root):
    """Return a function that runs snakemake on a workflow with a job that fails and one that is killed."""
    (tmp_path / "Snakefile").write_text(SNAKEFILE.format(console=str(root / "workflow/rules/console.smk")))
    (tmp_path / "one.py").write_text(SCRIPT)

    return partial(Workflow(tmp_path).run, "--cores", "1")


@pytest.mark.quick(0)
def test_a_run_says_what_it_makes_and_a_failed_job_why(snakemake):
    status, said = snakemake("--keep-going")
    assert status != 0
    finished = re.findall(
        r"^([1-4]) of 4  0:00:\d\d, about (\d:\d\d:\d\d) left  One of several: (\w+)$", said, re.MULTILINE
    )
    assert [(number, name) for number, _, name in finished] == [("1", "good")], "what failed is not finished"
    failed = re.findall(
        r"^FAILED after 0:00:\d\d: One of several: (\w+)\n    log: logs/(\w+)\.log$", said, re.MULTILINE
    )
    assert sorted(failed) == [("bad", "bad"), ("killed", "killed")]
    assert "this is bad: take another\n(log: logs/bad.log)\n" in said
    assert "SIGKILL" in said, "a job that was killed says nothing itself"
    assert "returned non-zero exit status" not in said
    assert not re.search("reason|wildcards|Select jobs|jobid", said)
    (log,) = {Path(path) for path in re.findall(r"\S+/\.snakemake/log/[^\s)]+", said)}
    everything = log.read_text()
    assert everything.count("reason: Missing output files") == 3
    assert "SNAKEMAKE" in everything


@pytest.mark.exhaustive
@pytest.mark.parametrize("how", ["--dry-run", "--verbose"])
def test_who_asks_for_more_gets_snakemakes_own_words(snakemake, how):
    status, said = snakemake(how, "good.txt")
    assert status == 0
    assert "reason: Missing output files: good.txt" in said


@pytest.mark.exhaustive
def test_the_time_that_is_left_is_counted_from_what_is_done(snakemake, tmp_path):
    """Jobs of the same rule take the same time: one of two is done, so about as much is left."""
    script = tmp_path / "one.py"
    script.write_text("import time; time.sleep(3)\n" + script.read_text())
    status, said = snakemake("good.txt", "also.txt")
    assert status == 0, said
    times = re.findall(r"^\d of 2  0:00:(\d\d), about 0:00:(\d\d) left", said, re.MULTILINE)
    (first, left), (_, nothing) = (tuple(map(int, each)) for each in times)
    assert first >= 3
    assert abs(left - first) <= 1
    assert nothing == 0


@pytest.mark.exhaustive
def test_an_unknown_target_is_told_where_the_known_ones_are(snakemake):
    status, said = snakemake("nothing")
    assert status != 0
    assert "`snakemake --list` shows every target." in said
