# Inputs: what the studies declare in their outputs.py. Outputs: targets, by name; copies in docs/.
COPIES = manifest.said("DOCS")


localrules:
    all,
    docs_figures,


for target in TARGETS:

    rule:
        name:
            target.name
        input:
            [f"{OUT}/{path}" for path in target.files],
        localrule: True

    # what `snakemake --list` says
    workflow.get_rule(target.name).docstring = target.what


rule docs_figures:
    """Copy the figures and verdicts of a full run to docs/, for the README and the documents there."""
    input:
        [f"results/{path}" for path in COPIES],
    output:
        [f"docs/{name}" for name in COPIES.values()],
    log:
        "results/logs/docs_figures.log",
    conda:
        CONDA
    params:
        commands=" && ".join(
            f"cp 'results/{path}' 'docs/{name}'" for path, name in COPIES.items()
        ),
    shell:
        "({params.commands}) > {log:q} 2>&1"
