"""Obtain the data of one dataset: a given file, the download, or the labelled stand-in."""

import os
from pathlib import Path

from segshuffle.reproduction.jobs import job
from segshuffle.datasets.registry import dataset_of, given_path
from segshuffle.files import write_atomically
from segshuffle.reproduction.data import obtain, save_rows
from segshuffle.reproduction.tables import write_json

with job(snakemake):
    name = snakemake.wildcards.dataset
    rows, source = obtain(
        given_path(name, snakemake.config["datasets"][name], os.environ),
        name=name,
        section=snakemake.params.section,
        seed=snakemake.params.seed,
        earlier=Path(snakemake.output.source),
    )
    save_rows(snakemake.output.data, rows)
    write_json(snakemake.output.source, source)
    write_atomically(snakemake.output.licence, f"{dataset_of(name).licence}\n")
