"""Compare the errors of all panels with proven accounting."""

import pandas as pd

from segshuffle.pipeline.jobs import job
from segshuffle.pipeline.tables import write_markdown, write_table
from segshuffle.studies.reproduction.compute import proven_summary
from segshuffle.studies.reproduction.report import readable

with job(snakemake) as edition:
    errors = pd.read_csv(snakemake.input[0])
    summary = proven_summary(errors, [float(budget) for budget in snakemake.params.budgets])
    write_table(snakemake.output.table, summary)
    write_markdown(snakemake.output.readable, readable(summary, errors), edition)
