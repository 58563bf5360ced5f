"""Judge every statement of the paper's section 6, under our reading of the paper and under all others."""

from segshuffle.reproduction.jobs import job
from segshuffle.reproduction.studies.claims.report import HEAD, evaluate
from segshuffle.reproduction.studies.readings.choices import place_of_ours
from segshuffle.reproduction.studies.readings.report import section
from segshuffle.reproduction.studies.verdicts import markdown
from segshuffle.reproduction.tables import read_tables, write_markdown, write_table

with job(snakemake) as edition:
    errors = read_tables(snakemake.input.panels)
    claims = evaluate(errors, snakemake.params.statements, snakemake.params.settings)
    write_table(snakemake.output.table, claims)
    # none if the configuration leaves the readings out
    readings = [read_tables([path]) for path in snakemake.input.readings]
    title = "\n\n".join([HEAD, *map(place_of_ours, readings)])
    parts = [markdown(claims=claims, table=errors, title=title), *map(section, readings)]
    write_markdown(snakemake.output.readable, "\n".join(parts), edition)
