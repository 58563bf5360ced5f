"""Compute and draw what fewer honest users mean for epsilon and error."""

from segshuffle.pipeline.jobs import job
from segshuffle.pipeline.style import save
from segshuffle.pipeline.tables import write_table
from segshuffle.studies.assumptions.compute import epsilon_table, error_table
from segshuffle.studies.assumptions.report import draw_participation

with job(snakemake) as edition:
    epsilons = epsilon_table(snakemake.params.settings, snakemake.params.panels)
    write_table(snakemake.output.epsilons, epsilons, upper=["epsilon"])
    errors = error_table(snakemake.params.settings, snakemake.params.panels)
    write_table(snakemake.output.errors, errors)
    save(draw_participation(epsilons, errors), snakemake.output.drawing, edition)
