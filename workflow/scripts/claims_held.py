"""Compare every number that README and docs/ state with the results."""

from pathlib import Path

from segshuffle.reproduction.jobs import job
from segshuffle.files import write_atomically
from segshuffle.reproduction.provenance import data_of
from segshuffle.reproduction.studies.own_claims import check

with job(snakemake):
    output = Path(snakemake.output[0])
    stand_ins = [name for name, source in data_of(snakemake.input.sources).items() if source["kind"] == "stand-in"]
    lines = check(snakemake.params.claims["experiments"], output.parent, stand_ins)
    write_atomically(output, "\n".join(lines) + "\n")
