# Inputs: users and public quantities. Outputs: plans, squared errors, and the tidy table mse.csv.


rule plan:
    """All parameters of one setting for some methods. Reads no data."""
    output:
        "<results>/plans/{methods}/{dataset}-n{n_users}-s{set_size}.json",
    log:
        "<logs>/plan/{methods}/{dataset}-n{n_users}-s{set_size}.log",
    benchmark:
        "<benchmarks>/plan/{methods}/{dataset}-n{n_users}-s{set_size}.tsv"
    priority: published_first
    conda:
        "../envs/segshuffle.yaml"
    params:
        setting=setting_of,
        settings=plan_settings,
        code=code_of(*COMPUTE),
    script:
        "../scripts/plan.py"


rule simulate:
    """Every method, m and repetition of one population: squared errors, and rows of the tidy table."""
    input:
        population="<results>/populations/{dataset}-n{n_users}-s{set_size}.npz",
        plans=plans_of_panel,
    output:
        "<results>/panels/{accounting}/{dataset}-n{n_users}-s{set_size}.csv",
    log:
        "<logs>/simulate/{accounting}/{dataset}-n{n_users}-s{set_size}.log",
    benchmark:
        "<benchmarks>/simulate/{accounting}/{dataset}-n{n_users}-s{set_size}.tsv"
    priority: published_first
    conda:
        "../envs/segshuffle.yaml"
    threads: half_of_the_cores
    params:
        setting=setting_of,
        settings=simulate_settings,
        code=code_of(*COMPUTE, "reproduction/studies/panels"),
    script:
        "../scripts/simulate.py"


rule aggregate:
    """The tidy table of all panels, for readers and for comparisons; figures and verdicts need single panels only."""
    input:
        collect(
            "<results>/panels/{accounting}/{setting}.csv",
            accounting=(
                ["published", "proven"]
                if "proven" in config["parts"]
                else ["published"]
            ),
            setting=SETTINGS,
        ),
    output:
        "<results>/mse.csv",
    log:
        "<logs>/aggregate.log",
    benchmark:
        "<benchmarks>/aggregate.tsv"
    conda:
        "../envs/segshuffle.yaml"
    params:
        code=code_of(*COMPUTE, "reproduction/studies/panels"),
    script:
        "../scripts/aggregate.py"
