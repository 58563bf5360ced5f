"""Error over the privacy of the levels for one setting; see segshuffle.studies.levels.compute."""

from pathlib import Path

from segshuffle.datasets.population import load_population
from segshuffle.pipeline.design import Setting
from segshuffle.pipeline.jobs import logged, to_csv, write_atomically
from segshuffle.studies.levels.compute import levels_table

with logged(snakemake.log[0]):
    table = levels_table(
        snakemake.params.config,
        Setting(**snakemake.params.setting),
        load_population(Path(snakemake.input.population)),
        n_jobs=snakemake.threads,
    )
    write_atomically(Path(snakemake.output[0]), to_csv(table))
