"""Hold all bounds against the proven lower bounds of one case; see segshuffle.studies.referee."""

from pathlib import Path

import pandas as pd

from segshuffle.pipeline.jobs import logged, to_csv, write_atomically
from segshuffle.studies.referee.budgets import CASE, try_budgets
from segshuffle.studies.referee.trial import try_case

with logged(snakemake.log[0]):
    config, case = snakemake.params.config, snakemake.wildcards.case
    table = try_budgets(config) if case == CASE else try_case(config, case, pd.read_csv(snakemake.input.generic[0]))
    write_atomically(Path(snakemake.output[0]), to_csv(table, lower=["proven"], upper=["claimed"]))
