# Inputs: all results. Outputs: the record of the run, its run times, and one page that shows everything.


AMPLIFICATION_CLAIMS = [] if QUICK else rules.claims_amplification.output.table
# everything that a run makes, in the order of the page
RESULTS = [
    (
        [exhibit(name) for name in ("decomposition8", "variation-table5")]
        if QUICK
        else rules.amplification.input
    ),
    rules.fig_participation.input,
    rules.fig_influence.input,
    rules.fig_dependence.input,
    rules.fig_rounds.input,
    rules.audit.input,
    rules.aggregate.output,
    rules.claims.input,
    READINGS,
    rules.fig_levels.input,
    rules.fig_limit.input,
    rules.pareto.input,
    rules.referee.input,
    rules.figures.input,
    rules.proven.input,
]


rule provenance:
    """Versions, commit, seed, data source, hashes of figures, tables and verdicts; the configuration; CONTENTS.md."""
    input:
        outputs=RESULTS,
        sources=SOURCES_OF_DATA,
    output:
        config="<results>/config.yaml",
        contents="<results>/CONTENTS.md",
        record=shown("<results>/provenance.json"),
    log:
        "<logs>/provenance.log",
    benchmark:
        "<benchmarks>/provenance.tsv"
    conda:
        "../envs/segshuffle.yaml"
    threads: 1
    resources:
        mem_mb=memory,
        runtime=minutes(10),
    params:
        config=config,
        commit=commit_of(ROOT),
        captions=said("provenance.json"),
        code=code_of(*SAID, "datasets", "pipeline/provenance.py"),
    script:
        "../scripts/provenance.py"


rule runtimes:
    """How long every rule took, and the memory it needed, from the benchmarks of the jobs that ran."""
    input:
        RESULTS,
    output:
        shown("<results>/runtimes.csv"),
    log:
        "<logs>/runtimes.log",
    benchmark:
        "<benchmarks>/runtimes.tsv"
    conda:
        "../envs/segshuffle.yaml"
    threads: 1
    resources:
        mem_mb=memory,
        runtime=minutes(10),
    params:
        folder=f"{OUT}/benchmarks",
        captions=said("runtimes.csv"),
        code=code_of("pipeline/runtimes.py"),
    script:
        "../scripts/runtimes.py"


rule page:
    """One page with all figures, interactive charts, tables and verdicts; opens in a browser without a network."""
    input:
        results=RESULTS,
        tables=[
            AMPLIFICATION_CLAIMS,
            rules.figure_audit.output.table,
            rules.verdicts.output.table,
            READINGS and rules.readings.output.table,
            rules.figure_levels.input,
            rules.limit.output.table,
            rules.aggregate.output,
            rules.proven_summary.output.table,
            rules.referee_verdicts.output.table,
            rules.runtimes.output,
        ],
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
    threads: 1
    resources:
        mem_mb=memory,
        runtime=minutes(20),
    params:
        captions=said("index.html"),
        code=code_of(
            *DRAWING,
            *SAID,
            "accounting",
            "blankets",
            "datasets",
            "page",
            "pipeline/provenance.py",
            "protocols",
            "studies",
        ),
    script:
        "../scripts/page.py"
