# Inputs: settings of the amplification papers, no data. Outputs: their figures, tables and verdicts.


AMPLIFICATION_CLAIMS = [
    f"{OUT}/amplification/claims.csv",
    f"{OUT}/amplification/claims.md",
]
AMPLIFICATION = amplification_files(design.ITEMS) + AMPLIFICATION_CLAIMS
# in the quick edition `all` makes one figure and one table of these papers; `amplification` makes everything
SAMPLE = ["decomposition8", "variation-table5"]
AMPLIFICATION_IN_ALL = (
    AMPLIFICATION if config["edition"] != "quick" else amplification_files(SAMPLE)
)


rule amplification_curves:
    """Every curve of one figure or table of the amplification papers. Sees no data."""
    input:
        code=code("amplification.py"),
    output:
        f"{OUT}/amplification/{{item}}.csv",
    log:
        f"{OUT}/logs/amplification_curves/{{item}}.log",
    benchmark:
        f"{OUT}/benchmarks/amplification_curves/{{item}}.tsv"
    wildcard_constraints:
        item="|".join(design.ITEMS),
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
        table=f"{OUT}/amplification/{{item}}.csv",
        code=code("figure_amplification.py"),
    output:
        drawn("{item}", "amplification", "Amplification papers", accounting="by curve"),
    log:
        f"{OUT}/logs/figure_amplification/{{item}}.log",
    benchmark:
        f"{OUT}/benchmarks/figure_amplification/{{item}}.tsv"
    wildcard_constraints:
        item="|".join(design.FIGURES),
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
        table=f"{OUT}/amplification/{{item}}.csv",
        code=code("table_amplification.py"),
    output:
        f"{OUT}/amplification/{{item}}.md",
    log:
        f"{OUT}/logs/table_amplification/{{item}}.log",
    benchmark:
        f"{OUT}/benchmarks/table_amplification/{{item}}.tsv"
    wildcard_constraints:
        item="|".join(design.TABLES),
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
        tables=expand(f"{OUT}/amplification/{{item}}.csv", item=design.ITEMS),
        reference="config/reference/claims-amplification.yaml",
        code=code("claims_amplification.py"),
    output:
        table=report(
            f"{OUT}/amplification/claims.csv",
            caption="../report/claims-amplification.rst",
            category="Verdicts",
            labels={"what": "statements of the amplification papers"},
        ),
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


localrules:
    amplification,
    fig_decomposition2,
    fig_decomposition3,
    fig_decomposition4,
    fig_decomposition5,
    fig_decomposition6,
    fig_decomposition7,
    fig_decomposition8,
    fig_variation1,
    fig_variation2,
    fig_variation3,
    fig_variation4,
    fig_variation5,
    table_variation5,
    fig_personalized4,
    table_personalized2,


rule amplification:
    """Figures, tables and verdicts of the amplification papers."""
    input:
        AMPLIFICATION,


rule fig_decomposition2:
    """Decomposition paper, Figure 2: one randomizer: upper and lower bound against earlier bounds."""
    input:
        expand(f"{OUT}/figures/decomposition2.{{format}}", format=FORMATS),


rule fig_decomposition3:
    """Decomposition paper, Figure 3: joint composition of two and of three randomizers."""
    input:
        expand(f"{OUT}/figures/decomposition3.{{format}}", format=FORMATS),


rule fig_decomposition4:
    """Decomposition paper, Figure 4: parallel composition of 10-ary randomized response and binary local hash."""
    input:
        expand(f"{OUT}/figures/decomposition4.{{format}}", format=FORMATS),


rule fig_decomposition5:
    """Decomposition paper, Figure 5: RAPPOR with varying domain size."""
    input:
        expand(f"{OUT}/figures/decomposition5.{{format}}", format=FORMATS),


rule fig_decomposition6:
    """Decomposition paper, Figure 6: Poisson subsampling of 10-ary randomized response."""
    input:
        expand(f"{OUT}/figures/decomposition6.{{format}}", format=FORMATS),


rule fig_decomposition7:
    """Decomposition paper, Figure 7: joint composition: neighbours at Hamming distance 1, 2 and 3."""
    input:
        expand(f"{OUT}/figures/decomposition7.{{format}}", format=FORMATS),


rule fig_decomposition8:
    """Decomposition paper, Figure 8: distribution of the generalised amplification variable, Laplace mechanism."""
    input:
        expand(f"{OUT}/figures/decomposition8.{{format}}", format=FORMATS),


rule fig_variation1:
    """Variation-ratio paper, Figure 1: subset selection."""
    input:
        expand(f"{OUT}/figures/variation1.{{format}}", format=FORMATS),


rule fig_variation2:
    """Variation-ratio paper, Figure 2: optimal local hash."""
    input:
        expand(f"{OUT}/figures/variation2.{{format}}", format=FORMATS),


rule fig_variation3:
    """Variation-ratio paper, Figure 3: flipped one-hot vectors with fake users (Cheu and Zhilyaev)."""
    input:
        expand(f"{OUT}/figures/variation3.{{format}}", format=FORMATS),


rule fig_variation4:
    """Variation-ratio paper, Figure 4: balls into bins."""
    input:
        expand(f"{OUT}/figures/variation4.{{format}}", format=FORMATS),


rule fig_variation5:
    """Variation-ratio paper, Figure 5: range queries: separate, basic and advanced parallel composition."""
    input:
        expand(f"{OUT}/figures/variation5.{{format}}", format=FORMATS),


rule table_variation5:
    """Variation-ratio paper, Table 5: general randomizers, bisection with 20 and 10 steps."""
    input:
        f"{OUT}/amplification/variation-table5.csv",
        f"{OUT}/amplification/variation-table5.md",


rule fig_personalized4:
    """Personalised paper, Figure 4: epsilon over the number of users, four laws of the budgets."""
    input:
        expand(f"{OUT}/figures/personalized4.{{format}}", format=FORMATS),


rule table_personalized2:
    """Personalised paper, Table 2: delta at given epsilon, approximate mechanisms."""
    input:
        f"{OUT}/amplification/personalized-table2.csv",
        f"{OUT}/amplification/personalized-table2.md",
