# Inputs: populations and plans. Outputs: squared errors per repetition, then one tidy table.


rule simulate:
    """Squared errors of every method, m and repetition of one panel."""
    input:
        population=lambda wildcards: f"{OUT}/populations/{SCENARIOS[wildcards.scenario].setting.id}.npz",
        plans=lambda wildcards: f"{OUT}/plans/{SCENARIOS[wildcards.scenario].setting.id}.json",
        code=code("simulate.py"),
    output:
        f"{OUT}/errors/{{scenario}}.csv",
    log:
        f"{OUT}/logs/simulate/{{scenario}}.log",
    benchmark:
        f"{OUT}/benchmarks/simulate/{{scenario}}.tsv"
    conda:
        CONDA
    threads: 1
    resources:
        mem_mb=memory(140),
        runtime=minutes(8),
    params:
        scenario=lambda wildcards: asdict(SCENARIOS[wildcards.scenario]),
        config=part(
            "seed",
            "repetitions",
            "repetition_block",
            "delta_times_n",
            "levels",
            "splits",
            "competitors",
        ),
    script:
        "../scripts/simulate.py"


rule aggregate:
    """The tidy table of all errors: mean, standard error, closed form and plan of every curve point."""
    input:
        errors=expand(f"{OUT}/errors/{{scenario}}.csv", scenario=SCENARIOS),
        populations=expand(f"{OUT}/populations/{{setting}}.npz", setting=SETTINGS),
        plans=expand(f"{OUT}/plans/{{setting}}.json", setting=SETTINGS),
        code=code("aggregate.py"),
    output:
        f"{OUT}/mse.csv",
    log:
        f"{OUT}/logs/aggregate.log",
    benchmark:
        f"{OUT}/benchmarks/aggregate.tsv"
    conda:
        CONDA
    threads: 1
    resources:
        mem_mb=memory(140),
        runtime=minutes(2),
    params:
        scenarios={name: asdict(scenario) for name, scenario in SCENARIOS.items()},
        config=part("delta_times_n", "levels", "splits", "competitors"),
    script:
        "../scripts/aggregate.py"
