"""A job computes on as many cores as its rule claims: joblib uses them, and the numerical libraries one each."""

import json
from pathlib import Path

import pytest
from checkouts import Workflow

pytestmark = pytest.mark.pipeline

SNAKEFILE = """
config["edition"] = "quick"

rule all:
    input: "1.json", "2.json"

rule count:
    output: "{threads}.json"
    log: "{threads}.log"
    threads: lambda wildcards: int(wildcards.threads)
    script: "count.py"
"""

SCRIPT = """
import json, re, threading
from pathlib import Path

from segshuffle.reproduction.jobs import job
from segshuffle.reproduction.processors import parallel

import numpy as np

meeting = threading.Barrier(snakemake.threads)


def meet():
    # a task waits until as many run at the same time as the rule has threads
    meeting.wait(timeout=60)
    return threading.get_ident()


with job(snakemake):
    matrix = np.ones((600, 600))
    matrix @ matrix
    threads = int(re.search(r"Threads:\\s+(\\d+)", Path("/proc/self/status").read_text())[1])
    met = parallel(meet, [()] * 2 * snakemake.threads)
    text = json.dumps({"before joblib": threads, "in tasks": len(set(met))})
    Path(snakemake.output[0]).write_text(text)
"""


@pytest.mark.exhaustive
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="threads are counted in /proc")
def test_a_job_has_the_threads_that_its_rule_claims(tmp_path):
    (tmp_path / "Snakefile").write_text(SNAKEFILE)
    (tmp_path / "count.py").write_text(SCRIPT)
    Workflow(tmp_path).finish("--cores", "2")
    for claimed in (1, 2):
        found = json.loads((tmp_path / f"{claimed}.json").read_text())
        assert found == {"before joblib": 1, "in tasks": claimed}
