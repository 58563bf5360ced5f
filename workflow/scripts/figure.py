"""Draw one figure of the panels."""

from segshuffle.reproduction.jobs import job
from segshuffle.drawing.style import save
from segshuffle.reproduction.studies.panels.report import draw, rows_shown
from segshuffle.reproduction.tables import read_tables

with job(snakemake) as edition:
    name = snakemake.wildcards.panels
    accounting = "proven" if name.endswith("-proven") else "published"
    drawing = {"summary": "summary", "messages-proven": "messages"}.get(name, "errors")
    errors = rows_shown(read_tables(snakemake.input.panels), name)
    save(draw(errors, accounting, drawing), snakemake.output, edition)
