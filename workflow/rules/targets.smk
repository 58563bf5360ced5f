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


rule only_real:
    """Check that the data of this run are real: otherwise nothing is copied to docs/."""
    input:
        [
            f"{OUT}/data/{name}/source.json"
            for name in config["datasets"]
            if dataset_of(name).obtain
        ],
    output:
        touch(f"{OUT}/data/only-real.txt"),
    log:
        f"{OUT}/logs/only_real.log",
    priority: 2
    conda:
        CONDA
    params:
        advice="docs/ must show the real data, but the files named above describe a stand-in. Name your own copy by its "
        "environment variable, or connect to the network and remove their folder. Then run snakemake docs_figures again.",
    shell:
        'if grep -l \'"kind": "stand-in"\' {input:q}; then echo {params.advice:q}; exit 1; fi 2>&1 | tee {log:q} >&2'


rule docs_figures:
    """Copy the figures and verdicts of a full run to docs/, for the README and the documents there."""
    input:
        [f"results/{path}" for path in COPIES],
        # made first: a stand-in is refused before any other work
        "results/data/only-real.txt",
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
