"""Compute and draw how far liars can shift the estimates of every protocol."""

from pathlib import Path

from segshuffle.pipeline.jobs import job
from segshuffle.pipeline.style import save
from segshuffle.pipeline.tables import read_json, write_table
from segshuffle.studies.assumptions.compute import influence_table
from segshuffle.studies.assumptions.report import draw_influence

with job(snakemake) as edition:
    table = influence_table(
        snakemake.params.settings,
        snakemake.params.panels,
        {Path(path).stem: read_json(path) for path in snakemake.input.published},
        {Path(path).stem: read_json(path) for path in snakemake.input.competitors},
    )
    write_table(snakemake.output.table, table, upper=["item", "all_items"])
    save(draw_influence(table), snakemake.output.drawing, edition)
