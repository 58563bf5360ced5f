"""Draw the users of one setting; see segshuffle.datasets."""

import json
from pathlib import Path

import numpy as np

from segshuffle.datasets.population import save_population
from segshuffle.datasets.registry import dataset_of
from segshuffle.datasets.source import DataSource
from segshuffle.pipeline.design import Setting
from segshuffle.pipeline.jobs import logged
from segshuffle.pipeline.seeds import stream

with logged(snakemake.log[0]):
    setting = Setting(**snakemake.params.setting)
    fetched = "data" in snakemake.input.keys()  # noqa: SIM118  it is no dictionary
    population = dataset_of(setting.dataset).population(
        section=snakemake.params.section,
        n_users=setting.n_users,
        set_size=setting.set_size,
        rng=stream(snakemake.params.seed, "population", setting.id),
        data=np.load(snakemake.input.data) if fetched else None,
        source=DataSource.from_json(json.loads(Path(snakemake.input.source).read_text())) if fetched else None,
    )
    save_population(Path(snakemake.output[0]), population)
    print(f"{setting.id}: {population.n_users} users, {population.source}")
