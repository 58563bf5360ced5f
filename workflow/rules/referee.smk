# Inputs: none. Outputs: upper bounds, published and proven, against proven lower bounds: tables, verdicts, figure.


rule referee_generic:
    """Claims of the bounds that know no more of a mechanism than its local epsilon."""
    input:
        code=code("referee_generic.py"),
    output:
        f"{OUT}/referee/generic.csv",
    log:
        f"{OUT}/logs/referee_generic.log",
    benchmark:
        f"{OUT}/benchmarks/referee_generic.tsv"
    conda:
        CONDA
    threads: 1
    resources:
        mem_mb=memory(200),
        runtime=minutes(20),
    params:
        config=part("delta_times_n", "referee"),
    script:
        "../scripts/referee_generic.py"


rule referee_case:
    """All bounds that apply to one mechanism against the proven lower bounds. Sees no data."""
    input:
        generic=rules.referee_generic.output,
        code=code("referee_case.py"),
    output:
        f"{OUT}/referee/case-{{case}}.csv",
    log:
        f"{OUT}/logs/referee_case/{{case}}.log",
    benchmark:
        f"{OUT}/benchmarks/referee_case/{{case}}.tsv"
    wildcard_constraints:
        case="|".join(config["referee"]["cases"]),
    conda:
        CONDA
    threads: 1
    resources:
        mem_mb=memory(300),
        runtime=minutes(80),
    params:
        config=part("delta_times_n", "referee"),
    script:
        "../scripts/referee_case.py"


rule referee_verdicts:
    """One table, one verdict per accountant and mechanism, and the figure."""
    input:
        tables=expand(
            f"{OUT}/referee/case-{{case}}.csv", case=config["referee"]["cases"]
        ),
        code=code("referee_verdicts.py"),
    output:
        table=f"{OUT}/referee.csv",
        verdicts=shown(f"{OUT}/referee-verdicts.csv"),
        readable=f"{OUT}/referee.md",
        figures=drawn("referee"),
    log:
        f"{OUT}/logs/referee_verdicts.log",
    benchmark:
        f"{OUT}/benchmarks/referee_verdicts.tsv"
    conda:
        CONDA
    threads: 1
    resources:
        mem_mb=memory(250),
        runtime=minutes(20),
    params:
        edition=config["edition"],
    script:
        "../scripts/referee_verdicts.py"
