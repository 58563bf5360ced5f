"""Claims that are the same for every mechanism of a local epsilon; see segshuffle.studies.referee.trial."""

from pathlib import Path

from segshuffle.pipeline.jobs import logged, to_csv, write_atomically
from segshuffle.studies.referee.trial import generic_claims

with logged(snakemake.log[0]):
    config = snakemake.params.config
    table = generic_claims(config, config["referee"]["cases"])
    write_atomically(Path(snakemake.output[0]), to_csv(table, upper=["claimed"]))
