"""Collect the errors of all panels into one tidy table; see segshuffle.studies.reproduction.aggregate."""

from pathlib import Path

from segshuffle.pipeline.design import scenario_from
from segshuffle.pipeline.jobs import logged, to_csv, write_atomically
from segshuffle.studies.reproduction.aggregate import Folder, collect, summarise_folder

with logged(snakemake.log[0]):
    folder = Folder.of(Path(snakemake.output[0]).parent)
    scenarios = [scenario_from(values) for values in snakemake.params.scenarios.values()]
    table = collect([summarise_folder(snakemake.params.config, scenario, folder) for scenario in scenarios])
    write_atomically(Path(snakemake.output[0]), to_csv(table))
    print(f"{len(table)} rows from {len(scenarios)} panels")
