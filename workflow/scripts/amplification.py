"""Compute the curves of one amplification figure or table; see segshuffle.studies.amplification.compute."""

from pathlib import Path

from segshuffle.pipeline.jobs import logged, to_csv, write_atomically
from segshuffle.studies.amplification.compute import compute

with logged(snakemake.log[0]):
    table = compute(snakemake.wildcards.exhibit, points=snakemake.params.points, n_jobs=snakemake.threads)
    write_atomically(Path(snakemake.output[0]), to_csv(table))
