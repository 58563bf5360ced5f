"""Simulate every method, m and repetition of one population."""

from segshuffle.reproduction.jobs import job
from segshuffle.datasets.population import load_population
from segshuffle.reproduction.studies.panels.compute import setting_table
from segshuffle.reproduction.tables import read_json, write_table

with job(snakemake):
    table = setting_table(
        load_population(snakemake.input.population),
        *map(read_json, snakemake.input.plans),
        config=snakemake.params.settings,
        setting=snakemake.params.setting,
        accounting=snakemake.wildcards.accounting,
    )
    write_table(snakemake.output[0], table)
