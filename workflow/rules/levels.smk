# Inputs: populations. Outputs: what protecting the levels themselves costs.


rule levels:
    """Error over the privacy of the levels, for one setting."""
    input:
        population=f"{OUT}/populations/{{setting}}.npz",
        code=code("levels.py"),
    output:
        f"{OUT}/levels/{{setting}}.csv",
    log:
        f"{OUT}/logs/levels/{{setting}}.log",
    benchmark:
        f"{OUT}/benchmarks/levels/{{setting}}.tsv"
    conda:
        CONDA
    threads: 1
    resources:
        mem_mb=memory(150),
        runtime=minutes(13),
    params:
        setting=lambda wildcards: asdict(SETTINGS[wildcards.setting]),
        config=part(
            "seed",
            "repetitions",
            "repetition_block",
            "delta_times_n",
            "levels",
            "splits",
            "private_levels",
        )
        | HONEST,
    script:
        "../scripts/levels.py"


rule figure_levels:
    """Error over the privacy of the levels, all settings."""
    input:
        tables=expand(f"{OUT}/levels/{{setting}}.csv", setting=SETTINGS),
        code=code("figure_levels.py"),
    output:
        drawn("levels"),
    log:
        f"{OUT}/logs/figure_levels.log",
    benchmark:
        f"{OUT}/benchmarks/figure_levels.tsv"
    conda:
        CONDA
    threads: 1
    resources:
        mem_mb=memory(160),
        runtime=minutes(8),
    params:
        edition=config["edition"],
    script:
        "../scripts/figure_levels.py"
