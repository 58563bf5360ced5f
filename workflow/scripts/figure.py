"""Draw one of Figures 2-6; see segshuffle.figures.mse."""

from pathlib import Path

import pandas as pd

from segshuffle.experiment.aggregate import Folder, summarise_folder
from segshuffle.experiment.design import scenario_from
from segshuffle.experiment.jobs import logged
from segshuffle.figures.mse import draw
from segshuffle.figures.style import save

with logged(snakemake.log[0]):
    folder = Folder.of(Path(snakemake.input.errors[0]).parent.parent)
    scenarios = [scenario_from(values) for values in snakemake.params.panels]
    table = pd.concat([summarise_folder(snakemake.params.config, scenario, folder) for scenario in scenarios])
    save(draw(table, scenarios, edition=snakemake.params.edition), snakemake.output)
