"""Compute and draw how far liars can shift the estimates of every protocol."""

from segshuffle.reproduction.jobs import job
from segshuffle.drawing.style import save
from segshuffle.reproduction.studies.assumptions.compute import influence_table
from segshuffle.reproduction.studies.assumptions.report import draw_influence
from segshuffle.reproduction.tables import read_json_files, write_table

with job(snakemake) as edition:
    table = influence_table(
        snakemake.params.settings,
        snakemake.params.panels,
        read_json_files(snakemake.input.published),
        read_json_files(snakemake.input.competitors),
    )
    write_table(snakemake.output.table, table, upper=["item", "all_items"])
    save(draw_influence(table), snakemake.output.drawing, edition)
