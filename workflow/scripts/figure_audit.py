"""Join the audits of all settings, and draw them."""

from segshuffle.pipeline.jobs import job
from segshuffle.pipeline.style import save
from segshuffle.pipeline.tables import read_tables, write_table
from segshuffle.studies.audit.report import draw

with job(snakemake) as edition:
    table = read_tables(snakemake.input)
    write_table(snakemake.output.table, table)
    save(draw(table), snakemake.output.drawing, edition)
