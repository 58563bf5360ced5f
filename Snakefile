# `snakemake` in this folder works without -s; the workflow itself is in workflow/.
include: "workflow/Snakefile"
