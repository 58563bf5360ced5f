# The workflow is in workflow/Snakefile, its table of contents.
include: "workflow/Snakefile"
