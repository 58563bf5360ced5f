# Inputs: the published plans. Outputs: what their guarantee is worth in the full view of the server.


rule audit_setting:
    """Claimed and actual guarantee of every split, m and level of one setting. Sees no data."""
    input:
        plans=f"{OUT}/plans/published/{{setting}}.json",
        code=code("audit.py"),
    output:
        f"{OUT}/audit/{{setting}}.csv",
    log:
        f"{OUT}/logs/audit_setting/{{setting}}.log",
    benchmark:
        f"{OUT}/benchmarks/audit_setting/{{setting}}.tsv"
    conda:
        CONDA
    threads: 1
    resources:
        mem_mb=memory(300),
        runtime=minutes(66),
    params:
        setting=lambda wildcards: asdict(SETTINGS[wildcards.setting]),
        config=part("delta_times_n", "levels", "splits"),
    script:
        "../scripts/audit.py"


rule figure_audit:
    """Claimed epsilon against the epsilon that the full view gives, over m."""
    input:
        tables=expand(f"{OUT}/audit/{{setting}}.csv", setting=SETTINGS),
        code=code("figure_audit.py"),
    output:
        table=shown(f"{OUT}/audit.csv"),
        figures=drawn("audit"),
    log:
        f"{OUT}/logs/figure_audit.log",
    benchmark:
        f"{OUT}/benchmarks/figure_audit.tsv"
    conda:
        CONDA
    threads: 1
    resources:
        mem_mb=memory(210),
        runtime=minutes(10),
    params:
        edition=config["edition"],
    script:
        "../scripts/figure_audit.py"
