"""Compute error over messages of our protocol and others, for one size of a collection. Reads no data."""

from segshuffle.reproduction.jobs import job
from segshuffle.reproduction.studies.pareto.compute import size_table
from segshuffle.reproduction.tables import write_table

with job(snakemake):
    size = {name: int(value) for name, value in snakemake.wildcards.items()}
    write_table(snakemake.output[0], size_table(snakemake.params.settings, **size))
