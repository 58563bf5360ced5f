"""One table of all proven protocols, and a summary; see segshuffle.studies.reproduction.proven_summary."""

from pathlib import Path

import pandas as pd

from segshuffle.pipeline.jobs import logged, to_csv, write_atomically
from segshuffle.studies.reproduction.proven_summary import summarise_tight, summary_markdown

with logged(snakemake.log[0]):
    tight = pd.concat([pd.read_csv(path) for path in snakemake.input.tables], ignore_index=True)
    budgets = [float(budget) for budget in snakemake.params.budgets]
    summary = summarise_tight(tight, pd.read_csv(snakemake.input.published[0]), budgets)
    sources = dict(zip(tight["dataset"], tight["source"], strict=True))
    text = summary_markdown(summary, budgets, edition=snakemake.params.edition, sources=sources)
    write_atomically(Path(snakemake.output.table), to_csv(tight))
    write_atomically(Path(snakemake.output.summary), to_csv(summary))
    write_atomically(Path(snakemake.output.readable), text)
    print(text)
