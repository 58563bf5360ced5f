"""Compute and draw how far liars can shift the estimates of every protocol."""

from pathlib import Path

from segshuffle.reproduction.jobs import job
from segshuffle.drawing.style import save
from segshuffle.reproduction.studies.assumptions.compute import influence_table
from segshuffle.reproduction.studies.assumptions.report import draw_influence
from segshuffle.reproduction.tables import read_json, write_table

with job(snakemake) as edition:
    table = influence_table(
        snakemake.params.settings,
        snakemake.params.panels,
        {Path(path).stem: read_json(path) for path in snakemake.input.published},
        {Path(path).stem: read_json(path) for path in snakemake.input.competitors},
    )
    write_table(snakemake.output.table, table, upper=["item", "all_items"])
    save(draw_influence(table), snakemake.output.drawing, edition)
