"""Time and memory of every rule, from Snakemake's benchmark files."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd


def runtimes(finished: Sequence[str] = (), *, folder: str, cases: Mapping[str, Sequence[str]]) -> pd.DataFrame:
    """Return one row per rule: number of jobs, seconds in all and of the longest, peak memory.

    Parameters
    ----------
    finished : sequence of str
        Files that must be there first.
    folder : str
        ``RULE.tsv`` or ``RULE/CASE.tsv`` files as Snakemake writes them.
    cases : mapping
        Rule -> names of its jobs, "" for a single one. Files of an earlier configuration do not count.

    Returns
    -------
    DataFrame
        Columns rule, jobs, seconds_total, seconds_longest, peak_rss_mb; NaN memory for jobs too short to be sampled.
    """
    paths = [(rule, Path(folder, rule, case).with_suffix(".tsv")) for rule in cases for case in cases[rule]]
    rows = []
    for rule, path in paths:
        if path.is_file():
            job = pd.read_csv(path, sep="\t", na_values=["-", "NA"])
            rows.append({"rule": rule, "seconds": job["s"].max(), "rss": job["max_rss"].max()})
    table = pd.DataFrame(rows, columns=["rule", "seconds", "rss"])
    grouped = table.groupby("rule").agg(
        jobs=("seconds", "size"),
        seconds_total=("seconds", "sum"),
        seconds_longest=("seconds", "max"),
        peak_rss_mb=("rss", "max"),
    )
    return grouped.reset_index().round({"seconds_total": 2, "seconds_longest": 2, "peak_rss_mb": 0})
