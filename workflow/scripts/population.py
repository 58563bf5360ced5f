"""Draw the users of one setting."""

import numpy as np

from segshuffle.reproduction.jobs import job
from segshuffle.datasets.population import save_population
from segshuffle.reproduction.data import population
from segshuffle.reproduction.tables import read_json

with job(snakemake):
    data, source = snakemake.input.get("data"), snakemake.input.get("source")
    users = population(
        np.load(data) if data else None,
        read_json(source) if source else None,
        setting=snakemake.params.setting,
        section=snakemake.params.section,
        seed=snakemake.params.seed,
    )
    save_population(snakemake.output[0], users)
