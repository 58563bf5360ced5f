"""Compare all bounds of one message with proven lower bounds. Sees no data."""

from segshuffle.reproduction.jobs import job
from segshuffle.reproduction.studies.referee.compute import trials
from segshuffle.reproduction.tables import write_table

with job(snakemake):
    write_table(snakemake.output[0], trials(snakemake.params.settings), lower=["proven"], upper=["claimed"])
