"""Draw one of Figures 2-6; see segshuffle.studies.reproduction.figure."""

from pathlib import Path

import pandas as pd

from segshuffle.pipeline.design import scenario_from
from segshuffle.pipeline.jobs import logged
from segshuffle.pipeline.style import save
from segshuffle.studies.reproduction.aggregate import Folder, summarise_folder
from segshuffle.studies.reproduction.figure import draw

with logged(snakemake.log[0]):
    folder = Folder.of(Path(snakemake.input.errors[0]).parent.parent)
    scenarios = [scenario_from(values) for values in snakemake.params.panels]
    table = pd.concat([summarise_folder(snakemake.params.config, scenario, folder) for scenario in scenarios])
    save(draw(table, scenarios, edition=snakemake.params.edition), snakemake.output)
