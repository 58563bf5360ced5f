"""Simulate every method of one panel; see segshuffle.experiment.run."""

import json
from pathlib import Path

from segshuffle.datasets.population import load_population
from segshuffle.experiment.design import scenario_from
from segshuffle.experiment.jobs import logged, to_csv, write_atomically
from segshuffle.experiment.run import simulate_scenario

with logged(snakemake.log[0]):
    errors = simulate_scenario(
        snakemake.params.config,
        scenario_from(snakemake.params.scenario),
        load_population(Path(snakemake.input.population)),
        json.loads(Path(snakemake.input.plans).read_text()),
        n_jobs=snakemake.threads,
    )
    write_atomically(Path(snakemake.output[0]), to_csv(errors))
