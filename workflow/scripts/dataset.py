"""Obtain the data of one dataset: a given file, the download, or the labelled stand-in."""

from segshuffle.pipeline.jobs import job
from segshuffle.datasets.registry import dataset_of
from segshuffle.files import write_atomically
from segshuffle.pipeline.data import obtain, save_rows
from segshuffle.pipeline.tables import write_json

with job(snakemake):
    rows, source = obtain(
        snakemake.input.get("given", []),
        name=snakemake.wildcards.dataset,
        section=snakemake.params.section,
        seed=snakemake.params.seed,
    )
    save_rows(snakemake.output.data, rows)
    write_json(snakemake.output.source, source)
    licence = dataset_of(snakemake.wildcards.dataset).licence
    write_atomically(snakemake.output.licence, f"{licence}\n")
