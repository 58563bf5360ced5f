"""The commands and the Python of the documents, executed."""

import base64
import copy
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import nbformat
import numpy as np
import pytest
from commands import printed
from nbclient import NotebookClient

ROOT = Path(__file__).resolve().parents[1]


def blocks(name, languages):
    """Return pairs of a language and a block of a document, in order."""
    return re.findall(rf"```({languages})\n(.*?)```", (ROOT / name).read_text(encoding="utf-8"), re.DOTALL)


def commands(name):
    """Return the commands of segshuffle in a document."""
    lines = (line for _, block in blocks(name, "bash") for line in block.splitlines())
    return [line for line in lines if line.startswith("segshuffle ")]


#: Documents whose commands stand alone.
ALONE = {"README.md": 7, "docs/account.md": 20, "docs/plan.md": 14}
CASES = [(name, command) for name in ALONE for command in commands(name)]


def test_there_are_commands():
    assert {name: len(commands(name)) for name in ALONE} == ALONE


@pytest.mark.quick(2)
@pytest.mark.parametrize(("name", "command"), CASES)
def test_a_command_runs(name, command, capsys, tmp_path, monkeypatch):
    for _, table in blocks(name, "csv"):
        (tmp_path / "mine.csv").write_text(table, encoding="utf-8")
    for _, question in blocks(name, "toml"):
        (tmp_path / "collection.toml").write_text(question, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert re.search("epsilon|delta|dummy message|squared error", printed(capsys, shlex.split(command)[1:]))


@pytest.mark.exhaustive
def test_the_commands_on_rehearsals_run(capsys, tmp_path, monkeypatch):
    """They run one after another on the log that the guide shows, and make every file that it names and no other."""
    guide = "docs/rehearse.md"
    ((_, log),) = blocks(guide, "csv")
    (tmp_path / "log.csv").write_text(log, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    for command in commands(guide):
        printed(capsys, shlex.split(command)[1:])
    assert len(commands(guide)) == 9
    made = {path.name for path in (tmp_path / "log-rehearsal").iterdir()}
    named = set(re.findall(r"`(\w+\.\w+)`", (ROOT / guide).read_text(encoding="utf-8"))) - {"log.csv"}
    assert named == {name for name in made if not re.search(r"parquet|svg|png", name)}


@pytest.mark.exhaustive
@pytest.mark.skipif(not os.environ.get("SEGSHUFFLE_MSNBC"), reason="the MSNBC log is not here")
@pytest.mark.parametrize(("name", "outputs"), [("docs/tutorial.md", 5), ("docs/assumptions.md", 1)])
def test_commands_on_the_log_print_what_is_shown(name, outputs, tmp_path):
    (tmp_path / "segshuffle").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m segshuffle "$@"\n')
    (tmp_path / "segshuffle").chmod(0o755)
    (tmp_path / "msnbc990928.seq.gz").symlink_to(Path(os.environ["SEGSHUFFLE_MSNBC"]).resolve())
    environ = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "COLUMNS": "80"}
    shown = blocks(name, "bash|text")
    assert [kind for kind, _ in shown].count("text") >= outputs
    for kind, block in shown:
        if kind == "bash":
            run = ["bash", "-euc", block]
            done = subprocess.run(run, cwd=tmp_path, env=environ, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr
        else:
            missing = set(block.splitlines()) - set(done.stdout.splitlines())
            assert not missing, done.stdout


@pytest.mark.parametrize("number", range(7))
def test_every_erratum_is_shown_by_its_command(number, capsys):
    """The command prints the lines below it."""
    found = blocks("docs/errata.md", "bash|text")
    assert [kind for kind, _ in found] == ["bash", "text"] * 7
    command = shlex.split(found[2 * number][1])
    if command[0] == "python":
        exec(command[2], {})
        shown = capsys.readouterr().out
    else:
        shown = printed(capsys, command[1:])
    assert set(found[2 * number + 1][1].splitlines()) <= set(shown.splitlines())


@pytest.mark.exhaustive
def test_a_protocol_is_added_by_the_commands_of_the_readme(tmp_path):
    """In a copy of the project, with the environment of the tests as its own."""
    (block,) = (code for _, code in blocks("README.md", "bash") if code.startswith("sed "))
    for name in ("src", "tests", "config", "workflow"):
        shutil.copytree(ROOT / name, tmp_path / name)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    (tmp_path / ".venv").symlink_to(sys.prefix)
    environ = {**os.environ, "PATH": f"{sys.prefix}/bin:{os.environ['PATH']}", "PYTHONPATH": f"{tmp_path}/src"}
    run = ["bash", "-euc", block]
    done = subprocess.run(run, cwd=tmp_path, env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"\d+ passed", done.stdout)
    assert re.search(r"^mine \(proven\)", done.stdout, re.MULTILINE)


EXAMPLES = [code for name in ("docs/plan.md", "docs/account.md") for _, code in blocks(name, "python")]


@pytest.mark.quick(2)
@pytest.mark.parametrize("code", EXAMPLES, ids=range(5))
def test_a_python_example_runs(capsys, code):
    for partner in ("dp_accounting", "opendp"):
        if partner in code:
            pytest.importorskip(partner)
    exec(compile(code, "example", "exec"), {})
    assert len(re.findall(r"\d\.\d+", capsys.readouterr().out)) >= 3


def test_the_python_on_clients_prints_what_is_shown(capsys):
    names: dict = {}
    shown = blocks("docs/clients.md", "python|text")
    assert [kind for kind, _ in shown] == ["python", "text"] * 2
    for (_, code), (_, text) in zip(shown[::2], shown[1::2], strict=True):
        exec(compile(code, "docs/clients.md", "exec"), names)
        assert capsys.readouterr().out == text


def shown(cell):
    """Return what a cell of a notebook shows: its texts, and its pictures as pixels."""
    outputs = [output.get("data", {"text/plain": output.get("text")}) for output in cell.get("outputs", ())]
    pictures = [base64.b64decode(data.pop("image/png")) for data in outputs if "image/png" in data]
    return outputs, [plt.imread(io.BytesIO(picture)) for picture in pictures]


@pytest.mark.exhaustive
def test_the_notebook_shows_what_is_stored():
    notebook = nbformat.read(ROOT / "docs/notebook.ipynb", as_version=4)
    stored = list(map(shown, copy.deepcopy(notebook.cells)))
    executed = list(map(shown, NotebookClient(notebook, kernel_name="python3").execute().cells))
    assert sum(len(pictures) for _, pictures in executed) == 2
    for (texts, pictures), (new_texts, new_pictures) in zip(stored, executed, strict=True):
        assert new_texts == texts
        for picture, drawn in zip(pictures, new_pictures, strict=True):
            assert np.abs(drawn - picture).mean() < 0.001
