"""The pipeline on a cluster: a real Slurm, brought up on this machine, gives the bytes of a local run."""

import fcntl
import os
import re
import shutil
import signal
import subprocess
import tempfile
from importlib import metadata
from pathlib import Path

import pytest
from checkouts import said_until

pytestmark = [
    pytest.mark.exhaustive,
    pytest.mark.cluster,
    pytest.mark.pipeline,
]

#: From the log to a drawn figure in 6 jobs: every stage, one of them with two jobs. Each job starts Snakemake twice,
#: which costs more than its work; the other rules are scripts of the same form and would only add minutes.
TARGET = "fig4"
JOBS = {"dataset": 1, "population": 1, "plan": 2, "simulate": 1, "figure": 1}

#: The profile, changed for one machine: it sees its files at once, and has no database for sacct, so squeue is asked.
ON_SLURM = (
    *("--profile", "profiles/slurm"),
    *("--latency-wait", "5"),
    *("--slurm-init-seconds-before-status-checks", "4"),
    *("--slurm-status-command", "squeue"),
)


def obstacle():
    """Say why no cluster can run here, or return None if one can."""
    if os.geteuid() != 0:
        return "slurmd needs root"
    missing = [name for name in ("munged", "slurmctld", "slurmd", "sbatch", "srun") if shutil.which(name) is None]
    if missing:
        return f"not installed: {', '.join(missing)} (Debian: munge slurmctld slurmd slurm-client)"
    try:
        metadata.version("snakemake-executor-plugin-slurm")
    except metadata.PackageNotFoundError:
        return "snakemake-executor-plugin-slurm is not installed"
    return None


@pytest.fixture(scope="module")
def cluster(root):
    """Yield the folder of a one-node Slurm; one at a time on a machine, because its configuration has one place."""
    if reason := obstacle():
        pytest.skip(reason)
    scripts = root / "tests/cluster"
    with (Path(tempfile.gettempdir()) / "segshuffle-slurm.lock").open("w") as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)
        # not below pytest's own folder, which munge finds too private, and its socket's path too long
        folder = Path(tempfile.mkdtemp(prefix="slurm-"))
        folder.chmod(0o755)
        try:
            up = subprocess.run([scripts / "slurm_up.sh", folder], capture_output=True, text=True, check=False)
            assert up.returncode == 0, up.stderr
            yield folder
        finally:
            subprocess.run([scripts / "slurm_down.sh", folder], capture_output=True, check=False)
            shutil.rmtree(folder)


@pytest.fixture(scope="module")
def on_slurm(cluster, new_checkout):
    """Return a copy of the project in which Slurm ran the jobs."""
    made = new_checkout()
    made.said = made.finish(*ON_SLURM, TARGET)
    return made


def test_every_job_went_through_slurm(on_slurm):
    submitted = re.findall(r"submitted with SLURM jobid (\d+)", on_slurm.said)
    assert len(submitted) == sum(JOBS.values())
    asked = ["squeue", "--noheader", "--states", "all", "--format", "%i %T %m %C %k"]
    listed = subprocess.run(asked, capture_output=True, text=True, check=True).stdout
    jobs = [line.split(maxsplit=4) for line in listed.splitlines()]
    assert {number for number, state, *_ in jobs if state == "COMPLETED"} == set(submitted)
    rules = [comment.removeprefix("rule_").split("_wildcards")[0] for *_, comment in jobs]
    assert {rule: rules.count(rule) for rule in JOBS} == JOBS
    assert all(int(memory.removesuffix("M")) >= 500 for _, _, memory, *_ in jobs), "Slurm knows what the rules ask for"
    (threads,) = (cores for *_, cores, comment in jobs if comment.startswith("rule_simulate"))
    assert threads == "2", "of the profile"


def test_slurm_and_one_machine_make_the_same_bytes(on_slurm, new_checkout):
    local = new_checkout()
    local.finish("--cores", "2", TARGET)
    made, expected = on_slurm.results(), local.results()
    assert {"figures/fig4.pdf", "figures/fig4.svg", "figures/fig4.png"} <= set(made)
    assert made == expected


def test_a_killed_run_keeps_its_lock_while_its_jobs_may_be_queued(cluster, new_checkout):
    made = new_checkout()
    plan = "results/quick/plans/published/msnbc-n200-s2.json"
    with made.started(*ON_SLURM, plan) as run:
        said_until(run, "submitted with SLURM jobid")
        os.killpg(run.pid, signal.SIGKILL)
    status, said = made.run("--cores", "1", plan)
    assert status != 0
    assert "--unlock" in said
    subprocess.run(["scancel", "--user", "root"], check=True)
    made.finish("--unlock")
    made.finish("--cores", "1", plan)
