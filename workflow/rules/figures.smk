# Inputs: the tidy errors of a figure's own panels. Outputs: the figure as PDF, SVG and PNG.


rule figure:
    """One of Figures 2-6 of the paper."""
    input:
        errors=lambda wildcards: [
            f"{OUT}/errors/{panel.id}.csv"
            for panel in panels(config, wildcards.figure)
        ],
        populations=lambda wildcards: sorted(
            {
                f"{OUT}/populations/{panel.setting.id}.npz"
                for panel in panels(config, wildcards.figure)
            }
        ),
        plans=lambda wildcards: sorted(
            {
                f"{OUT}/plans/{panel.setting.id}.json"
                for panel in panels(config, wildcards.figure)
            }
        ),
        code=code("figure.py"),
    output:
        drawn("{figure}", "figure", "The paper's figures", accounting="published"),
    log:
        f"{OUT}/logs/figure/{{figure}}.log",
    benchmark:
        f"{OUT}/benchmarks/figure/{{figure}}.tsv"
    wildcard_constraints:
        figure="|".join(FIGURES),
    conda:
        CONDA
    threads: 1
    resources:
        mem_mb=memory(200),
        runtime=minutes(10),
    params:
        panels=lambda wildcards: panel_settings(wildcards.figure),
        config=part("delta_times_n", "levels", "splits", "competitors"),
        edition=config["edition"],
    script:
        "../scripts/figure.py"


rule summary:
    """Our error against every competitor's at the best m, all panels at a glance."""
    input:
        table=rules.aggregate.output,
        code=code("summary.py"),
    output:
        drawn("summary", "summary", "The paper's figures", accounting="published"),
    log:
        f"{OUT}/logs/figure/summary.log",
    benchmark:
        f"{OUT}/benchmarks/figure/summary.tsv"
    conda:
        CONDA
    threads: 1
    resources:
        mem_mb=memory(200),
        runtime=minutes(10),
    params:
        edition=config["edition"],
    script:
        "../scripts/summary.py"
