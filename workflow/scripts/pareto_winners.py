"""Join all sizes, find the protocol with the least error in each case, and judge statements of the literature."""

from segshuffle.reproduction.jobs import job
from segshuffle.reproduction.studies.pareto.report import evaluate, readable, winners
from segshuffle.reproduction.tables import read_tables, write_markdown, write_table

with job(snakemake) as edition:
    table = read_tables(snakemake.input.sizes)
    write_table(snakemake.output.table, table)
    found = winners(table, snakemake.params.budgets)
    write_table(snakemake.output.winners, found)
    claims = evaluate(table, snakemake.params.statements)
    write_table(snakemake.output.claims, claims)
    write_markdown(snakemake.output.readable, readable(found, claims), edition)
