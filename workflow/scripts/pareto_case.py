"""Error over messages of every protocol for one size of a collection; see segshuffle.studies.pareto.compute."""

from pathlib import Path

from segshuffle.pipeline.jobs import logged, to_csv, write_atomically
from segshuffle.studies.pareto.compute import cases, table

with logged(snakemake.log[0]):
    config, sizes = snakemake.params.config, snakemake.wildcards
    chosen = cases(config["pareto"], int(sizes.n_users), int(sizes.domain_size), int(sizes.set_size))
    write_atomically(Path(snakemake.output[0]), to_csv(table(config, chosen)))
