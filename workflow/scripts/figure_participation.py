"""Tabulate and draw what honest users are worth; see segshuffle.studies.assumptions.compute."""

from pathlib import Path

import pandas as pd

from segshuffle.pipeline.design import scenario_from
from segshuffle.pipeline.jobs import logged, to_csv, write_atomically
from segshuffle.pipeline.style import save
from segshuffle.studies.assumptions.compute import epsilon_table, error_table
from segshuffle.studies.assumptions.figure import draw_participation

with logged(snakemake.log[0]):
    output, params = snakemake.output, snakemake.params
    panels = [scenario_from(panel) for panel in params.panels]
    write_atomically(Path(output.epsilons), to_csv(epsilon_table(params.config, panels), upper=["epsilon"]))
    write_atomically(Path(output.errors), to_csv(error_table(params.config, panels)))
    # drawn as it is read
    tables = [pd.read_csv(path) for path in (output.epsilons, output.errors)]
    save(draw_participation(*tables, edition=params.edition), output.figures)
