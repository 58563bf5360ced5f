# Inputs: public quantities, plans and populations. Outputs: what a guarantee relies on, and what weaker assumptions cost.


# the first population of every dataset, with the first split
FIRST_PANELS = [
    next(panel for panel in PANELS if panel.setting.dataset == name)
    for name in config["datasets"]
]
FIRST_SETTINGS = [panel.setting.id for panel in FIRST_PANELS]
PUBLIC = used("delta_times_n", "levels", "splits")


rule fig_participation:
    """Epsilon over the share of users who really are honest, and error over the share that a plan assumes."""
    output:
        epsilons="<results>/participation.csv",
        errors="<results>/participation-error.csv",
        drawing=in_formats("participation"),
    log:
        "<logs>/fig_participation.log",
    benchmark:
        "<benchmarks>/fig_participation.tsv"
    conda:
        "../envs/segshuffle.yaml"
    params:
        panels=FIRST_PANELS,
        settings=PUBLIC | used("proven", "assumptions"),
        captions=said("figures/participation"),
        code=code_of(*COMPUTE, *DRAW, "reproduction/studies/assumptions"),
    script:
        "../scripts/fig_participation.py"


rule fig_influence:
    """How far 1 % of the users can shift the estimates of every protocol if they lie."""
    input:
        published=collect(
            "<results>/plans/published/{setting}.json", setting=FIRST_SETTINGS
        ),
        competitors=collect(
            "<results>/plans/competitors/{setting}.json", setting=FIRST_SETTINGS
        ),
    output:
        table="<results>/influence.csv",
        drawing=in_formats("influence"),
    log:
        "<logs>/fig_influence.log",
    benchmark:
        "<benchmarks>/fig_influence.tsv"
    conda:
        "../envs/segshuffle.yaml"
    params:
        panels=FIRST_PANELS,
        settings=PUBLIC | used("competitors", "proven"),
        captions=said("figures/influence"),
        code=code_of(*COMPUTE, *DRAW, "reproduction/studies/assumptions"),
    script:
        "../scripts/fig_influence.py"


rule fig_dependence:
    """Bias and error over how strongly levels depend on items, with and without equal copies."""
    input:
        collect("<results>/populations/{setting}.npz", setting=FIRST_SETTINGS),
    output:
        table="<results>/dependence.csv",
        drawing=in_formats("dependence"),
    log:
        "<logs>/fig_dependence.log",
    benchmark:
        "<benchmarks>/fig_dependence.tsv"
    conda:
        "../envs/segshuffle.yaml"
    params:
        panels=FIRST_PANELS,
        settings=PUBLIC | used("seed", "repetitions") | honest(),
        captions=said("figures/dependence"),
        code=code_of(*COMPUTE, *DRAW, "reproduction/studies/assumptions"),
    script:
        "../scripts/fig_dependence.py"


rule fig_rounds:
    """Error over the number of collections that share one epsilon and delta."""
    output:
        table="<results>/rounds.csv",
        drawing=in_formats("rounds"),
    log:
        "<logs>/fig_rounds.log",
    benchmark:
        "<benchmarks>/fig_rounds.tsv"
    conda:
        "../envs/segshuffle.yaml"
    params:
        panels=FIRST_PANELS,
        settings=PUBLIC | used("proven", "assumptions"),
        captions=said("figures/rounds"),
        code=code_of(*COMPUTE, *DRAW, "reproduction/studies/assumptions"),
    script:
        "../scripts/fig_rounds.py"
