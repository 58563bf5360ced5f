# Inputs: none, the papers' settings are in the package. Outputs: figures, tables and verdicts of the amplification papers.


# figures and tables of these papers, such as decomposition2 and variation-table5
EXHIBITS = config["amplification"].get("exhibits", exhibits())
TABLES = [name for name in EXHIBITS if "-table" in name]
CURVES = [name for name in EXHIBITS if name not in TABLES]


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
    params:
        points=config["amplification"]["points"],
        code=code_of(*COMPUTE, "reproduction/studies/amplification"),
    script:
        "../scripts/amplification_curves.py"


rule amplification:
    """Figures, tables and verdicts of the amplification papers."""
    input:
        tables=collect("<results>/amplification/{exhibit}.csv", exhibit=EXHIBITS),
    output:
        # in one job: what takes longest is to load the libraries
        drawings=[in_formats(name) for name in CURVES],
        readable=collect("<results>/amplification/{exhibit}.md", exhibit=TABLES),
        claims=shown("<results>/amplification/claims.csv"),
        readable_claims="<results>/amplification/claims.md",
    log:
        "<logs>/amplification.log",
    benchmark:
        "<benchmarks>/amplification.tsv"
    conda:
        "../envs/segshuffle.yaml"
    params:
        statements=reference("claims-amplification.yaml"),
        curves=CURVES,
        titled=[CAPTIONS.of(f"amplification/{name}.md") for name in TABLES],
        captions=said(
            "amplification/claims.csv", *(f"figures/{name}" for name in CURVES)
        ),
        code=code_of(*DRAW, "reproduction/studies/amplification"),
    script:
        "../scripts/amplification.py"
