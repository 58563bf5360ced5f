"""The README beside the results: what each file is, and each column of the tidy table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from segshuffle.datasets.registry import dataset_label

_FILES = {
    "index.html": "everything on one page: story, verdicts, figures, interactive charts; opens without a network",
    "mse.csv": "one row per (accounting, panel, method, role, max_messages, blanket_per_user): the numbers of "
    "Figures 2-6, with published and with proven accounting",
    "figures/fig2 ... fig6": "Figures 2-6 of the paper as PDF, SVG and PNG",
    "figures/summary": "every competitor's error over ours at our best m, all panels",
    "claims.csv, claims.md": "every statement of section 6 with the value found and a verdict",
    "proven-summary.csv, proven-summary.md": "what proven accounting and copies buy, a row per panel (ratio to the "
    "published protocol, to the best competitor, to a trusted curator)",
    "figures/fig2-proven ... fig6-proven, messages-proven": "the same panels with proven accounting; error "
    "over messages",
    "audit.csv, figures/audit": "what the published guarantee is worth in the server's full view (docs/audit.md)",
    "referee.csv, referee-verdicts.csv, referee.md, figures/referee": "upper bounds of one shuffled message per user, "
    "published and proven, against proven lower bounds (docs/referee.md names them); referee/ has a file per mechanism",
    "amplification/, figures/decomposition*, variation*, personalized4": "curves, tables and verdicts of three papers "
    "on privacy amplification (docs/amplification.md)",
    "levels/, figures/levels": "what protecting the levels themselves costs (docs/levels.md)",
    "limit.csv, figures/limit": "one level: error over a trusted curator's at the same (epsilon, delta)",
    "errors/, panels/": "squared error of every repetition, and the parts of mse.csv, by accounting and panel",
    "audit/": "the parts of audit.csv, a file per population",
    "plans/": "every parameter of every method, by accounting and population; made before any data is looked at",
    "populations/": "the simulated users' items (npz); data/: the data of every dataset and where they came from",
    "config.yaml": "the configuration in effect",
    "provenance.json": "versions, commit, seed, data source, and the SHA-256 of the figures, tables and verdicts (not "
    "of plans, populations, errors, panels/, audit/ and referee/)",
    "runtimes.csv": "seconds and memory per rule, from benchmarks/; logs/ has every job's output",
}


def guide(*, config: Mapping[str, Any], data: Mapping[str, Any], columns: Mapping[str, str]) -> str:
    """Markdown text of the guide; `columns` are those of mse.csv, with their meaning."""
    lines = ["# Results", ""]
    if config["edition"] != "full":
        lines += [f"This is a **{config['edition']}** run: it shows that everything works, and is not a result.", ""]
    for name, source in data.items():
        label = dataset_label(name, "real")
        if source["kind"] == "real":
            lines += [f"{label}: the real data (SHA-256 of the uncompressed file {source['sha256']}).", ""]
        else:
            reason = str(source["reason"]).splitlines()[0]
            lines += [f"{label}: a **stand-in**, not the real data, because {reason}", ""]
    lines += [f"{config['repetitions']} repetitions, seed {config['seed']}.", "", "## Files", ""]
    lines += [f"- `{name}`: {text}" for name, text in _FILES.items()]
    lines += ["", "## Columns of mse.csv", ""]
    lines += [f"- `{name}`: {text}" for name, text in columns.items()]
    return "\n".join(lines) + "\n"
