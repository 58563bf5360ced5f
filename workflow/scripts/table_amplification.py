"""Write one table of the amplification papers for readers."""

import pandas as pd

from segshuffle.pipeline.jobs import job
from segshuffle.pipeline.tables import write_markdown
from segshuffle.studies.amplification.report import table_markdown

with job(snakemake) as edition:
    table, words = pd.read_csv(snakemake.input[0]), snakemake.params.words
    text = table_markdown(table, title=words.title, paper=words.group.title, remark=words.caption)
    write_markdown(snakemake.output[0], text, edition)
