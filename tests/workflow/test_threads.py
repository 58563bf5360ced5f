"""A job computes on as many cores as its rule claims: Snakemake tells the numerical libraries, joblib its workers."""

import json
import os
from pathlib import Path

import pytest
from checkouts import Workflow

pytestmark = pytest.mark.pipeline

SNAKEFILE = """
rule all:
    input: "1.json", "2.json"

rule count:
    output: "{threads}.json"
    threads: lambda wildcards: int(wildcards.threads)
    script: "count.py"
"""

SCRIPT = """
import json, os, re
from pathlib import Path

import numpy as np

from segshuffle.pipeline.processors import parallel, workers


def allowed(number):
    return os.environ["OPENBLAS_NUM_THREADS"]


matrix = np.ones((600, 600))
matrix @ matrix
threads = int(re.search(r"Threads:\\s+(\\d+)", Path("/proc/self/status").read_text())[1])
with workers(snakemake.threads):
    found = parallel(allowed, [(number,) for number in range(4)])
Path(snakemake.output[0]).write_text(json.dumps({"threads": threads, "workers": found}))
"""


@pytest.mark.exhaustive
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="threads are counted in /proc")
def test_a_job_has_the_threads_that_its_rule_claims(tmp_path):
    (tmp_path / "Snakefile").write_text(SNAKEFILE)
    (tmp_path / "count.py").write_text(SCRIPT)
    Workflow(tmp_path).finish("--cores", "2")
    found = {claimed: json.loads((tmp_path / f"{claimed}.json").read_text()) for claimed in (1, 2)}
    assert {claimed: job["threads"] for claimed, job in found.items()} == {1: 1, 2: min(2, os.cpu_count())}
    # joblib's two workers would have two threads each otherwise: four on two cores
    assert found[2]["workers"] == ["1"] * 4
