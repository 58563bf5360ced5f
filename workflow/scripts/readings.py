"""Judge the paper's statements under every reading of what it leaves open."""

from pathlib import Path

import numpy as np

from segshuffle.reproduction.jobs import job
from segshuffle.drawing.style import save
from segshuffle.reproduction.studies.readings.compute import verdicts
from segshuffle.reproduction.studies.readings.report import draw
from segshuffle.reproduction.tables import read_json, read_json_files, write_table

with job(snakemake) as edition:
    data = {}
    for rows, source in zip(snakemake.input.data, snakemake.input.sources, strict=True):
        data[Path(rows).parent.name] = {"data": np.load(rows), "source": read_json(source)}
    plans = read_json_files(snakemake.input.plans)
    table = verdicts(snakemake.params.settings, snakemake.params.statements, data, plans)
    write_table(snakemake.output.table, table)
    save(draw(table), snakemake.output.drawing, edition)
