"""Simulate every method of one panel; see segshuffle.studies.reproduction.simulation."""

import json
from pathlib import Path

from segshuffle.datasets.population import load_population
from segshuffle.pipeline.design import scenario_from
from segshuffle.pipeline.jobs import logged, to_csv, write_atomically
from segshuffle.studies.reproduction.aggregate import summarise
from segshuffle.studies.reproduction.simulation import errors_table, simulate_scenario

with logged(snakemake.log[0]):
    scenario, accounting = scenario_from(snakemake.params.scenario), snakemake.wildcards.accounting
    population = load_population(Path(snakemake.input.population))
    plans = json.loads(Path(snakemake.input.plans).read_text())
    found = simulate_scenario(
        snakemake.params.config, scenario, accounting, population, plans, n_jobs=snakemake.threads
    )
    write_atomically(Path(snakemake.output.errors), to_csv(errors_table(found)))
    write_atomically(Path(snakemake.output.table), to_csv(summarise(scenario, accounting, population, found)))
