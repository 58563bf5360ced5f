"""Compute error over messages of our protocol and others, for one size of a collection. Reads no data."""

from segshuffle.pipeline.jobs import job
from segshuffle.pipeline.tables import write_table
from segshuffle.studies.pareto.compute import size_table

with job(snakemake):
    size = {name: int(value) for name, value in snakemake.wildcards.items()}
    write_table(snakemake.output[0], size_table(snakemake.params.settings, **size))
