"""Simulate the proven protocols of one panel; see segshuffle.studies.reproduction.proven."""

import json
from pathlib import Path

from segshuffle.datasets.population import load_population
from segshuffle.pipeline.design import scenario_from
from segshuffle.pipeline.jobs import logged, to_csv, write_atomically
from segshuffle.studies.reproduction.proven import run_tight

with logged(snakemake.log[0]):
    table = run_tight(
        snakemake.params.config,
        scenario_from(snakemake.params.scenario),
        load_population(Path(snakemake.input.population)),
        json.loads(Path(snakemake.input.plans).read_text()),
        n_jobs=snakemake.threads,
    )
    write_atomically(Path(snakemake.output[0]), to_csv(table))
