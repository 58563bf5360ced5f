# Inputs: public quantities, then populations. Outputs: the proven protocols' plans, errors, summary and figures.


rule plan_tight:
    """All parameters of the proven protocols of one setting, each level certified. Sees no data."""
    input:
        code=code("plan_tight.py"),
    output:
        f"{OUT}/plans-tight/{{setting}}.json",
    log:
        f"{OUT}/logs/plan_tight/{{setting}}.log",
    benchmark:
        f"{OUT}/benchmarks/plan_tight/{{setting}}.tsv"
    conda:
        CONDA
    threads: 1
    resources:
        mem_mb=memory(140),
        runtime=minutes(26),
    params:
        setting=lambda wildcards: asdict(SETTINGS[wildcards.setting]),
        config=part("delta_times_n", "levels", "splits", "blanket_per_user", "tight"),
    script:
        "../scripts/plan_tight.py"


rule simulate_tight:
    """Errors of the proven protocols on one panel."""
    input:
        population=lambda wildcards: f"{OUT}/populations/{SCENARIOS[wildcards.scenario].setting.id}.npz",
        plans=lambda wildcards: f"{OUT}/plans-tight/{SCENARIOS[wildcards.scenario].setting.id}.json",
        code=code("simulate_tight.py"),
    output:
        f"{OUT}/tight/{{scenario}}.csv",
    log:
        f"{OUT}/logs/simulate_tight/{{scenario}}.log",
    benchmark:
        f"{OUT}/benchmarks/simulate_tight/{{scenario}}.tsv"
    conda:
        CONDA
    threads: 1
    resources:
        mem_mb=memory(140),
        runtime=minutes(5),
    params:
        scenario=lambda wildcards: asdict(SCENARIOS[wildcards.scenario]),
        config=part(
            "seed",
            "repetitions",
            "repetition_block",
            "delta_times_n",
            "levels",
            "splits",
            "tight",
        ),
    script:
        "../scripts/simulate_tight.py"


rule collect_tight:
    """One table of the proven protocols and a summary of all panels: what tightness and copies buy."""
    input:
        tables=expand(f"{OUT}/tight/{{scenario}}.csv", scenario=SCENARIOS),
        published=rules.aggregate.output,
        code=code("collect_tight.py"),
    output:
        table=f"{OUT}/tight.csv",
        summary=report(
            f"{OUT}/tight-summary.csv",
            caption="../report/tight-summary.rst",
            category="Proven protocol",
            labels={"figure": "table of all panels", "accounting": "proven"},
        ),
        readable=f"{OUT}/tight-summary.md",
    log:
        f"{OUT}/logs/collect_tight.log",
    benchmark:
        f"{OUT}/benchmarks/collect_tight.tsv"
    conda:
        CONDA
    threads: 1
    resources:
        mem_mb=memory(140),
        runtime=minutes(2),
    params:
        budgets=config["tight"]["max_messages"],
        edition=config["edition"],
    script:
        "../scripts/collect_tight.py"


rule figure_tight:
    """One of Figures 2-6 with proven accounting for everybody, or error against messages per user (messages-tight)."""
    input:
        table=rules.collect_tight.output.table,
        published=rules.aggregate.output,
        code=code("figure_tight.py"),
    output:
        drawn("{figure}-tight", "tight", "Proven protocol", accounting="proven"),
    log:
        f"{OUT}/logs/figure_tight/{{figure}}.log",
    benchmark:
        f"{OUT}/benchmarks/figure_tight/{{figure}}.tsv"
    wildcard_constraints:
        figure="|".join([*FIGURES, "messages"]),
    conda:
        CONDA
    threads: 1
    resources:
        mem_mb=memory(170),
        runtime=minutes(10),
    params:
        panels=lambda wildcards: panel_settings(wildcards.figure),
        messages=lambda wildcards: wildcards.figure == "messages",
        edition=config["edition"],
    script:
        "../scripts/figure_tight.py"


rule limit:
    """Error over a trusted curator's with one level, over the size of the blanket."""
    input:
        code=code("figure_limit.py"),
    output:
        table=f"{OUT}/limit.csv",
        figures=drawn("limit", "limit", "Proven protocol", accounting="exact"),
    log:
        f"{OUT}/logs/limit.log",
    benchmark:
        f"{OUT}/benchmarks/limit.tsv"
    conda:
        CONDA
    threads: 1
    resources:
        mem_mb=memory(180),
        runtime=minutes(4),
    params:
        set_sizes=sorted(
            {min(s.set_size, s.domain_size - s.set_size) for s in SETTINGS.values()}
        ),
        deltas=sorted({config["delta_times_n"] / s.n_users for s in SETTINGS.values()}),
        edition=config["edition"],
    script:
        "../scripts/figure_limit.py"
