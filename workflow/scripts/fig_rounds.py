"""Compute and draw the error of several collections that share one guarantee."""

from segshuffle.reproduction.jobs import job
from segshuffle.drawing.style import save
from segshuffle.reproduction.studies.assumptions.compute import rounds_table
from segshuffle.reproduction.studies.assumptions.report import draw_rounds
from segshuffle.reproduction.tables import write_table

with job(snakemake) as edition:
    table = rounds_table(snakemake.params.settings, snakemake.params.panels)
    write_table(snakemake.output.table, table)
    save(draw_rounds(table), snakemake.output.drawing, edition)
