"""Draw one figure of the panels."""

from segshuffle.reproduction.jobs import job
from segshuffle.drawing.style import save
from segshuffle.reproduction.studies.panels.report import draw
from segshuffle.reproduction.tables import read_tables

with job(snakemake) as edition:
    errors = read_tables(snakemake.input.panels)
    save(draw(errors, snakemake.wildcards.panels), snakemake.output, edition)
