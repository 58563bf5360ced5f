# Inputs: the published panels and the paper's statements. Outputs: a verdict on each.


# the paper's own populations, where there are any: verdicts are about nothing else
JUDGED = PAPER_SETTINGS or list(SETTINGS)


rule claims:
    """Verdict on every statement of the paper's section 6."""
    input:
        panels=collect("<results>/panels/published/{setting}.csv", setting=JUDGED),
        readings=(
            [rules.readings.output.table] if "readings" in config["parts"] else []
        ),
    output:
        table=shown("<results>/claims.csv"),
        readable="<results>/claims.md",
    log:
        "<logs>/claims.log",
    benchmark:
        "<benchmarks>/claims.tsv"
    conda:
        "../envs/segshuffle.yaml"
    params:
        statements=reference("claims.yaml"),
        settings=used("delta_times_n", "levels", "splits", "competitors"),
        captions=said("claims.csv"),
        code=code_of(
            *COMPUTE,
            *DRAW,
            "reproduction/studies/claims",
            "reproduction/studies/readings",
        ),
    script:
        "../scripts/verdicts.py"
