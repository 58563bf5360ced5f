"""Certify published constants, and write the table, the page and the figure."""

from segshuffle.reproduction.jobs import job
from segshuffle.drawing.style import save
from segshuffle.reproduction.studies.deployments.compute import deployments_table
from segshuffle.reproduction.studies.deployments.report import draw, page
from segshuffle.reproduction.tables import write_markdown, write_table

with job(snakemake) as edition:
    deployments = snakemake.params.deployments
    table = deployments_table(deployments)
    write_table(
        snakemake.output.table, table, lower=["delta_lower", "epsilon_lower"], upper=["delta_upper", "epsilon_upper"]
    )
    write_markdown(snakemake.output.readable, page(table, deployments), edition)
    save(draw(table), snakemake.output.drawing, edition)
