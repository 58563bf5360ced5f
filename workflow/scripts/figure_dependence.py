"""Tabulate and draw what levels that depend on items do; see segshuffle.studies.assumptions.compute."""

from pathlib import Path

import pandas as pd

from segshuffle.datasets.population import load_population
from segshuffle.pipeline.design import scenario_from
from segshuffle.pipeline.jobs import logged, to_csv, write_atomically
from segshuffle.pipeline.style import save
from segshuffle.studies.assumptions.compute import dependence_table
from segshuffle.studies.assumptions.figure import draw_dependence

with logged(snakemake.log[0]):
    params = snakemake.params
    panels = [
        (scenario_from(panel), load_population(Path(path)))
        for panel, path in zip(params.panels, snakemake.input.populations, strict=True)
    ]
    write_atomically(Path(snakemake.output.table), to_csv(dependence_table(params.config, panels)))
    # drawn as it is read
    save(draw_dependence(pd.read_csv(snakemake.output.table), edition=params.edition), snakemake.output.figures)
