# Inputs: the published panels and the paper's statements. Outputs: a verdict on each.


# the paper's own populations, where there are any: verdicts are about nothing else
JUDGED = [name for name, each in SETTINGS.items() if each.dataset in PAPER] or [
    *SETTINGS
]


rule verdicts:
    """Verdict on every statement of the paper's section 6."""
    input:
        panels=collect("<results>/panels/published/{setting}.csv", setting=JUDGED),
        readings=READINGS[:1],
    output:
        table=shown("<results>/claims.csv"),
        readable="<results>/claims.md",
    log:
        "<logs>/verdicts.log",
    benchmark:
        "<benchmarks>/verdicts.tsv"
    conda:
        "../envs/segshuffle.yaml"
    threads: 1
    resources:
        mem_mb=memory,
        runtime=minutes(10),
    params:
        statements=reference("claims.yaml"),
        settings=used("delta_times_n", "levels", "splits", "competitors"),
        captions=said("claims.csv"),
        code=code_of(
            "accounting",
            "blankets",
            "protocols",
            "studies/claims",
            "studies/readings",
            "studies/verdicts.py",
        ),
    script:
        "../scripts/verdicts.py"


rule claims:
    """Verdicts on the statements of the paper."""
    input:
        rules.verdicts.output,
