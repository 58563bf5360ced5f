"""Copies of the project in which the pipeline runs: from scratch, in a folder with a space, on a tiny configuration."""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys

import pytest
import yaml
from configurations import changed

#: Seconds after which a run counts as hanging.
PATIENCE = 1800


class Workflow:
    """A folder in which Snakemake runs."""

    def __init__(self, folder):
        self.folder = folder

    def start(self, *arguments, environ=None, by=()):
        """Begin a run in a process group of its own, `by` a command that takes another one."""
        return subprocess.Popen(
            [*by, sys.executable, "-m", "snakemake", *arguments],
            cwd=self.folder,
            env=environ,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    @contextlib.contextmanager
    def started(self, *arguments, **options):
        """Begin a run, and kill what is left of it at the end of the block."""
        run = self.start(*arguments, **options)
        try:
            yield run
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(run.pid, signal.SIGKILL)
            run.communicate(timeout=PATIENCE)

    def run(self, *arguments, **options):
        """Run snakemake to its end, and return exit status and everything it said."""
        with self.started(*arguments, **options) as run:
            said, _ = run.communicate(timeout=PATIENCE)
        return run.returncode, said

    def finish(self, *arguments, **options):
        """Run snakemake, check that it succeeds, and return what it said."""
        status, said = self.run(*arguments, **options)
        assert status == 0, said
        return said


def said_until(run, text):
    """Wait for a text, and return all that was said."""
    said = ""
    while text not in said:
        line = run.stdout.readline()
        assert line, said
        said += line
    return said


class Checkout(Workflow):
    """A copy of the project with its own sources on the path and a tiny configuration."""

    def __init__(self, folder):
        super().__init__(folder)
        self.out = folder / "results/quick"

    def environ(self, msnbc=""):
        """Return an environment without traces of the tests' own; bytecode is kept, as make does."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("SNAKEMAKE", "PYTEST"))}
        return {
            **kept,
            "PYTHONPATH": str(self.folder / "src"),
            "PYTHONDONTWRITEBYTECODE": "",
            "SEGSHUFFLE_MSNBC": str(msnbc),
        }

    def start(self, *arguments, msnbc="", configfile="tiny.yaml", by=()):
        return super().start(*arguments, "--configfile", configfile, environ=self.environ(msnbc), by=by)

    def copied(self, folder):
        """Return a copy with all that was made here."""
        shutil.copytree(self.folder, folder)
        return Checkout(folder)

    def python(self, code):
        """Return what a line of Python prints in this copy."""
        command = [sys.executable, "-c", code]
        environ = self.environ()
        return subprocess.run(command, cwd=self.folder, env=environ, capture_output=True, text=True, check=True).stdout

    def would_run(self, *targets, **options):
        """Return the jobs per rule that a dry run announces, without the default target."""
        said = self.finish("-n", "--cores", "1", *targets, **options)
        if "Nothing to be done" in said:
            return {}
        table = re.search(r"^job +count\n-+ +-+\n(.*?)^total", said, re.MULTILINE | re.DOTALL).group(1)
        jobs = {name: int(count) for name, count in (line.split() for line in table.splitlines())}
        return {name: count for name, count in jobs.items() if name not in ("all", "default")}

    @contextlib.contextmanager
    def edited(self, name, change):
        """Change a file's text for a while."""
        path = self.folder / name
        before, status = (path.read_bytes(), path.stat()) if path.exists() else (None, None)
        text = "" if before is None else before.decode()
        assert change(text) != text
        path.write_text(change(text), encoding="utf-8")
        try:
            yield
        finally:
            if before is None:
                path.unlink()
            else:
                path.write_bytes(before)
                # Snakemake judges scripts by their time alone
                os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))

    @contextlib.contextmanager
    def configured(self, path, value):
        """Change a value of the configuration for a while."""

        def change(text):
            return yaml.safe_dump(changed(yaml.safe_load(text), path, value), sort_keys=False)

        with self.edited("tiny.yaml", change):
            yield

    def text(self, name):
        """Return the text of a file of the results."""
        return (self.out / name).read_text(encoding="utf-8")

    def results(self):
        """Return the bytes of everything that must not depend on how the run was made."""
        # run times are measured, and the page shows them
        measured = {"runtimes.csv", "index.html", ".runtimes.csv.sha256", ".index.html.sha256"}
        paths = sorted(path for path in self.out.iterdir() if path.is_file() and path.name not in measured)
        kept = {"logs", "benchmarks"}
        for folder in sorted(path for path in self.out.iterdir() if path.is_dir() and path.name not in kept):
            paths += sorted(path for path in folder.rglob("*") if path.is_file())
        return {str(path.relative_to(self.out)): path.read_bytes() for path in paths}

    def leftovers(self):
        """Return temporary files of writers that did not finish."""
        return [path for path in self.folder.rglob("*.part") if ".snakemake" not in path.parts]


def project_files(root):
    """Return tracked files and those about to be, by their names below the root."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "-co", "--exclude-standard"], cwd=root, capture_output=True, text=True, check=False
    )
    if listed.returncode:
        pytest.skip("not a git checkout")
    return [name for name in listed.stdout.split("\0") if name and (root / name).is_file()]


def copy_project(root, folder, without=()):
    for name in project_files(root):
        if not name.startswith(without):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(root / name, folder / name)


@pytest.fixture(scope="session")
def snapshot(root, tmp_path_factory):
    """Return a copy of the project as it is now, without tests and documents, and with the tiny configuration."""
    folder = tmp_path_factory.mktemp("snapshot")
    copy_project(root, folder, without=("tests/", "docs/"))
    shutil.copyfile(folder / ".test/config/config.yaml", folder / "tiny.yaml")
    return folder


@pytest.fixture(scope="session")
def new_checkout(snapshot, tmp_path_factory):
    """Return a function that makes a fresh copy of the project, in a folder with a space in its name."""

    def make():
        folder = tmp_path_factory.mktemp("a checkout") / "with spaces"
        shutil.copytree(snapshot, folder)
        return Checkout(folder)

    return make


@pytest.fixture(scope="session")
def checkout(new_checkout):
    """Return a copy in which the pipeline has run on two cores; tests leave it as they found it."""
    made = new_checkout()
    made.finish("--cores", "2")
    return made
