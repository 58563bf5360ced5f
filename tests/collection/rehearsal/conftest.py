"""A log to rehearse on."""

import pytest


@pytest.fixture
def log(tmp_path, monkeypatch):
    """Write a log of 300 users, who hold tea, tea and milk, or these and bread, to the current folder."""
    monkeypatch.chdir(tmp_path)
    rows = [f"u{user},{item}" for user in range(300) for item in ("tea", "milk", "bread")[: 1 + user % 3]]
    (tmp_path / "log.csv").write_text("user,item\n" + "\n".join(rows) + "\n")
    return tmp_path / "log.csv"
