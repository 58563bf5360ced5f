"""Compare the errors of all panels with proven accounting."""

import pandas as pd

from segshuffle.reproduction.jobs import job
from segshuffle.reproduction.studies.panels.compute import proven_summary
from segshuffle.reproduction.studies.panels.report import readable
from segshuffle.reproduction.tables import write_markdown, write_table

with job(snakemake) as edition:
    errors = pd.read_csv(snakemake.input[0])
    summary = proven_summary(errors, snakemake.params.budgets)
    write_table(snakemake.output.table, summary)
    write_markdown(snakemake.output.readable, readable(summary, errors), edition)
