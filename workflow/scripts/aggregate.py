"""Join the tables of all panels, and refuse missing numbers."""

from segshuffle.pipeline.jobs import job
from segshuffle.pipeline.tables import read_tables, write_table
from segshuffle.studies.reproduction.compute import checked

with job(snakemake):
    write_table(snakemake.output[0], checked(read_tables(snakemake.input)))
