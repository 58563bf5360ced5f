# Inputs: the populations. Outputs: error over the privacy of the levels themselves.


rule levels:
    """Error over the privacy of the levels, for one setting."""
    input:
        population="<results>/populations/{dataset}-n{n_users}-s{set_size}.npz",
    output:
        "<results>/levels/{dataset}-n{n_users}-s{set_size}.csv",
    log:
        "<logs>/levels/{dataset}-n{n_users}-s{set_size}.log",
    benchmark:
        "<benchmarks>/levels/{dataset}-n{n_users}-s{set_size}.tsv"
    conda:
        "../envs/segshuffle.yaml"
    params:
        setting=setting_of,
        settings=used(
            "seed",
            "repetitions",
            "repetition_block",
            "delta_times_n",
            "levels",
            "splits",
            "private_levels",
        )
        | honest(),
        code=code_of(*COMPUTE, "reproduction/studies/levels"),
    script:
        "../scripts/levels.py"


rule fig_levels:
    """Error over the privacy of the levels, all settings."""
    input:
        collect("<results>/levels/{setting}.csv", setting=SETTINGS),
    output:
        in_formats("levels"),
    log:
        "<logs>/fig_levels.log",
    benchmark:
        "<benchmarks>/fig_levels.tsv"
    conda:
        "../envs/segshuffle.yaml"
    params:
        captions=said("figures/levels"),
        code=code_of(*DRAW, "reproduction/studies/levels"),
    script:
        "../scripts/fig_levels.py"
