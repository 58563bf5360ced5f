# Inputs: constants that others have published. Outputs: what they are worth, beside what is stated of them.


rule deployments:
    """Certify published constants in a stated view, and find the least noise that gives what is stated."""
    output:
        table="<results>/deployments.csv",
        readable="<results>/deployments.md",
        drawing=in_formats("deployments"),
    log:
        "<logs>/deployments.log",
    benchmark:
        "<benchmarks>/deployments.tsv"
    conda:
        "../envs/segshuffle.yaml"
    params:
        deployments=reference("deployments.yaml"),
        captions=said("figures/deployments"),
        code=code_of(*COMPUTE, *DRAW, "reproduction/studies/deployments"),
    script:
        "../scripts/deployments.py"
