"""Collect the referee's trials: one table, verdicts, Markdown, figure; see segshuffle.experiment.referee."""

from pathlib import Path

import pandas as pd

from segshuffle.experiment.jobs import logged, to_csv, write_atomically
from segshuffle.experiment.referee.report import report
from segshuffle.experiment.referee.verdict import verdicts
from segshuffle.figures.referee import draw
from segshuffle.figures.style import save

with logged(snakemake.log[0]):
    edition = snakemake.params.edition
    table = pd.concat([pd.read_csv(path) for path in snakemake.input.tables], ignore_index=True)
    found = verdicts(table)
    save(draw(table, edition=edition), snakemake.output.figures)
    write_atomically(Path(snakemake.output.table), to_csv(table))
    write_atomically(Path(snakemake.output.verdicts), to_csv(found))
    write_atomically(Path(snakemake.output.readable), report(found, edition=edition))
