"""Compute every curve of one figure or table of the amplification papers. Sees no data."""

from segshuffle.reproduction.jobs import job
from segshuffle.reproduction.studies.amplification.compute import compute
from segshuffle.reproduction.tables import write_table

with job(snakemake):
    write_table(snakemake.output[0], compute(snakemake.wildcards.exhibit, points=snakemake.params.points))
