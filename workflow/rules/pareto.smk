# Inputs: the section pareto of the configuration, no data. Outputs: error over messages, who wins where, verdicts.


PARETO = config["pareto"]


rule pareto_case:
    """Error over messages of every protocol, for one size of a collection. Sees no data."""
    input:
        code=code("pareto_case.py"),
    output:
        f"{OUT}/pareto/n{{n_users}}-d{{domain_size}}-s{{set_size}}.csv",
    log:
        f"{OUT}/logs/pareto_case/n{{n_users}}-d{{domain_size}}-s{{set_size}}.log",
    benchmark:
        f"{OUT}/benchmarks/pareto_case/n{{n_users}}-d{{domain_size}}-s{{set_size}}.tsv"
    wildcard_constraints:
        n_users=r"\d+",
        domain_size=r"\d+",
        set_size=r"\d+",
    conda:
        CONDA
    threads: 1
    resources:
        mem_mb=memory(300),
        runtime=minutes(60),
    params:
        config=part("delta_times_n", "splits", "pareto"),
    script:
        "../scripts/pareto_case.py"


rule pareto_winners:
    """All sizes in one table, who has the least error within a number of messages, and verdicts on the literature."""
    input:
        tables=[
            f"{OUT}/pareto/n{n_users}-d{domain_size}-s{set_size}.csv"
            for n_users, domain_size in PARETO["sizes"]
            for set_size in PARETO["set_sizes"]
        ],
        reference="config/reference/claims-pareto.yaml",
        code=code("pareto.py"),
    output:
        table=f"{OUT}/pareto.csv",
        winners=f"{OUT}/pareto-winners.csv",
        claims=shown(f"{OUT}/pareto-claims.csv"),
        readable=f"{OUT}/pareto.md",
    log:
        f"{OUT}/logs/pareto.log",
    benchmark:
        f"{OUT}/benchmarks/pareto.tsv"
    conda:
        CONDA
    threads: 1
    resources:
        mem_mb=memory(180),
        runtime=minutes(4),
    params:
        budgets=PARETO["budgets"],
        edition=config["edition"],
    script:
        "../scripts/pareto.py"


rule figure_pareto:
    """Error over messages per user, one size and split, a panel for every set size and epsilon."""
    input:
        table=f"{OUT}/pareto.csv",
        code=code("figure_pareto.py"),
    output:
        drawn("pareto-n{n_users}-d{domain_size}-{split}"),
    log:
        f"{OUT}/logs/figure_pareto/n{{n_users}}-d{{domain_size}}-{{split}}.log",
    benchmark:
        f"{OUT}/benchmarks/figure_pareto/n{{n_users}}-d{{domain_size}}-{{split}}.tsv"
    wildcard_constraints:
        n_users=r"\d+",
        domain_size=r"\d+",
    conda:
        CONDA
    threads: 1
    resources:
        mem_mb=memory(200),
        runtime=minutes(10),
    params:
        edition=config["edition"],
    script:
        "../scripts/figure_pareto.py"
