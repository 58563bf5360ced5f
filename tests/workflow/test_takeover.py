"""After a run was killed, the same command goes on; a lock that somebody may still hold is never lifted."""

import contextlib
import os
import shutil
import signal
import socket
import time

import pytest
from checkouts import Workflow, said_until

pytestmark = [pytest.mark.slow, pytest.mark.pipeline]

SNAKEFILE = """
include: {takeover!r}

rule slow:
    output: "done.txt"
    shell: "echo begin >> diary.txt; while [ ! -e go ]; do sleep 0.1; done; echo end >> diary.txt; touch {{output}}"
"""


class Folder(Workflow):
    """A workflow with the project's takeover and profile, and with one job, which ends when it is told to go."""

    def __init__(self, folder, root):
        super().__init__(folder)
        self.runs = folder / ".snakemake/runs"
        (folder / "Snakefile").write_text(SNAKEFILE.format(takeover=str(root / "workflow/rules/takeover.smk")))
        shutil.copytree(root / "profiles/default", folder / "profiles/default")

    def start(self, *arguments):
        return super().start("--cores", "1", *arguments)

    def go(self):
        (self.folder / "go").touch()

    def diary(self):
        path = self.folder / "diary.txt"
        return path.read_text().split() if path.exists() else []

    @contextlib.contextmanager
    def working(self):
        """Yield a run whose job has begun."""
        with self.started() as run:
            end = time.monotonic() + 120
            while "begin" not in self.diary():
                assert run.poll() is None
                assert time.monotonic() < end
                time.sleep(0.05)
            yield run

    def killed(self):
        """Kill a run and its job, and return its record, which stays. The next job ends at once."""
        with self.working():
            pass
        self.go()
        (record,) = self.runs.iterdir()
        assert list((self.folder / ".snakemake/locks").iterdir())
        return record


@pytest.fixture
def folder(tmp_path, root):
    return Folder(tmp_path, root)


@pytest.mark.quick(0)
def test_the_same_command_goes_on_after_a_kill(folder):
    folder.killed()
    half = folder.folder / "results/figures/.a.pdf.12-0a1b2c3d.part"
    half.parent.mkdir(parents=True)
    half.touch()
    said = folder.finish()
    assert "Lifting the lock" in said
    assert not half.exists(), "what a killed writer left"
    assert folder.diary() == ["begin", "begin", "end"]
    assert list(folder.runs.iterdir()) == []


@pytest.mark.exhaustive
def test_jobs_that_outlive_their_run_are_waited_for(folder):
    """Snakemake alone is killed, as by the kernel when memory runs out."""
    with folder.working() as run:
        os.kill(run.pid, signal.SIGKILL)
        run.wait(timeout=60)
        following = folder.start()
        said = said_until(following, "Waiting for")
        assert folder.diary() == ["begin"]
        folder.go()
        said += following.communicate(timeout=300)[0]
    assert following.returncode == 0, said
    assert folder.diary() == ["begin", "end", "begin", "end"], "never two at once"


@pytest.mark.exhaustive
def test_a_run_at_work_is_left_alone(folder):
    with folder.working() as run:
        status, said = folder.run()
        assert status != 0
        assert "another run is at work" in said
        assert "--unlock" in said
        folder.go()
        said, _ = run.communicate(timeout=300)
        assert run.returncode == 0, said
    assert folder.diary() == ["begin", "end"]


@pytest.mark.exhaustive
@pytest.mark.parametrize("where", ["elsewhere", "cluster"])
def test_what_another_machine_does_cannot_be_known(folder, where):
    record = folder.killed()
    if where == "cluster":
        record.write_text(where)
    else:
        record.rename(record.with_name(record.name.replace(socket.gethostname(), where, 1)))
    status, said = folder.run()
    assert status != 0
    assert where in said
    folder.finish("--unlock")
    folder.finish()


@pytest.mark.exhaustive
def test_the_number_of_a_dead_process_may_be_given_to_another(folder):
    record = folder.killed()
    # alive, but born long after 1970
    record.rename(folder.runs / f"{socket.gethostname()}+{os.getpid()}+1.run")
    folder.finish()
