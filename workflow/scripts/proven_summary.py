"""What proven accounting and copies buy, a row per panel; see segshuffle.studies.reproduction.summary."""

from pathlib import Path

import pandas as pd

from segshuffle.pipeline.jobs import logged, to_csv, write_atomically
from segshuffle.studies.reproduction.summary import proven_summary, summary_markdown

with logged(snakemake.log[0]):
    table = pd.read_csv(snakemake.input.table[0])
    budgets = [float(budget) for budget in snakemake.params.budgets]
    summary = proven_summary(table, budgets)
    sources = dict(zip(table["dataset"], table["source"], strict=True))
    text = summary_markdown(summary, budgets, edition=snakemake.params.edition, sources=sources)
    write_atomically(Path(snakemake.output.table), to_csv(summary))
    write_atomically(Path(snakemake.output.readable), text)
    print(text)
