# Inputs: public quantities, then populations. Outputs: what guarantees rely on, and what relying on less costs.
# The first population of every dataset, and the first split.


ASSUMPTION_PANELS = [
    next(panel for panel in SCENARIOS.values() if panel.setting.dataset == dataset)
    for dataset in config["datasets"]
]


rule participation:
    """Epsilon over the users who really are honest, and error over those that a plan assumes to be."""
    input:
        code=code("figure_participation.py"),
    output:
        epsilons=f"{OUT}/participation.csv",
        errors=f"{OUT}/participation-error.csv",
        figures=drawn("participation"),
    log:
        f"{OUT}/logs/participation.log",
    benchmark:
        f"{OUT}/benchmarks/participation.tsv"
    conda:
        CONDA
    threads: 1
    resources:
        mem_mb=memory(180),
        runtime=minutes(8),
    params:
        panels=[asdict(panel) for panel in ASSUMPTION_PANELS],
        config=part("delta_times_n", "levels", "splits", "proven", "assumptions"),
        edition=config["edition"],
    script:
        "../scripts/figure_participation.py"


rule influence:
    """What 1 % of the users can do to the estimates of every protocol, if they lie."""
    input:
        plans=[
            f"{OUT}/plans/published/{panel.setting.id}.json"
            for panel in ASSUMPTION_PANELS
        ],
        code=code("figure_influence.py"),
    output:
        table=f"{OUT}/influence.csv",
        figures=drawn("influence"),
    log:
        f"{OUT}/logs/influence.log",
    benchmark:
        f"{OUT}/benchmarks/influence.tsv"
    conda:
        CONDA
    threads: 1
    resources:
        mem_mb=memory(180),
        runtime=minutes(4),
    params:
        panels=[asdict(panel) for panel in ASSUMPTION_PANELS],
        config=part("delta_times_n", "levels", "splits", "competitors", "proven"),
        edition=config["edition"],
    script:
        "../scripts/figure_influence.py"


rule dependence:
    """Bias and error over how strongly levels depend on items, with and without equal copies."""
    input:
        populations=[
            f"{OUT}/populations/{panel.setting.id}.npz" for panel in ASSUMPTION_PANELS
        ],
        code=code("figure_dependence.py"),
    output:
        table=f"{OUT}/dependence.csv",
        figures=drawn("dependence"),
    log:
        f"{OUT}/logs/dependence.log",
    benchmark:
        f"{OUT}/benchmarks/dependence.tsv"
    conda:
        CONDA
    threads: 1
    resources:
        mem_mb=memory(180),
        runtime=minutes(8),
    params:
        panels=[asdict(panel) for panel in ASSUMPTION_PANELS],
        config=part("seed", "repetitions", "delta_times_n", "levels", "splits") | HONEST,
        edition=config["edition"],
    script:
        "../scripts/figure_dependence.py"


rule rounds:
    """Error over the number of collections within one epsilon and delta."""
    input:
        code=code("figure_rounds.py"),
    output:
        table=f"{OUT}/rounds.csv",
        figures=drawn("rounds"),
    log:
        f"{OUT}/logs/rounds.log",
    benchmark:
        f"{OUT}/benchmarks/rounds.tsv"
    conda:
        CONDA
    threads: 1
    resources:
        mem_mb=memory(180),
        runtime=minutes(8),
    params:
        panels=[asdict(panel) for panel in ASSUMPTION_PANELS],
        config=part("delta_times_n", "levels", "splits", "proven", "assumptions"),
        edition=config["edition"],
    script:
        "../scripts/figure_rounds.py"
