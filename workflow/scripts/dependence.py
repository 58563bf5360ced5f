"""Compute and draw bias and error if levels depend on items."""

from pathlib import Path

from segshuffle.pipeline.jobs import job
from segshuffle.datasets.population import load_population
from segshuffle.pipeline.style import save
from segshuffle.pipeline.tables import write_table
from segshuffle.studies.assumptions.compute import dependence_table
from segshuffle.studies.assumptions.report import draw_dependence

with job(snakemake) as edition:
    users = {Path(path).stem: load_population(path) for path in snakemake.input}
    table = dependence_table(snakemake.params.settings, snakemake.params.panels, users)
    write_table(snakemake.output.table, table)
    save(draw_dependence(table), snakemake.output.drawing, edition)
