# Inputs: none, the papers' settings are in the package. Outputs: figures, tables and verdicts of the amplification papers.


EXHIBITS = ["decomposition2", "decomposition3", "decomposition4", "decomposition5"]
EXHIBITS += ["decomposition6", "decomposition7", "decomposition8"]
EXHIBITS += ["variation1", "variation2", "variation3", "variation4", "variation5"]
EXHIBITS += ["variation-table5", "personalized4", "personalized-table2"]


rule amplification_curves:
    """Every curve of one figure or table of the amplification papers. Sees no data."""
    output:
        "<results>/amplification/{exhibit}.csv",
    log:
        "<logs>/amplification_curves/{exhibit}.log",
    benchmark:
        "<benchmarks>/amplification_curves/{exhibit}.tsv"
    conda:
        "../envs/segshuffle.yaml"
    threads: 1
    resources:
        mem_mb=memory,
        runtime=minutes(60),
    params:
        points=lookup("amplification/points", within=config),
        code=code_of("accounting", "blankets", "studies/amplification"),
    script:
        "../scripts/amplification_curves.py"


rule figure_amplification:
    """One figure of the amplification papers."""
    input:
        "<results>/amplification/{exhibit}.csv",
    output:
        figure("{exhibit}"),
    log:
        "<logs>/figure_amplification/{exhibit}.log",
    benchmark:
        "<benchmarks>/figure_amplification/{exhibit}.tsv"
    conda:
        "../envs/segshuffle.yaml"
    threads: 1
    resources:
        mem_mb=memory,
        runtime=minutes(10),
    params:
        captions=said("figures/{exhibit}"),
        code=code_of(*DRAWING, "studies/amplification", "studies/verdicts.py"),
    script:
        "../scripts/figure_amplification.py"


rule table_amplification:
    """One table of the amplification papers, readable."""
    input:
        "<results>/amplification/{exhibit}.csv",
    output:
        "<results>/amplification/{exhibit}.md",
    log:
        "<logs>/table_amplification/{exhibit}.log",
    benchmark:
        "<benchmarks>/table_amplification/{exhibit}.tsv"
    conda:
        "../envs/segshuffle.yaml"
    threads: 1
    resources:
        mem_mb=memory,
        runtime=minutes(10),
    params:
        words=lambda wildcards: WORDS.of(f"amplification/{wildcards.exhibit}.md"),
        code=code_of(*DRAWING, "studies/amplification", "studies/verdicts.py"),
    script:
        "../scripts/table_amplification.py"


rule claims_amplification:
    """Verdict on the statements of the amplification papers' evaluations."""
    input:
        tables=collect("<results>/amplification/{exhibit}.csv", exhibit=EXHIBITS),
    output:
        table=shown("<results>/amplification/claims.csv"),
        readable="<results>/amplification/claims.md",
    log:
        "<logs>/claims_amplification.log",
    benchmark:
        "<benchmarks>/claims_amplification.tsv"
    conda:
        "../envs/segshuffle.yaml"
    threads: 1
    resources:
        mem_mb=memory,
        runtime=minutes(10),
    params:
        statements=reference("claims-amplification.yaml"),
        captions=said("amplification/claims.csv"),
        code=code_of(
            *DRAWING, "datasets", "studies/amplification", "studies/verdicts.py"
        ),
    script:
        "../scripts/claims_amplification.py"


rule amplification:
    """Figures, tables and verdicts of the amplification papers."""
    input:
        [exhibit(name) for name in EXHIBITS],
        rules.claims_amplification.output,
