"""Time and memory of every rule, from Snakemake's benchmark files."""

from pathlib import Path

import pandas as pd


def runtimes(folder: str) -> pd.DataFrame:
    """Return one row per rule: number of jobs, seconds in all and of the longest, peak memory.

    Parameters
    ----------
    folder : str
        ``RULE.tsv`` or ``RULE/CASE.tsv`` files as Snakemake writes them, in folders of any depth.

    Returns
    -------
    DataFrame
        Columns rule, jobs, seconds_total, seconds_longest, peak_rss_mb; NaN memory for jobs too short to be sampled.
    """
    rows = []
    for path in sorted(Path(folder).rglob("*.tsv")):
        job = pd.read_csv(path, sep="\t", na_values=["-", "NA"])
        rule = path.relative_to(folder).with_suffix("").parts[0]
        rows.append({"rule": rule, "seconds": job["s"].max(), "rss": job["max_rss"].max()})
    table = pd.DataFrame(rows, columns=["rule", "seconds", "rss"])
    grouped = table.groupby("rule").agg(
        jobs=("seconds", "size"),
        seconds_total=("seconds", "sum"),
        seconds_longest=("seconds", "max"),
        peak_rss_mb=("rss", "max"),
    )
    return grouped.reset_index().round({"seconds_total": 2, "seconds_longest": 2, "peak_rss_mb": 0})
