"""Collect the referee's trials: one table, verdicts, Markdown, figure; see segshuffle.studies.referee."""

from pathlib import Path

import pandas as pd

from segshuffle.pipeline.jobs import logged, to_csv, write_atomically
from segshuffle.pipeline.style import save
from segshuffle.studies.referee.figure import draw
from segshuffle.studies.referee.report import report, tally

with logged(snakemake.log[0]):
    edition = snakemake.params.edition
    table = pd.concat([pd.read_csv(path) for path in snakemake.input.tables], ignore_index=True)
    found = tally(table)
    save(draw(table, edition=edition), snakemake.output.figures)
    write_atomically(Path(snakemake.output.table), to_csv(table))
    write_atomically(Path(snakemake.output.verdicts), to_csv(found))
    write_atomically(Path(snakemake.output.readable), report(found, edition=edition))
