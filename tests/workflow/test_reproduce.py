"""`make reproduce` goes on after a kill by the same command, and never has two runs at work in a folder."""

import os
import shutil
import signal
import subprocess
import sys
import time

import pytest
from checkouts import PATIENCE, said_until

pytestmark = [pytest.mark.slow, pytest.mark.pipeline]

SNAKEFILE = """
rule slow:
    output: "results/done.txt"
    shell: "echo begin >> diary.txt; while [ ! -e go ]; do sleep 0.1; done; echo end >> diary.txt; touch {output}"
"""


class Folder:
    """A workflow with one job, which ends when it is told to go."""

    def __init__(self, folder, root):
        self.folder, self.script = folder, root / "workflow/reproduce.sh"
        (folder / "Snakefile").write_text(SNAKEFILE)
        shutil.copytree(root / "profiles/default", folder / "profiles/default")

    def start(self):
        command = [self.script, sys.executable, "-m", "snakemake", "--cores", "1"]
        return subprocess.Popen(
            command,
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def go(self):
        (self.folder / "go").touch()

    def diary(self):
        path = self.folder / "diary.txt"
        return path.read_text().split() if path.exists() else []

    def working(self):
        """Return a run whose job has begun."""
        run, end = self.start(), time.monotonic() + 120
        while "begin" not in self.diary():
            assert run.poll() is None
            assert time.monotonic() < end
            time.sleep(0.05)
        return run


@pytest.fixture
def folder(tmp_path, root):
    return Folder(tmp_path, root)


def kill(run):
    os.killpg(run.pid, signal.SIGKILL)
    run.communicate(timeout=60)


def ended(run):
    said, _ = run.communicate(timeout=PATIENCE)
    assert run.returncode == 0, said
    return said


@pytest.mark.quick(0)
def test_the_same_command_goes_on_after_a_kill(folder):
    kill(folder.working())
    assert list((folder.folder / ".snakemake/locks").iterdir()), "Snakemake alone would refuse"
    half = folder.folder / "results/figures/.a.pdf.12-0a1b2c3d.part"
    half.parent.mkdir(parents=True)
    half.touch()
    folder.go()
    assert "Continuing a run that was killed" in ended(folder.start())
    assert not half.exists(), "what a killed writer left"
    assert folder.diary() == ["begin", "begin", "end"]
    assert "Continuing" not in ended(folder.start()), "once"


@pytest.mark.exhaustive
def test_jobs_that_outlive_their_run_are_waited_for(folder):
    """Only Snakemake and the script are killed, as by the kernel when memory runs out."""
    run = folder.working()
    children = subprocess.run(["pgrep", "-P", str(run.pid)], capture_output=True, text=True, check=True).stdout.split()
    for process in (run.pid, *map(int, children)):
        os.kill(process, signal.SIGKILL)
    run.wait(timeout=60)
    # the job still has the other end
    run.stdout.close()
    following = folder.start()
    said_until(following, "waiting for them")
    assert folder.diary() == ["begin"]
    folder.go()
    ended(following)
    assert folder.diary() == ["begin", "end", "begin", "end"], "never two at once"


@pytest.mark.exhaustive
def test_a_run_at_work_is_waited_for(folder):
    run = folder.working()
    other = folder.start()
    said_until(other, "waiting for it")
    folder.go()
    ended(run)
    assert "Nothing to be done" in ended(other)
    assert folder.diary() == ["begin", "end"]


@pytest.mark.exhaustive
def test_ctrl_c_says_how_to_go_on(folder):
    run = folder.working()
    os.killpg(run.pid, signal.SIGINT)
    said, _ = run.communicate(timeout=PATIENCE)
    assert run.returncode != 0
    assert "the same command continues it" in said
    assert said.count("Traceback") == 0, said
