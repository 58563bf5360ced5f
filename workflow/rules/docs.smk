# Inputs: the results of a full run. Outputs: the figures and tables that README and docs/ show.


# file of a full run -> its copy in docs/
DOCUMENTS = {
    "amplification/claims.md": "amplification-claims.md",
    "claims.md": "claims.md",
    "deployments.md": "deployments.md",
    "pareto.md": "pareto.md",
    "referee.md": "referee-table.md",
    "proven-summary.md": "proven-summary.md",
}
DOCUMENTS |= {
    f"figures/{name}.png": f"figures/{name}.png"
    for name in [
        "decomposition2",
        "variation1",
        "personalized4",
        "participation",
        "influence",
        "dependence",
        "rounds",
        "readings",
        "audit",
        "levels",
        "limit",
        "referee",
        "deployments",
        "fig2",
        "fig3",
        "fig4",
        "fig5",
        "fig6",
        "summary",
        "fig2-proven",
        "messages-proven",
    ]
}


rule docs_figures:
    """Copy the figures and verdicts of a full run to docs/, for the README and the documents there."""
    input:
        [f"results/{path}" for path in DOCUMENTS],
        # made first: a stand-in is refused before any other work
        "results/data/only-real.txt",
    output:
        [f"docs/{copy}" for copy in DOCUMENTS.values()],
    log:
        "results/logs/docs_figures.log",
    localrule: True
    conda:
        "../envs/segshuffle.yaml"
    params:
        commands=" && ".join(
            f"cp 'results/{path}' 'docs/{copy}'" for path, copy in DOCUMENTS.items()
        ),
    shell:
        "({params.commands}) > {log:q} 2>&1"
