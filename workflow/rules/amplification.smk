# Inputs: settings of the amplification papers, no data. Outputs: their figures, tables and verdicts.


rule amplification_curves:
    """Every curve of one figure or table of the amplification papers. Sees no data."""
    input:
        code=code("amplification.py"),
    output:
        f"{OUT}/amplification/{{exhibit}}.csv",
    log:
        f"{OUT}/logs/amplification_curves/{{exhibit}}.log",
    benchmark:
        f"{OUT}/benchmarks/amplification_curves/{{exhibit}}.tsv"
    wildcard_constraints:
        exhibit="|".join(exhibits.EXHIBITS),
    conda:
        CONDA
    threads: 1
    resources:
        mem_mb=memory(200),
        runtime=minutes(60),
    params:
        points=config["amplification"]["points"],
    script:
        "../scripts/amplification.py"


rule figure_amplification:
    """One figure of the amplification papers."""
    input:
        table=f"{OUT}/amplification/{{exhibit}}.csv",
        code=code("figure_amplification.py"),
    output:
        drawn("{exhibit}"),
    log:
        f"{OUT}/logs/figure_amplification/{{exhibit}}.log",
    benchmark:
        f"{OUT}/benchmarks/figure_amplification/{{exhibit}}.tsv"
    wildcard_constraints:
        exhibit="|".join(exhibits.FIGURES),
    conda:
        CONDA
    threads: 1
    resources:
        mem_mb=memory(200),
        runtime=minutes(10),
    params:
        edition=config["edition"],
    script:
        "../scripts/figure_amplification.py"


rule table_amplification:
    """One table of the amplification papers, readable."""
    input:
        table=f"{OUT}/amplification/{{exhibit}}.csv",
        code=code("table_amplification.py"),
    output:
        f"{OUT}/amplification/{{exhibit}}.md",
    log:
        f"{OUT}/logs/table_amplification/{{exhibit}}.log",
    benchmark:
        f"{OUT}/benchmarks/table_amplification/{{exhibit}}.tsv"
    wildcard_constraints:
        exhibit="|".join(exhibits.TABLES),
    conda:
        CONDA
    threads: 1
    resources:
        mem_mb=memory(150),
        runtime=minutes(3),
    script:
        "../scripts/table_amplification.py"


rule claims_amplification:
    """Verdict on the statements of the amplification papers' evaluations."""
    input:
        tables=expand(f"{OUT}/amplification/{{exhibit}}.csv", exhibit=exhibits.EXHIBITS),
        reference="config/reference/claims-amplification.yaml",
        code=code("claims_amplification.py"),
    output:
        table=shown(f"{OUT}/amplification/claims.csv"),
        readable=f"{OUT}/amplification/claims.md",
    log:
        f"{OUT}/logs/claims_amplification.log",
    benchmark:
        f"{OUT}/benchmarks/claims_amplification.tsv"
    conda:
        CONDA
    threads: 1
    resources:
        mem_mb=memory(150),
        runtime=minutes(3),
    params:
        points=config["amplification"]["points"],
        edition=config["edition"],
    script:
        "../scripts/claims_amplification.py"
