"""What lies beside the results: provenance, the list of results, and the last words."""

import hashlib
import json
from pathlib import Path

import pandas as pd
import pytest

from segshuffle.reproduction.captions import FORMATS, entries
from segshuffle.reproduction.provenance import PACKAGES, contents, provenance
from segshuffle.reproduction.run_summary import main as close

REAL = {"kind": "real", "sha256": "ab" * 32, "origin": "msnbc990928.seq.gz", "reason": ""}
STAND_IN = {
    "kind": "stand-in",
    "sha256": None,
    "origin": "drawn from the published marginals of MSNBC",
    "reason": "the network is down:\n  address one",
}


@pytest.fixture
def sources(tmp_path):
    """Return a function that writes the record of the MSNBC data, and returns its path in a list, as rules give it."""

    def write(record):
        path = tmp_path / "data/msnbc/source.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(record))
        return [str(path)]

    return write


def test_provenance_names_what_the_run_was_made_of(tmp_path, monkeypatch, full_config, sources):
    monkeypatch.chdir(tmp_path)
    paths = ["results/mse.csv", "results/figures/fig2.svg"]
    for path in map(Path, paths):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(path.name)
    given = {"sources": sources(STAND_IN), "config": full_config, "commit": "0123-dirty"}
    text = provenance(paths, **given)
    record = json.loads(text)
    assert record["outputs"] == {
        "figures/fig2.svg": hashlib.sha256(b"fig2.svg").hexdigest(),
        "mse.csv": hashlib.sha256(b"mse.csv").hexdigest(),
    }
    assert record["seed"] == full_config["seed"]
    assert record["edition"] == "full"
    assert record["commit"] == "0123-dirty"
    assert record["data"] == {"msnbc": STAND_IN}
    assert set(record["versions"]) == {"python", *PACKAGES}
    assert "not installed" not in record["versions"].values()
    assert provenance(paths[::-1], **given) == text, "no time, no order"
    assert str(tmp_path) not in text


def test_the_list_of_results_explains_every_column_and_names_a_stand_in(full_config, quick_config, sources):
    made = ["mse.csv", "claims.md", "amplification/variation1.csv", *(f"figures/fig2{each}" for each in FORMATS)]
    full = contents([f"results/{path}" for path in made], sources(REAL), config=full_config)
    quick = contents(["results/quick/figures/decomposition8.svg"], sources(STAND_IN), config=quick_config)
    for column in entries()["columns"]["mse.csv"]:
        assert f"- `{column}`: " in full, column
    assert REAL["sha256"] in full
    assert "STAND-IN" not in full
    assert "a STAND-IN, not the real data, because the network is down:" in quick
    listed = [line.partition("`: ")[0] for line in full.splitlines() if line.startswith("- `")]
    for name in (
        "mse.csv",
        "claims.md",
        "figures/fig2",
        "config.yaml",
        "plans/",
        "audit/",
        "amplification/variation1.csv",
    ):
        assert sum(f"`{name}`" in f"{entry}`" for entry in listed) == 1, name
    assert "figures/decomposition8" in quick
    assert "amplification/" not in quick, "what a run does not make is not listed"


@pytest.mark.parametrize("data", [REAL, STAND_IN], ids=["real", "stand-in"])
def test_the_last_words_say_where_everything_is(tmp_path, monkeypatch, capsys, root, data):
    results = tmp_path / "results/quick"
    results.mkdir(parents=True)
    verdicts = ["reproduced", "reproduced", "not reproduced"]
    pd.DataFrame({"id": ["a", "b", "c"], "verdict": verdicts}).to_csv(results / "claims.csv", index=False)
    rules = {"rule": ["plan", "simulate"], "seconds_total": [3.0, 40.4]}
    pd.DataFrame(rules).to_csv(results / "runtimes.csv", index=False)
    (results / "provenance.json").write_text(json.dumps({"data": {"msnbc": data}}))
    monkeypatch.chdir(tmp_path)
    assert close([str(root / "config/quick.yaml")]) == 0
    shown = capsys.readouterr().out
    assert "page      results/quick/index.html" in shown
    assert "results/quick/mse.csv" in shown
    assert "2 reproduced, 1 not reproduced" in shown
    assert "43 s of jobs" in shown
    assert ("STAND-IN" in shown) == (data is STAND_IN)
    assert ("the network is down" in shown) == (data is STAND_IN)
