# Inputs: public quantities only. Outputs: every parameter of every method.


rule plan:
    """All parameters of one setting: sampling rates over the grid, the best m, every competitor. Sees no data."""
    input:
        code=code("plan.py"),
    output:
        f"{OUT}/plans/{{setting}}.json",
    log:
        f"{OUT}/logs/plan/{{setting}}.log",
    benchmark:
        f"{OUT}/benchmarks/plan/{{setting}}.tsv"
    conda:
        CONDA
    threads: 1
    resources:
        mem_mb=memory(130),
        runtime=minutes(26),
    params:
        setting=lambda wildcards: asdict(SETTINGS[wildcards.setting]),
        config=part(
            "delta_times_n", "levels", "splits", "blanket_per_user", "competitors"
        ),
    script:
        "../scripts/plan.py"
