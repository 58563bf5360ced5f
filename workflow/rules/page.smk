# Inputs: all results. Outputs: the record of the run, its run times, and one page that shows everything.


# what each part makes; `parts` of the configuration chooses
MADE = {
    "paper": [rules.aggregate.output, rules.claims.output, rules.figures.input],
    "proven": rules.proven.input,
    "readings": rules.readings.output,
    "audit": rules.audit.output,
    "levels": [rules.fig_levels.input, rules.fig_levels.output],
    "limit": rules.fig_limit.input,
    "assumptions": [
        rules.fig_participation.output,
        rules.fig_influence.output,
        rules.fig_dependence.output,
        rules.fig_rounds.output,
    ],
    "pareto": rules.pareto.output,
    "amplification": [rules.amplification.input, rules.amplification.output],
    "referee": [rules.referee.input, rules.referee.output],
    "deployments": rules.deployments.output,
}
for part in config["parts"]:
    if part not in MADE:
        raise WorkflowError(
            f"parts: {part!r} is not allowed: it must be one of {', '.join(MADE)}"
        )
RESULTS = [files for part, files in MADE.items() if part in config["parts"]]


rule provenance:
    """Versions, commit, seed, data source, hashes of results; the configuration; CONTENTS.md; time and memory by rule."""
    input:
        outputs=RESULTS,
        sources=SOURCES_OF_DATA,
    output:
        config="<results>/config.yaml",
        contents="<results>/CONTENTS.md",
        record=shown("<results>/provenance.json"),
        # from the benchmarks of the jobs that ran
        runtimes=shown("<results>/runtimes.csv"),
    log:
        "<logs>/provenance.log",
    benchmark:
        "<benchmarks>/provenance.tsv"
    conda:
        "../envs/segshuffle.yaml"
    params:
        config=config,
        commit=commit_of(ROOT),
        benchmarks=f"{OUT}/benchmarks",
        captions=said("provenance.json", "runtimes.csv"),
        code=code_of(*PAGE, "reproduction/runtimes.py"),
    script:
        "../scripts/provenance.py"


rule page:
    """One page with all figures, interactive charts, tables and verdicts; opens in a browser without a network."""
    input:
        results=[*RESULTS, rules.provenance.output.runtimes],
        provenance=rules.provenance.output.record,
        config=rules.provenance.output.config,
    output:
        shown("<results>/index.html"),
    log:
        "<logs>/page.log",
    benchmark:
        "<benchmarks>/page.tsv"
    conda:
        "../envs/segshuffle.yaml"
    params:
        captions=said("index.html"),
        code=code_of(*PAGE),
    script:
        "../scripts/page.py"
