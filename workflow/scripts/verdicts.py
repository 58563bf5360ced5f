"""Judge every statement of the paper's section 6."""

from segshuffle.reproduction.jobs import job
from segshuffle.reproduction.studies.claims.report import HEAD, evaluate
from segshuffle.reproduction.studies.readings.choices import place_of_ours
from segshuffle.reproduction.studies.verdicts import markdown
from segshuffle.reproduction.tables import read_tables, write_markdown, write_table

with job(snakemake) as edition:
    errors = read_tables(snakemake.input.panels)
    claims = evaluate(errors, snakemake.params.statements, snakemake.params.settings)
    write_table(snakemake.output.table, claims)
    others = [place_of_ours(read_tables([path])) for path in snakemake.input.readings]
    text = markdown(claims=claims, table=errors, title="\n\n".join([HEAD, *others]))
    write_markdown(snakemake.output.readable, text, edition)
