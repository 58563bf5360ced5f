"""The tutorial: its commands run one after another where the log is, and print what it shows."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

TEXT = (Path(__file__).resolve().parents[1] / "docs/tutorial.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(bash|text)\n(.*?)```", TEXT, re.DOTALL)


def test_every_number_shown_belongs_to_a_command():
    kinds = [kind for kind, _ in BLOCKS]
    assert kinds[0] == "bash"
    assert kinds.count("text") >= 4


@pytest.mark.exhaustive
@pytest.mark.skipif(not os.environ.get("SEGSHUFFLE_MSNBC"), reason="the MSNBC log is not here")
def test_commands_print_what_is_shown(tmp_path):
    (tmp_path / "segshuffle").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m segshuffle "$@"\n')
    (tmp_path / "segshuffle").chmod(0o755)
    (tmp_path / "msnbc990928.seq.gz").symlink_to(Path(os.environ["SEGSHUFFLE_MSNBC"]).resolve())
    environ = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "COLUMNS": "80"}
    printed = ""
    for kind, block in BLOCKS:
        if kind == "bash":
            done = subprocess.run(
                ["bash", "-euc", block], cwd=tmp_path, env=environ, capture_output=True, text=True, check=False
            )
            assert done.returncode == 0, done.stderr
            printed = done.stdout
        else:
            missing = [line for line in block.splitlines() if line not in printed.splitlines()]
            assert not missing, printed
