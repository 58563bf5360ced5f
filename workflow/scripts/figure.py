"""Draw one figure of the panels; see segshuffle.studies.reproduction.figure."""

import pandas as pd

from segshuffle.pipeline.design import scenario_from
from segshuffle.pipeline.jobs import logged
from segshuffle.pipeline.style import save
from segshuffle.studies.reproduction.figure import DRAWINGS

with logged(snakemake.log[0]):
    given = snakemake.params
    panels = [scenario_from(values) for values in given.panels]
    table = pd.concat([pd.read_csv(path) for path in snakemake.input.tables], ignore_index=True)
    save(DRAWINGS[given.drawing](table, panels, given.accounting, edition=given.edition), snakemake.output)
