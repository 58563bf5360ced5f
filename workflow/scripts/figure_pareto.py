"""Draw error over messages of one size and split; see segshuffle.studies.pareto.figure."""

from segshuffle.pipeline.jobs import logged
from segshuffle.pipeline.style import save
from segshuffle.studies.pareto.figure import draw
from segshuffle.studies.pareto.winners import read

with logged(snakemake.log[0]):
    table, chosen = read(snakemake.input.table), snakemake.wildcards
    of_size = (table["n_users"] == int(chosen.n_users)) & (table["domain_size"] == int(chosen.domain_size))
    save(draw(table[of_size & (table["split"] == chosen.split)], edition=snakemake.params.edition), snakemake.output)
