# `snakemake` in this folder works as in any workflow; everything is in workflow/.
include: "workflow/Snakefile"


# an included file cannot say what is made by default
rule default:
    """The same as `all`."""
    default_target: True
    input:
        rules.all.input,
    localrule: True
