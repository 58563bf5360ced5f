"""A folder of results with made-up numbers in the columns of a run, for tests of what is made from it."""

import json
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import yaml

from segshuffle.reproduction.captions import Captions
from segshuffle.reproduction.page.build import read_results
from segshuffle.reproduction.studies.panels.compute import proven_summary

GRID = (0.1, 0.3, 1.0, 3.0, 10.0)
SPLITS = ("S1", "S2", "S3")
SETTINGS = (("msnbc", 500, 4, 17), ("synthetic", 500, 4, 32))
#: The configuration as shipped.
CONFIG = yaml.safe_load((Path(__file__).parents[1] / "config/config.yaml").read_text(encoding="utf-8"))
COMPETITORS = ("subexp-shuffle", "mm", "weighted-sepmm")
PROVEN = ("mm", "inverse-variance-sepmm", "curator-uniform", "curator-weighted")
#: Closed-form errors of the paper's protocol over GRID; the least one is at m = 1.
ERRORS = (8e-3, 4e-3, 1e-3, 2e-3, 6e-3)
SVG = (
    '<?xml version="1.0"?>\n<svg xmlns="http://www.w3.org/2000/svg" width="200pt" height="100pt" '
    'viewBox="0 0 200 100">\n'
    '<!-- 100 % --><path d="M 0 0 L 200 0 L 200 100 L 0 100 z" style="fill: #ffffff"/>'
    '<text x="10" y="50" style="font-family: \'DejaVu Sans\'; fill: #d00000">'
    "{name}: the paper's, ε &lt; 2</text></svg>\n"
)


def make_results(folder: Path, *, edition: str = "full", source: str = "real") -> Path:
    """Write every file that the page shows."""
    tables = _tables(source)
    (folder / "figures").mkdir(parents=True)
    for name, table in tables.items():
        path = folder / f"{name}.csv"
        path.parent.mkdir(exist_ok=True)
        table.to_csv(path, index=False)
    for name in FIGURES:
        (folder / f"figures/{name}.svg").write_text(SVG.format(name=name), encoding="utf-8")
    real = {"kind": "real", "sha256": "ab" * 32, "origin": "msnbc990928.seq.gz", "reason": ""}
    stand_in = {"kind": "stand-in", "sha256": None, "origin": "two marginals", "reason": "no <network>\naddress"}
    record = {
        "commit": "c0ffee" * 6,
        "edition": edition,
        "seed": 4711,
        "versions": {"python": "3.11.0", "segshuffle": "0.1.0"},
        "data": {"msnbc": real if source == "real" else stand_in},
        "outputs": {"mse.csv": "12" * 32},
    }
    (folder / "provenance.json").write_text(json.dumps(record), encoding="utf-8")
    effective = {**CONFIG, "edition": edition, "seed": 4711}
    (folder / "config.yaml").write_text(yaml.safe_dump(effective), encoding="utf-8")
    return folder


def _tables(source):
    """Return all made-up tables, by the name of the file."""
    errors = _errors(source)
    return {
        "mse": errors,
        "proven-summary": proven_summary(errors, [8.0, 16.0]),
        "claims": _claims(),
        "audit": _audit(),
        "limit": pd.DataFrame(
            {"set_size": 4, "delta": 2e-5, "blanket_mean": [10.0, 100.0, 1000.0], "error_ratio": [None, 1.0212, 1.001]}
        ),
        **{f"levels/{name}-n500-s4": rows for name, rows in _levels().groupby("dataset")},
        "runtimes": pd.DataFrame(
            {
                "rule": ["plan", "simulate"],
                "jobs": [2, 6],
                "seconds_total": [3.25, 40.5],
                "seconds_longest": [2.0, 9.0],
                "peak_rss_mb": [None, 140.0],
            }
        ),
        "amplification/claims": _claims().assign(paper="variation"),
        "referee-verdicts": pd.DataFrame(
            {
                "accountant": ["blanket", "blanket", "variation-ratio", "variation-ratio"],
                "case": ["krr-3", "blh", "krr-3", "blh"],
                "kind": ["upper", "upper", "published", "published"],
                "verdict": ["sound so far", "not applicable", "violated", "sound so far"],
                "cells": [10, 0, 10, 9],
                "violated": [0, 0, 3, 0],
                "vacuous": [4, 0, 0, 2],
                "many_epsilon_ratio": [0.999, None, 1.0599, 0.9],
            }
        ),
    }


def read(folder: Path):
    """Return the results and figures of a folder, as the rule of the page reads them."""
    results = read_results(folder, [path.relative_to(folder).as_posix() for path in sorted(folder.rglob("*.csv"))])
    figures = {name: (folder / f"figures/{name}.svg").read_text(encoding="utf-8") for name in FIGURES}
    return SimpleNamespace(results=results, figures=figures)


def _crossed(table, names, rows):
    """Return every row of a table with each of these rows."""
    return table.merge(pd.DataFrame(rows, columns=names), how="cross")


#: Every panel of the tables.
PANELS = _crossed(pd.DataFrame(SETTINGS, columns=["dataset", "n_users", "set_size", "domain_size"]), ["split"], SPLITS)


def _curve(method, share):
    return [(method, "grid", None, m, share * error) for m, error in zip(GRID, ERRORS, strict=True)]


def _errors(source):
    names = ["accounting", "method", "role", "max_messages", "blanket_per_user", "mse_expected", "kind"]
    published = [
        *_curve("segmented", 1.0),
        ("segmented", "best", None, 1.2, 1.1e-3),
        *((method, "best", None, 5.0 * i, (4 - i) * 1e-3) for i, method in enumerate(COMPETITORS)),
    ]
    proven = [
        *_curve("poisson-group", 1.0),
        *_curve("poisson", 0.4),
        *_curve("poisson-copies", 0.3),
        ("poisson-group", "best", None, 1.0, 1e-3),
        ("poisson", "best", None, 1.0, 4e-4),
        ("poisson", "projected", None, 1.0, 3.9e-4),
        *((method, "best", None, 0.0, (5 - i) * 1e-4) for i, method in enumerate(PROVEN)),
        ("poisson-copies", "budget", 8.0, 2.0, 3e-4),
        ("poisson-copies", "budget", 16.0, 2.0, 2.2e-4),
    ]
    rows = [("published", *row, "published") for row in published] + [("proven", *row, "exact") for row in proven]
    table = _crossed(PANELS, names, rows)
    error = table["mse_expected"]
    return table.assign(
        source=table["dataset"].map({"msnbc": source, "synthetic": "synthetic"}),
        repetitions=20,
        messages_per_user=table["blanket_per_user"] + 2.0,
        mse_mean=1.01 * error,
        mse_stderr=0.02 * error,
    )


def _claims():
    verdicts = ("reproduced", "partly reproduced", "not reproduced", "reproduced")
    return pd.DataFrame(
        {
            "id": [f"claim-{i}" for i in range(4)],
            "section": "6.1",
            "statement": [f"Statement {i}: m < {i} & more." for i in range(4)],
            "verdict": verdicts,
            "found": [f"found {i}" for i in range(4)],
            "note": ["", "a reason", "", ""],
            "rule": "A rule.",
        }
    )


def _audit():
    views = [
        ("published", 1.0, None),
        ("blanket-only", 2.00001, None),
        ("others-concentrated", 1.04999, 0.0),
        ("worst-split", 1.9, 5e-5),
    ]
    points = _crossed(PANELS, ["level", "sampling_rate"], [(0.5, 0.3), (2.0, 1.0)])
    table = _crossed(points, ["view", "ratio", "proven_user_delta"], views)
    return table.assign(
        blanket_per_user=1.0,
        optimum=False,
        target_delta=2e-5,
        claimed_user_epsilon=table["level"],
        actual_user_epsilon=table.pop("ratio") * table["level"],
        reachable=table["dataset"] == "msnbc",
    )


def _levels():
    rows = ((0.1, 1.5e-3), (1.0, 1.1e-3), (float("inf"), 1e-3))
    return _crossed(PANELS, ["epsilon_levels", "mse_mean"], rows)


#: The figures of a run with these panels, and some of the other studies.
FIGURES = ("fig2", "fig3", "fig4", "fig5", "fig6", "summary", "fig2-proven", "fig4-proven", "messages-proven")
FIGURES += (
    "audit",
    "limit",
    "levels",
    "influence",
    "pareto-n100000-d32-one",
    "variation1",
    "decomposition8",
    "referee",
)
OUTPUTS = Captions(CONFIG).every(f"figures/{name}" for name in FIGURES)
