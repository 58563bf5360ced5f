"""Collect the benchmarks of all jobs; see segshuffle.pipeline.runtimes."""

from pathlib import Path

from segshuffle.pipeline.jobs import logged, to_csv, write_atomically
from segshuffle.pipeline.runtimes import runtimes

with logged(snakemake.log[0]):
    table = runtimes(Path(snakemake.params.folder), jobs=snakemake.params.jobs)
    write_atomically(Path(snakemake.output[0]), to_csv(table))
    print(table.to_string(index=False))
