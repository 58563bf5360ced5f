"""Compute and draw bias and error if levels depend on items."""

from pathlib import Path

from segshuffle.reproduction.jobs import job
from segshuffle.datasets.population import load_population
from segshuffle.drawing.style import save
from segshuffle.reproduction.studies.assumptions.compute import dependence_table
from segshuffle.reproduction.studies.assumptions.report import draw_dependence
from segshuffle.reproduction.tables import write_table

with job(snakemake) as edition:
    users = {Path(path).stem: load_population(path) for path in snakemake.input}
    table = dependence_table(snakemake.params.settings, snakemake.params.panels, users)
    write_table(snakemake.output.table, table)
    save(draw_dependence(table), snakemake.output.drawing, edition)
