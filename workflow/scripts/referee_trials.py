"""Compare all bounds of one message with proven lower bounds. Sees no data."""

from segshuffle.pipeline.jobs import job
from segshuffle.pipeline.tables import write_table
from segshuffle.studies.referee.compute import trials

with job(snakemake):
    write_table(snakemake.output[0], trials(snakemake.params.settings), lower=["proven"], upper=["claimed"])
