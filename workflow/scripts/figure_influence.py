"""Tabulate and draw what liars can do; see segshuffle.studies.assumptions.compute."""

import json
from pathlib import Path

import pandas as pd

from segshuffle.pipeline.design import scenario_from
from segshuffle.pipeline.jobs import logged, to_csv, write_atomically
from segshuffle.pipeline.style import save
from segshuffle.studies.assumptions.compute import influence_table
from segshuffle.studies.assumptions.figure import draw_influence

with logged(snakemake.log[0]):
    output, params = snakemake.output, snakemake.params
    panels = [scenario_from(panel) for panel in params.panels]
    plans = {Path(path).stem: json.loads(Path(path).read_text()) for path in snakemake.input.plans}
    table = influence_table(params.config, panels, plans)
    write_atomically(Path(output.table), to_csv(table, upper=["item", "all_items"]))
    # drawn as it is read
    save(draw_influence(pd.read_csv(output.table), edition=params.edition), output.figures)
