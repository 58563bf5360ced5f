"""Draw one figure of the panels."""

from segshuffle.pipeline.jobs import job
from segshuffle.pipeline.style import save
from segshuffle.pipeline.tables import read_tables
from segshuffle.studies.reproduction.report import draw, rows_shown

with job(snakemake) as edition:
    name = snakemake.wildcards.panels
    accounting = "proven" if name.endswith("-proven") else "published"
    drawing = {"summary": "summary", "messages-proven": "messages"}.get(name, "errors")
    errors = rows_shown(read_tables(snakemake.input.panels), name)
    save(draw(errors, accounting, drawing), snakemake.output, edition)
