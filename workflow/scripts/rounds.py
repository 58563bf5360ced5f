"""Compute and draw the error of several collections that share one guarantee."""

from segshuffle.pipeline.jobs import job
from segshuffle.pipeline.style import save
from segshuffle.pipeline.tables import write_table
from segshuffle.studies.assumptions.compute import rounds_table
from segshuffle.studies.assumptions.report import draw_rounds

with job(snakemake) as edition:
    table = rounds_table(snakemake.params.settings, snakemake.params.panels)
    write_table(snakemake.output.table, table)
    save(draw_rounds(table), snakemake.output.drawing, edition)
