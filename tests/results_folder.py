"""A results folder in moments: made-up numbers in the columns of a run, for tests of what is made from it."""

import json
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import yaml

from segshuffle.page.results import read_results
from segshuffle.pipeline import manifest
from segshuffle.pipeline.design import Scenario, Setting
from segshuffle.studies.reproduction.compute import proven_summary

GRID = (0.1, 0.3, 1.0, 3.0, 10.0)
SPLITS = ("S1", "S2", "S3")
SETTINGS = (("msnbc", 500, 4, 17), ("synthetic", 500, 4, 32))
#: Every panel.
SCENARIOS = [
    Scenario(Setting(dataset, n_users, set_size, domain_size), split)
    for dataset, n_users, set_size, domain_size in SETTINGS
    for split in SPLITS
]
#: As shipped.
CONFIG = yaml.safe_load((Path(__file__).parents[1] / "config/config.yaml").read_text(encoding="utf-8"))
#: Everything that a run with these panels makes.
OUTPUTS = tuple(manifest.outputs(manifest.targets(CONFIG, SCENARIOS)).values())
COMPETITORS = ("subexp-shuffle", "mm", "weighted-sepmm")
PROVEN = ("mm", "inverse-variance-sepmm", "curator-uniform", "curator-weighted")
#: Closed-form errors of the paper's protocol over GRID; its least is at m = 1.
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
    errors = pd.DataFrame([*_published(source), *_proven(source)])
    tables = {
        "mse": errors,
        "proven-summary": proven_summary(errors, [8.0, 16.0]),
        "claims": _claims(),
        "audit": _audit(),
        "limit": pd.DataFrame(
            {"set_size": 4, "delta": 2e-5, "blanket_mean": [10.0, 100.0, 1000.0], "error_ratio": [None, 1.0212, 1.001]}
        ),
        "levels/all": _levels(),
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
    (folder / "figures").mkdir(parents=True)
    for name, table in tables.items():
        path = folder / f"{name}.csv"
        path.parent.mkdir(exist_ok=True)
        table.to_csv(path, index=False)
    for figure in (output for output in OUTPUTS if output.is_figure):
        (folder / figure.shown).write_text(SVG.format(name=figure.name), encoding="utf-8")
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


def read(folder: Path):
    """The results and figures of a folder, as the rule reads them."""
    results = read_results(folder, [path.relative_to(folder).as_posix() for path in sorted(folder.rglob("*.csv"))])
    figures = {path.stem: path.read_text(encoding="utf-8") for path in sorted((folder / "figures").glob("*.svg"))}
    return SimpleNamespace(results=results, figures=figures)


def _heads(source):
    for dataset, n_users, set_size, domain_size in SETTINGS:
        for split in SPLITS:
            yield {
                "dataset": dataset,
                "n_users": n_users,
                "set_size": set_size,
                "domain_size": domain_size,
                "split": split,
                "source": source if dataset == "msnbc" else "synthetic",
                "repetitions": 20,
            }


def _row(head, accounting, method, role, m, error, kind, budget=None):
    return {
        "accounting": accounting,
        **head,
        "method": method,
        "role": role,
        "max_messages": budget,
        "blanket_per_user": m,
        "messages_per_user": m + 2.0,
        "mse_mean": 1.01 * error,
        "mse_stderr": 0.02 * error,
        "mse_expected": error,
        "kind": kind,
    }


def _published(source):
    side = "published"
    for head in _heads(source):
        for m, error in zip(GRID, ERRORS, strict=True):
            yield _row(head, side, "segmented", "grid", m, error, side)
        yield _row(head, side, "segmented", "best", 1.2, 1.1e-3, side)
        for i, method in enumerate(COMPETITORS):
            yield _row(head, side, method, "best", 5.0 * i, (4 - i) * 1e-3, side)


def _proven(source):
    side = "proven"
    for head in _heads(source):
        for share, method in ((1.0, "poisson-group"), (0.4, "poisson"), (0.3, "poisson-copies")):
            for m, error in zip(GRID, ERRORS, strict=True):
                yield _row(head, side, method, "grid", m, share * error, "exact")
        for share, method in ((1.0, "poisson-group"), (0.4, "poisson")):
            yield _row(head, side, method, "best", 1.0, share * 1e-3, "exact")
        yield _row(head, side, "poisson", "projected", 1.0, 3.9e-4, "exact")
        for i, method in enumerate(PROVEN):
            yield _row(head, side, method, "best", 0.0, (5 - i) * 1e-4, "exact")
        for budget, error in ((8.0, 3e-4), (16.0, 2.2e-4)):
            yield _row(head, side, "poisson-copies", "budget", 2.0, error, "exact", budget)


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
    rows = []
    # view -> (actual over claimed, proven delta)
    views = {
        "published": (1.0, None),
        "blanket-only": (2.00001, None),
        "others-concentrated": (1.04999, 0.0),
        "worst-split": (1.9, 5e-5),
    }
    for dataset, n_users, set_size, domain_size in SETTINGS:
        for split in SPLITS:
            for level in (0.5, 2.0):
                for view, (ratio, proven) in views.items():
                    rows.append(
                        {
                            "dataset": dataset,
                            "n_users": n_users,
                            "set_size": set_size,
                            "domain_size": domain_size,
                            "split": split,
                            "blanket_per_user": 1.0,
                            "optimum": False,
                            "level": level,
                            "sampling_rate": 1.0 if level == 2.0 else 0.3,
                            "view": view,
                            "target_delta": 2e-5,
                            "claimed_user_epsilon": level,
                            "actual_user_epsilon": ratio * level,
                            "proven_user_delta": proven,
                            "reachable": dataset == "msnbc",
                        }
                    )
    return pd.DataFrame(rows)


def _levels():
    rows = [
        {
            **{key: head[key] for key in ("dataset", "n_users", "set_size", "split")},
            "epsilon_levels": epsilon,
            "mse_mean": error,
        }
        for head in _heads("real")
        for epsilon, error in ((0.1, 1.5e-3), (1.0, 1.1e-3), (None, 1e-3))
    ]
    return pd.DataFrame(rows)
