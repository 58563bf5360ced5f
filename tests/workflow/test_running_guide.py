"""The commands of docs/running.md, each as it stands there; tests/workflow/test_elsewhere.py runs its module."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.pipeline, pytest.mark.exhaustive]


def commands(root):
    """Return the lines of all blocks of shell commands, without their comments."""
    blocks = re.findall(r"```bash\n(.*?)```", (root / "docs/running.md").read_text(encoding="utf-8"), re.DOTALL)
    return [re.sub(r" +#.*", "", line) for block in blocks for line in block.splitlines()]


def run(command, folder, environ):
    """Run a line of shell in a folder, and return what it says."""
    done = subprocess.run(
        ["bash", "-euc", command], cwd=folder, env=environ, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout + done.stderr


def test_every_command_runs(root, new_checkout, tmp_path):
    """In their order; Snakemake and make only say what they would do."""
    made = new_checkout()
    environ = {**made.environ(), "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    found = commands(root)
    moved = [line for line in found if line.startswith("cp -r ")]
    assert len(found) >= 14
    assert len(moved) == 1, "the test below takes it"
    for line in found:
        if line not in moved:
            said = (
                line.replace("PATH/", f"'{made.folder}'/").replace("ELSEWHERE", str(tmp_path)).replace("=NAME", "=some")
            )
            run(re.sub(r"^(make|(?:\.venv/bin/)?(snakemake))\b", dry, said), made.folder, environ)
        if line.startswith("cp config/config.yaml"):  # as its comment says
            own = made.folder / "my.yaml"
            own.write_text(own.read_text().replace("edition: full", "edition: my"))


def dry(program):
    """Return a program as a command that only says what it would do."""
    return f"{program[2] or program[1]} --dry-run"


def test_a_run_that_is_copied_to_another_clone_goes_on_there(root, checkout, new_checkout):
    """All times differ there: the scripts are newer than the results, and every result is newer than those above it."""
    other = new_checkout()
    (checkout.folder / "data").mkdir(exist_ok=True)
    (copying,) = (line for line in commands(root) if line.startswith("cp -r "))
    run(copying.replace("OTHER", f"'{other.folder}'"), checkout.folder, checkout.environ())
    for number, path in enumerate(sorted(other.out.rglob("*"), reverse=True)):
        os.utime(path, (number, number))
    assert other.would_run() == {}
    (other.out / "figures/fig2.svg").unlink()
    assert set(other.would_run("fig2")) == {"figure", "fig2"}
