# Targets: what a user asks for by name.
DOCS = [
    *["fig2", "fig3", "fig4", "fig5", "fig6"],
    "summary",
    "fig2-proven",
    "messages-proven",
    "audit",
    "limit",
    "levels",
    "referee",
    "decomposition2",
    "variation1",
    "personalized4",
]


localrules:
    all,
    figures,
    claims,
    fig2,
    fig3,
    fig4,
    fig5,
    fig6,
    proven,
    audit,
    fig_levels,
    fig2_proven,
    fig3_proven,
    fig4_proven,
    fig5_proven,
    fig6_proven,
    docs_figures,


rule figures:
    """Figures 2-6 and the summary."""
    input:
        expand(
            f"{OUT}/figures/{{figure}}.{{format}}",
            figure=[
                name
                for name, shown in PANEL_FIGURES.items()
                if shown.accounting == "published"
            ],
            format=FORMATS,
        ),


rule claims:
    """Verdicts on the statements of the paper."""
    input:
        rules.verdicts.output,


rule fig2:
    """Figure 2: MSNBC, level split S1."""
    input:
        expand(f"{OUT}/figures/fig2.{{format}}", format=FORMATS),


rule fig3:
    """Figure 3: synthetic data, level split S1."""
    input:
        expand(f"{OUT}/figures/fig3.{{format}}", format=FORMATS),


rule fig4:
    """Figure 4: MSNBC, level splits S2 and S3."""
    input:
        expand(f"{OUT}/figures/fig4.{{format}}", format=FORMATS),


rule fig5:
    """Figure 5: synthetic data, level split S2."""
    input:
        expand(f"{OUT}/figures/fig5.{{format}}", format=FORMATS),


rule fig6:
    """Figure 6: synthetic data, level split S3."""
    input:
        expand(f"{OUT}/figures/fig6.{{format}}", format=FORMATS),


rule proven:
    """Figures 2-6 with proven accounting, error against messages per user, and the summary over all panels."""
    input:
        rules.proven_summary.output,
        rules.limit.output,
        expand(
            f"{OUT}/figures/{{figure}}.{{format}}",
            figure=[
                name
                for name, shown in PANEL_FIGURES.items()
                if shown.accounting == "proven"
            ],
            format=FORMATS,
        ),


rule audit:
    """What the published guarantee is worth in the full view of the server: table and figure."""
    input:
        rules.figure_audit.output,


rule fig_levels:
    """Error over the privacy of the levels themselves."""
    input:
        rules.figure_levels.output,


rule fig2_proven:
    """Figure 2 with proven accounting for everybody."""
    input:
        expand(f"{OUT}/figures/fig2-proven.{{format}}", format=FORMATS),


rule fig3_proven:
    """Figure 3 with proven accounting for everybody."""
    input:
        expand(f"{OUT}/figures/fig3-proven.{{format}}", format=FORMATS),


rule fig4_proven:
    """Figure 4 with proven accounting for everybody."""
    input:
        expand(f"{OUT}/figures/fig4-proven.{{format}}", format=FORMATS),


rule fig5_proven:
    """Figure 5 with proven accounting for everybody."""
    input:
        expand(f"{OUT}/figures/fig5-proven.{{format}}", format=FORMATS),


rule fig6_proven:
    """Figure 6 with proven accounting for everybody."""
    input:
        expand(f"{OUT}/figures/fig6-proven.{{format}}", format=FORMATS),


rule docs_figures:
    """Copy the figures and verdicts of a full run to docs/, for the README and the documents there."""
    input:
        figures=expand("results/figures/{figure}.png", figure=DOCS),
        claims="results/claims.md",
        proven="results/proven-summary.md",
        amplification="results/amplification/claims.md",
        referee="results/referee.md",
    output:
        figures=expand("docs/figures/{figure}.png", figure=DOCS),
        claims="docs/claims.md",
        proven="docs/proven-summary.md",
        amplification="docs/amplification-claims.md",
        referee="docs/referee-table.md",
    log:
        "results/logs/docs_figures.log",
    conda:
        CONDA
    shell:
        "(cp {input.figures:q} docs/figures/ && cp {input.claims:q} {output.claims:q} "
        "&& cp {input.proven:q} {output.proven:q} && cp {input.amplification:q} {output.amplification:q} "
        "&& cp {input.referee:q} {output.referee:q}) > {log:q} 2>&1"
