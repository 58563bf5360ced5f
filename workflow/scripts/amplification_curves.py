"""Compute every curve of one figure or table of the amplification papers. Sees no data."""

from segshuffle.pipeline.jobs import job
from segshuffle.pipeline.tables import write_table
from segshuffle.studies.amplification.compute import compute

with job(snakemake):
    write_table(snakemake.output[0], compute(snakemake.wildcards.exhibit, points=snakemake.params.points))
