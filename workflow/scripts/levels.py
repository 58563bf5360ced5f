"""Compute the error over the privacy of the levels, for one setting."""

from segshuffle.reproduction.jobs import job
from segshuffle.datasets.population import load_population
from segshuffle.reproduction.studies.levels.compute import levels_table
from segshuffle.reproduction.tables import write_table

with job(snakemake):
    users = load_population(snakemake.input.population)
    write_table(snakemake.output[0], levels_table(snakemake.params.settings, snakemake.params.setting, users))
