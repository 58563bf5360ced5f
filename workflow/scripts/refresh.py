"""Download the real data of every dataset."""

from segshuffle.reproduction.jobs import job
from segshuffle.reproduction.data import refresh

with job(snakemake):
    refresh(snakemake.config["datasets"])
