"""The commands of the README, executed."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from segshuffle.cli import main
from segshuffle.pipeline.manifest import targets
from segshuffle.pipeline.scenarios import scenarios
from segshuffle.pipeline.targets_table import RULES, renewed, table

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", README, re.DOTALL)
COMMANDS = [
    line
    for language, block in BLOCKS
    if language == "bash"
    for line in block.splitlines()
    if line.startswith("segshuffle ")
]


def test_there_are_commands():
    assert len(COMMANDS) >= 6
    assert len(EXAMPLES) == 3


@pytest.mark.quick(1)
@pytest.mark.parametrize("command", COMMANDS)
def test_command_runs(command, capsys):
    assert not main(shlex.split(command)[1:])
    printed = capsys.readouterr().out
    if "--json" in command:
        assert json.loads(printed)
    else:
        assert "dummy messages" in printed or "blanket-lower" in printed


GUIDE = (ROOT / "docs" / "account.md").read_text(encoding="utf-8")
GUIDE_BLOCKS = re.findall(r"```(\w+)\n(.*?)```", GUIDE, re.DOTALL)
ASKED = [line for language, block in GUIDE_BLOCKS if language == "bash" for line in block.splitlines()]


@pytest.mark.quick(1)
@pytest.mark.parametrize("command", ASKED)
def test_a_command_of_the_guide_to_accounts_runs(command, capsys, tmp_path, monkeypatch):
    (table,) = (block for language, block in GUIDE_BLOCKS if language == "csv")
    (tmp_path / "mine.csv").write_text(table, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert not main(shlex.split(command)[1:])
    assert re.search(r"epsilon|delta", capsys.readouterr().out)


def test_the_python_of_the_guide_to_accounts_runs(capsys):
    (code,) = (block for language, block in GUIDE_BLOCKS if language == "python")
    exec(compile(code, "docs/account.md", "exec"), {})
    assert "'blanket'" in capsys.readouterr().out


REHEARSING = (ROOT / "docs" / "rehearse.md").read_text(encoding="utf-8")


@pytest.mark.exhaustive
def test_the_commands_of_the_guide_to_rehearsals_run(capsys, tmp_path, monkeypatch):
    blocks = re.findall(r"```(\w+)\n(.*?)```", REHEARSING, re.DOTALL)
    (tmp_path / "log.csv").write_text(next(block for language, block in blocks if language == "csv"), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    commands = [line for language, block in blocks if language == "bash" for line in block.splitlines()]
    for command in commands:
        assert not main(shlex.split(command)[1:])
    assert len(commands) == 6
    made = {path.name for path in (tmp_path / "log-rehearsal").iterdir()}
    named = set(re.findall(r"`(\w+\.\w+)`", REHEARSING)) - {"log.csv"}
    assert named == {name for name in made if not re.search(r"parquet|svg|png", name)}


@pytest.mark.quick(0)
def test_a_command_runs_in_a_shell():
    run = [sys.executable, "-m", "segshuffle", *shlex.split(COMMANDS[0])[1:]]
    done = subprocess.run(run, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout


EXAMPLES = [block for language, block in BLOCKS if language == "python"]


@pytest.mark.quick(1)
@pytest.mark.parametrize("code", EXAMPLES, ids=range(len(EXAMPLES)))
def test_python_example_runs(capsys, code):
    if "dp_accounting" in code:
        pytest.importorskip("dp_accounting")
    exec(compile(code, "README.md", "exec"), {})
    assert len(re.findall(r"\d\.\d+", capsys.readouterr().out)) >= 3


def test_make_targets_and_files_exist():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"^make (\w+)", README, re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
    for link in re.findall(r"\]\((?!http)([^)#]+)\)", README):
        assert (ROOT / link).exists(), link


def test_the_table_of_targets_is_what_the_studies_declare():
    made = table(ROOT)
    assert {"figures", "fig2", "fig_levels", "all", "page"} <= set(re.findall(r"`(\w+)`", made))
    renew = "python -m segshuffle.pipeline.targets_table"
    assert renewed(README, made) == README, f"the table of targets is out of date: run {renew}"


def test_every_target_is_in_the_table_once(full_config):
    names = re.findall(r"`(\w+)`", "".join(re.findall(r"^\| (`.+?) \|", table(ROOT), re.MULTILINE)))
    declared = [target.name for target in targets(full_config, scenarios(full_config))]
    assert sorted(names) == sorted([*declared, *RULES])
