# Inputs: the tables of the panels. Outputs: Figures 2-6 of the paper and the summary.


rule figure:
    """One figure of the panels, under one accounting. It needs only its own panels."""
    input:
        panels=panels_of_figure,
    output:
        in_formats("{panels}"),
    log:
        "<logs>/figure/{panels}.log",
    benchmark:
        "<benchmarks>/figure/{panels}.tsv"
    priority: published_first
    conda:
        "../envs/segshuffle.yaml"
    params:
        captions=said("figures/{panels}"),
        code=code_of(*DRAW, "reproduction/studies/panels"),
    script:
        "../scripts/figure.py"


rule figures:
    """Figures 2-6 and the summary; of other datasets a figure per dataset and split."""
    input:
        collect(
            "<results>/figures/{name}{format}",
            name=[*FIGURE_PANELS, "summary"],
            format=FORMATS,
        ),


rule paper:
    """Figures 2-6 of the paper, and a verdict on each of its statements; nothing else."""
    input:
        collect("<results>/figures/{name}{format}", name=FIGURES, format=FORMATS),
        "<results>/claims.csv",
        "<results>/claims.md",


# these are drawn by the rule `figure`, from the tables that `panels_of_figure` in functions.smk names
rule fig2:
    """Figure 2: MSNBC, split S1."""
    input:
        multiext("<results>/figures/fig2", *FORMATS),


rule fig3:
    """Figure 3: synthetic data, split S1."""
    input:
        multiext("<results>/figures/fig3", *FORMATS),


rule fig4:
    """Figure 4: MSNBC, splits S2 and S3."""
    input:
        multiext("<results>/figures/fig4", *FORMATS),


rule fig5:
    """Figure 5: synthetic data, split S2."""
    input:
        multiext("<results>/figures/fig5", *FORMATS),


rule fig6:
    """Figure 6: synthetic data, split S3."""
    input:
        multiext("<results>/figures/fig6", *FORMATS),


rule summary:
    """All panels at a glance."""
    input:
        multiext("<results>/figures/summary", *FORMATS),
