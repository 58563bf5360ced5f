"""Join the tables of all panels, and refuse missing numbers."""

from segshuffle.reproduction.jobs import job
from segshuffle.reproduction.studies.panels.compute import checked
from segshuffle.reproduction.tables import read_tables, write_table

with job(snakemake):
    write_table(snakemake.output[0], checked(read_tables(snakemake.input)))
