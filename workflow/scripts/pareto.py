"""Join all sizes, find the protocol with the least error in each case, judge the literature, and draw every size."""

from segshuffle.reproduction.jobs import job
from segshuffle.drawing.style import save
from segshuffle.reproduction.studies.pareto.report import draw, evaluate, readable, winners
from segshuffle.reproduction.tables import read_tables, write_markdown, write_table

with job(snakemake) as edition:
    outputs, params = snakemake.output, snakemake.params
    table = read_tables(snakemake.input.sizes)
    write_table(outputs.table, table)
    found = winners(table, params.budgets)
    write_table(outputs.winners, found)
    claims = evaluate(table, params.statements)
    write_table(outputs.claims, claims)
    write_markdown(outputs.readable, readable(found, claims), edition)
    for place, asked in enumerate(params.figures):
        save(draw(table, *asked), outputs.drawings[3 * place : 3 * place + 3], edition)
