"""The code of docs/clients.md, executed in order: it prints what the document shows."""

from __future__ import annotations

import re
from pathlib import Path

TEXT = (Path(__file__).resolve().parents[1] / "docs/clients.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", TEXT, re.DOTALL)


def test_the_code_prints_what_is_shown(capsys):
    names: dict = {}
    assert len(BLOCKS) == TEXT.count("```python") == 2
    for code, shown in BLOCKS:
        exec(compile(code, "docs/clients.md", "exec"), names)
        assert capsys.readouterr().out == shown
