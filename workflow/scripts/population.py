"""Draw the users of one setting; see segshuffle.datasets.populations."""

import json
from pathlib import Path

import numpy as np

from segshuffle.datasets.fetch import SessionsSource
from segshuffle.datasets.population import save_population
from segshuffle.datasets.populations import msnbc_population, uniform_population
from segshuffle.pipeline.design import Setting
from segshuffle.pipeline.jobs import logged
from segshuffle.pipeline.seeds import stream

with logged(snakemake.log[0]):
    setting = Setting(**snakemake.params.setting)
    rng = stream(snakemake.params.seed, "population", setting.id)
    if setting.dataset == "msnbc":
        source = SessionsSource.from_json(json.loads(Path(snakemake.input.source).read_text()))
        population = msnbc_population(
            np.load(snakemake.input.sessions),
            n_users=setting.n_users,
            set_size=setting.set_size,
            padding=snakemake.params.padding,
            rng=rng,
            label=source.label,
            source=source.kind,
        )
    else:
        population = uniform_population(
            domain_size=setting.domain_size, set_size=setting.set_size, n_users=setting.n_users, rng=rng
        )
    save_population(Path(snakemake.output[0]), population)
    print(f"{setting.id}: {population.n_users} users, {population.source}")
