"""Tabulate how long every rule took."""

from segshuffle.reproduction.jobs import job
from segshuffle.reproduction.runtimes import runtimes
from segshuffle.reproduction.tables import write_table

with job(snakemake):
    write_table(snakemake.output[0], runtimes(snakemake.params.folder))
