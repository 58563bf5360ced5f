# Inputs: public quantities, then populations. Outputs: plans, errors, one table, figures and verdicts of all panels,
# under both accountings: published, as the papers state their privacy numbers, and proven.


# what only one accounting reads of the configuration
OPTIONS = {"published": "competitors", "proven": "proven"}


rule plan:
    """All parameters of one setting under one accounting. Sees no data."""
    input:
        code=code("plan.py"),
    output:
        f"{OUT}/plans/{{accounting}}/{{setting}}.json",
    log:
        f"{OUT}/logs/plan/{{accounting}}/{{setting}}.log",
    benchmark:
        f"{OUT}/benchmarks/plan/{{accounting}}/{{setting}}.tsv"
    conda:
        CONDA
    threads: 1
    resources:
        mem_mb=memory(140),
        runtime=minutes(26),
    params:
        setting=lambda wildcards: asdict(SETTINGS[wildcards.setting]),
        config=lambda wildcards: part(
            "delta_times_n",
            "levels",
            "splits",
            "blanket_per_user",
            OPTIONS[wildcards.accounting],
        ),
    script:
        "../scripts/plan.py"


rule simulate:
    """Every method, m and repetition of one panel: squared errors, and rows of the tidy table."""
    input:
        population=lambda wildcards: f"{OUT}/populations/{SCENARIOS[wildcards.scenario].setting.id}.npz",
        plans=lambda wildcards: f"{OUT}/plans/{{accounting}}/{SCENARIOS[wildcards.scenario].setting.id}.json",
        code=code("simulate.py"),
    output:
        errors=f"{OUT}/errors/{{accounting}}/{{scenario}}.csv",
        table=f"{OUT}/panels/{{accounting}}/{{scenario}}.csv",
    log:
        f"{OUT}/logs/simulate/{{accounting}}/{{scenario}}.log",
    benchmark:
        f"{OUT}/benchmarks/simulate/{{accounting}}/{{scenario}}.tsv"
    conda:
        CONDA
    threads: 1
    resources:
        mem_mb=memory(140),
        runtime=minutes(13),
    params:
        scenario=lambda wildcards: asdict(SCENARIOS[wildcards.scenario]),
        config=lambda wildcards: part(
            "seed",
            "repetitions",
            "repetition_block",
            "recentring",
            "delta_times_n",
            "levels",
            "splits",
            OPTIONS[wildcards.accounting],
        ),
    script:
        "../scripts/simulate.py"


rule aggregate:
    """The tidy table of all panels: mean, standard error, closed form and plan of every curve point."""
    input:
        tables=panel_tables(SCENARIOS.values(), ACCOUNTINGS),
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
    script:
        "../scripts/aggregate.py"


rule figure:
    """One figure of the panels, under one accounting; it needs its own panels only."""
    input:
        tables=lambda wildcards: drawn_tables(wildcards.figure),
        code=code("figure.py"),
    output:
        drawn("{figure}"),
    log:
        f"{OUT}/logs/figure/{{figure}}.log",
    benchmark:
        f"{OUT}/benchmarks/figure/{{figure}}.tsv"
    wildcard_constraints:
        figure="|".join(PANEL_FIGURES),
    conda:
        CONDA
    threads: 1
    resources:
        mem_mb=memory(200),
        runtime=minutes(10),
    params:
        drawing=lambda wildcards: PANEL_FIGURES[wildcards.figure].drawing,
        accounting=lambda wildcards: PANEL_FIGURES[wildcards.figure].accounting,
        panels=lambda wildcards: [
            asdict(panel) for panel in PANEL_FIGURES[wildcards.figure].panels
        ],
        edition=config["edition"],
    script:
        "../scripts/figure.py"


rule proven_summary:
    """What proven accounting and copies buy, a row per panel."""
    input:
        table=rules.aggregate.output,
        code=code("proven_summary.py"),
    output:
        table=shown(f"{OUT}/proven-summary.csv"),
        readable=f"{OUT}/proven-summary.md",
    log:
        f"{OUT}/logs/proven_summary.log",
    benchmark:
        f"{OUT}/benchmarks/proven_summary.tsv"
    conda:
        CONDA
    threads: 1
    resources:
        mem_mb=memory(140),
        runtime=minutes(2),
    params:
        budgets=config["proven"]["max_messages"],
        edition=config["edition"],
    script:
        "../scripts/proven_summary.py"


rule verdicts:
    """Verdict on every statement of the paper's section 6."""
    input:
        table=rules.aggregate.output,
        reference="config/reference/claims.yaml",
        code=code("claims.py"),
    output:
        table=shown(f"{OUT}/claims.csv"),
        readable=f"{OUT}/claims.md",
    log:
        f"{OUT}/logs/claims.log",
    benchmark:
        f"{OUT}/benchmarks/claims.tsv"
    conda:
        CONDA
    threads: 1
    resources:
        mem_mb=memory(130),
        runtime=minutes(3),
    params:
        config=part("delta_times_n", "levels", "splits", "competitors"),
        edition=config["edition"],
    script:
        "../scripts/claims.py"
