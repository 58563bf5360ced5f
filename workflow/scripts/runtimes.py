"""Collect the benchmarks of all jobs; see segshuffle.experiment.runtimes."""

from pathlib import Path

from segshuffle.experiment.aggregate import to_csv
from segshuffle.experiment.jobs import logged, write_atomically
from segshuffle.experiment.runtimes import runtimes

with logged(snakemake.log[0]):
    table = runtimes(Path(snakemake.params.folder))
    write_atomically(Path(snakemake.output[0]), to_csv(table))
    print(table.to_string(index=False))
