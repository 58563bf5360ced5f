# Inputs: the record of the run and its results. Outputs: the results folder as an RO-Crate, for archives and other programs.


rule crate:
    """The run as an RO-Crate: inputs, outputs, parameters, code and environment in results/ro-crate-metadata.json."""
    input:
        results=RESULTS,
        record=rules.provenance.output,
        snakefile=str(ROOT / "workflow/Snakefile"),
    output:
        metadata="<results>/ro-crate-metadata.json",
        snakefile="<results>/workflow/Snakefile",
    log:
        "<logs>/crate.log",
    benchmark:
        "<benchmarks>/crate.tsv"
    conda:
        "../envs/crate.yaml"
    params:
        date=lambda wildcards: date_of(ROOT),
        code=code_of("datasets", "reproduction/crate.py"),
    script:
        "../scripts/crate.py"
