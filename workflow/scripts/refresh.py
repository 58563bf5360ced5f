"""Download the real data of every dataset."""

from segshuffle.pipeline.jobs import job
from segshuffle.pipeline.data import refresh

with job(snakemake):
    refresh(snakemake.config["datasets"])
