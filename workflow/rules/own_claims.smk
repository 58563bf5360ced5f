# Inputs: all results. Outputs: which numbers of README and docs/ are those of this run, claim by claim.


rule claims_held:
    """Every number that README and docs/ state, compared with the results: held, not held or not judged."""
    input:
        results=RESULTS,
        sources=SOURCES_OF_DATA,
    output:
        "<results>/claims-held.txt",
    log:
        "<logs>/claims_held.log",
    benchmark:
        "<benchmarks>/claims_held.tsv"
    conda:
        "../envs/segshuffle.yaml"
    resources:
        runtime=minutes(200),
    params:
        claims=reference("claims-own.yaml"),
        code=code_of(
            *COMPUTE,
            "cli",
            "collection",
            "reproduction/code.py",
            "reproduction/provenance.py",
            "reproduction/studies",
        ),
    script:
        "../scripts/claims_held.py"


rule appendix:
    """Write the times and claims of a full run into ARTIFACT-APPENDIX.md."""
    input:
        runtimes="results/runtimes.csv",
        # made first: a stand-in is refused
        real="results/data/only-real.txt",
    output:
        update("ARTIFACT-APPENDIX.md"),
    log:
        "results/logs/appendix.log",
    localrule: True
    conda:
        "../envs/segshuffle.yaml"
    params:
        claims=reference("claims-own.yaml"),
        code=code_of("reproduction/code.py", "reproduction/studies/own_claims.py"),
    script:
        "../scripts/appendix.py"
