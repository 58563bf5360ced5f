# Inputs: public quantities. Outputs: error over messages of our protocol and those of the literature.


# names of the tables, one for each size; figure -> what it shows
PARETO_SIZES = [
    f"n{n_users}-d{domain_size}-s{set_size}"
    for n_users, domain_size in config["pareto"]["sizes"]
    for set_size in config["pareto"]["set_sizes"]
]
PARETO_FIGURES = {
    f"pareto-n{n_users}-d{domain_size}-{split}": (n_users, domain_size, split)
    for n_users, domain_size in config["pareto"]["sizes"]
    for split in ("one", config["pareto"]["split"])
}


rule pareto_case:
    """Error over messages of our protocol and others, for one size of a collection. Reads no data."""
    output:
        "<results>/pareto/n{n_users}-d{domain_size}-s{set_size}.csv",
    log:
        "<logs>/pareto_case/n{n_users}-d{domain_size}-s{set_size}.log",
    benchmark:
        "<benchmarks>/pareto_case/n{n_users}-d{domain_size}-s{set_size}.tsv"
    conda:
        "../envs/segshuffle.yaml"
    params:
        settings=used("delta_times_n", "splits", "pareto"),
        code=code_of(*COMPUTE, "reproduction/studies/pareto"),
    script:
        "../scripts/pareto_case.py"


rule pareto:
    """Error over messages of our protocol and others at equal epsilon and delta, and the best one in each case."""
    input:
        sizes=collect("<results>/pareto/{size}.csv", size=PARETO_SIZES),
    output:
        table="<results>/pareto.csv",
        winners="<results>/pareto-winners.csv",
        claims=shown("<results>/pareto-claims.csv"),
        readable="<results>/pareto.md",
        drawings=[in_formats(name) for name in PARETO_FIGURES],
    log:
        "<logs>/pareto.log",
    benchmark:
        "<benchmarks>/pareto.tsv"
    conda:
        "../envs/segshuffle.yaml"
    params:
        statements=reference("claims-pareto.yaml"),
        budgets=config["pareto"]["budgets"],
        figures=list(PARETO_FIGURES.values()),
        captions=said(
            "pareto-claims.csv", *(f"figures/{name}" for name in PARETO_FIGURES)
        ),
        code=code_of(*COMPUTE, *DRAW, "reproduction/studies/pareto"),
    script:
        "../scripts/pareto.py"
