"""Tabulate and draw what several rounds cost; see segshuffle.studies.assumptions.compute."""

from pathlib import Path

import pandas as pd

from segshuffle.pipeline.design import scenario_from
from segshuffle.pipeline.jobs import logged, to_csv, write_atomically
from segshuffle.pipeline.style import save
from segshuffle.studies.assumptions.compute import rounds_table
from segshuffle.studies.assumptions.figure import draw_rounds

with logged(snakemake.log[0]):
    params = snakemake.params
    panels = [scenario_from(panel) for panel in params.panels]
    write_atomically(Path(snakemake.output.table), to_csv(rounds_table(params.config, panels)))
    # drawn as it is read
    save(draw_rounds(pd.read_csv(snakemake.output.table), edition=params.edition), snakemake.output.figures)
