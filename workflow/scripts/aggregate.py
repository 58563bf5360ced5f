"""Put the tables of all panels into one; see segshuffle.studies.reproduction.aggregate."""

from pathlib import Path

import pandas as pd

from segshuffle.pipeline.jobs import logged, to_csv, write_atomically
from segshuffle.studies.reproduction.aggregate import collect

with logged(snakemake.log[0]):
    table = collect([pd.read_csv(path) for path in snakemake.input.tables])
    write_atomically(Path(snakemake.output[0]), to_csv(table))
    print(f"{len(table)} rows from {len(snakemake.input.tables)} tables")
