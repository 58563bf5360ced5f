"""Join the audits of all settings, and draw them."""

from segshuffle.reproduction.jobs import job
from segshuffle.drawing.style import save
from segshuffle.reproduction.studies.audit.report import draw
from segshuffle.reproduction.tables import read_tables, write_table

with job(snakemake) as edition:
    table = read_tables(snakemake.input)
    write_table(snakemake.output.table, table)
    save(draw(table), snakemake.output.drawing, edition)
