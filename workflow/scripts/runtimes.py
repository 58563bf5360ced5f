"""Tabulate how long every rule took."""

from segshuffle.pipeline.jobs import job
from segshuffle.pipeline.runtimes import runtimes
from segshuffle.pipeline.tables import write_table

with job(snakemake):
    write_table(snakemake.output[0], runtimes(snakemake.params.folder))
