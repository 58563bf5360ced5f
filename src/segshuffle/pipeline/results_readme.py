"""The README beside the results: what each file is, and each column of the tidy table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from segshuffle.datasets.registry import dataset_label

_FILES = {
    "index.html": "everything on one page: story, verdicts, figures, interactive charts; opens without a network",
    "mse.csv": "one row per (dataset, n_users, set_size, split, method, blanket_per_user): the numbers of Figures 2-6 "
    "and of the summary",
    "figures/fig2 ... fig6": "Figures 2-6 of the paper as PDF, SVG and PNG",
    "figures/summary": "every competitor's error over ours at our best m, all panels",
    "claims.csv, claims.md": "every statement of section 6 with the value found and a verdict",
    "tight.csv, tight-summary.csv and .md": "the proven protocols: every point, and one row per panel (ratio to the "
    "published protocol, to the best competitor, to a trusted curator)",
    "figures/fig2-tight ... fig6-tight, messages-tight": "the same panels with proven accounting; error over messages",
    "audit.csv, figures/audit": "what the published guarantee is worth in the server's full view (docs/audit.md)",
    "referee.csv, referee-verdicts.csv, referee.md, figures/referee": "upper bounds of one shuffled message per user, "
    "published and proven, against proven lower bounds (docs/referee.md names them); referee/ has a file per mechanism",
    "amplification/, figures/decomposition*, variation*, personalized4": "curves, tables and verdicts of three papers "
    "on privacy amplification (docs/amplification.md)",
    "levels/, figures/levels": "what protecting the levels themselves costs (docs/levels.md)",
    "limit.csv, figures/limit": "one level: error over a trusted curator's at the same (epsilon, delta)",
    "errors/": "squared error of every repetition, a file per panel",
    "tight/, audit/": "the parts of tight.csv, a file per panel, and of audit.csv, a file per population",
    "plans/, plans-tight/": "every parameter of every method, a file per population; made before any data is looked at",
    "populations/": "the simulated users' items (npz); data/: the data of every dataset and where they came from",
    "config.yaml": "the configuration in effect",
    "provenance.json": "versions, commit, seed, data source, and the SHA-256 of the figures, tables and verdicts (not "
    "of plans, populations, errors, tight/, audit/ and referee/)",
    "runtimes.csv": "seconds and memory per rule, from benchmarks/; logs/ has every job's output",
}

_COLUMNS = {
    "dataset, n_users, set_size, domain_size, split": "the panel",
    "method": "segmented is the paper's protocol; the others are its competitors",
    "blanket_per_user": "m, expected blanket messages per user: the grid for segmented, the others' own choice",
    "optimum": "True for the m that optimizeParameter chose (least error bound), beside the grid",
    "messages_per_user": "expected messages per user, blanket and data together",
    "mse_mean, mse_stderr": "mean over repetitions of sum_j (estimate_j - w_j)^2, w the sample's own frequencies, "
    "and its standard error (kind: Monte Carlo)",
    "mse_expected": "closed form of the same expectation, levels assigned at random (kind: exact)",
    "mse_bound": "the bound that the method optimises (segmented: the paper's bound of section 5.2)",
    "repetitions": "number of repetitions behind the mean",
    "kind": "kind of the privacy numbers behind the row: published = as the paper states, its proof has a gap; "
    "exact = the local guarantee of the mechanism itself",
    "source": "real, stand-in or synthetic data",
    "parameters": "the plan's own parameters, JSON",
}


def guide(*, config: Mapping[str, Any], data: Mapping[str, Any]) -> str:
    """Markdown text of the guide."""
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
    lines += [f"- `{name}`: {text}" for name, text in _COLUMNS.items()]
    return "\n".join(lines) + "\n"
