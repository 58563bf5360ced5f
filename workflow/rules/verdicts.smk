# Inputs: the published panels and the paper's statements. Outputs: a verdict on each.


# the paper's own panels, where there are any: verdicts are about nothing else
JUDGED = [
    panel.id for name in FIGURES for panel in FIGURE_PANELS.get(name, [])
] or PANELS


rule verdicts:
    """Verdict on every statement of the paper's section 6."""
    input:
        panels=collect("<results>/panels/published/{panel}.csv", panel=JUDGED),
        readings=READINGS[:1],
        statements=workflow.source_path("../../config/reference/claims.yaml"),
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
