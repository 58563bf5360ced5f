# Inputs: mse.csv and the panels. Outputs: the summary of the proven protocol, and its figures (drawn by the rule `figure`).


rule proven_summary:
    """How much error proven accounting and copies save, one row per panel."""
    input:
        "<results>/mse.csv",
    output:
        table=shown("<results>/proven-summary.csv"),
        readable="<results>/proven-summary.md",
    log:
        "<logs>/proven_summary.log",
    benchmark:
        "<benchmarks>/proven_summary.tsv"
    conda:
        "../envs/segshuffle.yaml"
    params:
        budgets=config["proven"]["max_messages"],
        captions=said("proven-summary.csv"),
        code=code_of(*COMPUTE, *DRAW, "reproduction/studies/panels"),
    script:
        "../scripts/proven_summary.py"


rule proven:
    """The panels of `figures` with proven accounting, error over messages per user, and a summary of all panels."""
    input:
        rules.proven_summary.output,
        collect(
            "<results>/figures/{name}-proven{format}",
            name=[*FIGURE_PANELS, "messages"],
            format=FORMATS,
        ),


rule fig2_proven:
    """Figure 2 with proven accounting."""
    input:
        multiext("<results>/figures/fig2-proven", *FORMATS),


rule fig3_proven:
    """Figure 3 with proven accounting."""
    input:
        multiext("<results>/figures/fig3-proven", *FORMATS),


rule fig4_proven:
    """Figure 4 with proven accounting."""
    input:
        multiext("<results>/figures/fig4-proven", *FORMATS),


rule fig5_proven:
    """Figure 5 with proven accounting."""
    input:
        multiext("<results>/figures/fig5-proven", *FORMATS),


rule fig6_proven:
    """Figure 6 with proven accounting."""
    input:
        multiext("<results>/figures/fig6-proven", *FORMATS),


rule messages_proven:
    """Error over messages per user."""
    input:
        multiext("<results>/figures/messages-proven", *FORMATS),
