"""Give a verdict per accountant and mechanism, and draw them."""

import pandas as pd

from segshuffle.reproduction.jobs import job
from segshuffle.drawing.style import save
from segshuffle.reproduction.studies.referee.report import draw, report, tally
from segshuffle.reproduction.tables import write_markdown, write_table

with job(snakemake) as edition:
    table = pd.read_csv(snakemake.input[0])
    save(draw(table), snakemake.output.drawing, edition)
    verdicts = tally(table)
    write_table(snakemake.output.table, verdicts)
    write_markdown(snakemake.output.readable, report(verdicts), edition)
