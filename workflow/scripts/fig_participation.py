"""Compute and draw what fewer honest users mean for epsilon and error."""

from segshuffle.reproduction.jobs import job
from segshuffle.drawing.style import save
from segshuffle.reproduction.studies.assumptions.compute import epsilon_table, error_table
from segshuffle.reproduction.studies.assumptions.report import draw_participation
from segshuffle.reproduction.tables import write_table

with job(snakemake) as edition:
    epsilons = epsilon_table(snakemake.params.settings, snakemake.params.panels)
    write_table(snakemake.output.epsilons, epsilons, upper=["epsilon"])
    errors = error_table(snakemake.params.settings, snakemake.params.panels)
    write_table(snakemake.output.errors, errors)
    save(draw_participation(epsilons, errors), snakemake.output.drawing, edition)
