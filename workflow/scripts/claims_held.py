"""Compare every number that README and docs/ state with the results."""

from pathlib import Path

from segshuffle.pipeline.jobs import job
from segshuffle.files import write_atomically
from segshuffle.pipeline.tables import read_yaml
from segshuffle.studies.held import check

with job(snakemake):
    output = Path(snakemake.output[0])
    lines = check(read_yaml(snakemake.input.claims)["experiments"], output.parent)
    write_atomically(output, "\n".join(lines) + "\n")
