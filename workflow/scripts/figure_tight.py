"""Draw a figure of the proven protocols; see segshuffle.studies.reproduction.figure_proven."""

import pandas as pd

from segshuffle.pipeline.design import scenario_from
from segshuffle.pipeline.jobs import logged
from segshuffle.pipeline.style import save
from segshuffle.studies.reproduction.figure_proven import draw, draw_messages

with logged(snakemake.log[0]):
    scenarios = [scenario_from(values) for values in snakemake.params.panels]
    tight, edition = pd.read_csv(snakemake.input.table), snakemake.params.edition
    if snakemake.params.messages:
        figure = draw_messages(tight, scenarios, edition=edition)
    else:
        figure = draw(tight, pd.read_csv(snakemake.input.published[0]), scenarios, edition=edition)
    save(figure, snakemake.output)
