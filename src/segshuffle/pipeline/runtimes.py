"""Time and memory of every rule, from Snakemake's benchmark files."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import pandas as pd


def runtimes(folder: Path, jobs: Collection[str] = ()) -> pd.DataFrame:
    """One row per rule: number of jobs, seconds in all and of the longest, peak memory.

    Parameters
    ----------
    folder : Path
        ``rule.tsv`` or ``rule/job.tsv`` files as Snakemake writes them.
    jobs : collection of str, optional
        Names of jobs that belong to the run; others of the same rules are left from an earlier configuration and do
        not count. Of a rule none of whose jobs is named, all count.

    Returns
    -------
    DataFrame
        Columns rule, jobs, seconds_total, seconds_longest, peak_rss_mb; NaN memory for jobs too short to be sampled.
    """
    paths = {path: path.relative_to(folder).parts[0].removesuffix(".tsv") for path in sorted(folder.rglob("*.tsv"))}
    named = {rule for path, rule in paths.items() if path.stem in jobs}
    rows = []
    for path, rule in paths.items():
        if rule in named and path.parent != folder and path.stem not in jobs:
            continue
        job = pd.read_csv(path, sep="\t", na_values=["-", "NA"])
        rows.append({"rule": rule, "seconds": job["s"].max(), "rss": job["max_rss"].max()})
    table = pd.DataFrame(rows, columns=["rule", "seconds", "rss"])
    grouped = table.groupby("rule", sort=True)
    return pd.DataFrame(
        {
            "rule": list(grouped.groups),
            "jobs": grouped.size().to_numpy(),
            "seconds_total": grouped["seconds"].sum().round(2).to_numpy(),
            "seconds_longest": grouped["seconds"].max().round(2).to_numpy(),
            "peak_rss_mb": grouped["rss"].max().round(0).to_numpy(),
        }
    )
