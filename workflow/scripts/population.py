"""Draw the users of one setting."""

import numpy as np

from segshuffle.reproduction.jobs import job
from segshuffle.datasets.population import save_population
from segshuffle.reproduction.data import population
from segshuffle.reproduction.tables import read_json

with job(snakemake):
    inputs = snakemake.input
    # a generator needs no data
    known = {"data": np.load(inputs.data), "source": read_json(inputs.source)} if inputs else {}
    users = population(
        **known,
        setting=snakemake.params.setting,
        section=snakemake.params.section,
        seed=snakemake.params.seed,
    )
    save_population(snakemake.output[0], users)
