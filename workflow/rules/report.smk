# Inputs: everything a run has made. Outputs: verdicts, runtimes, provenance, and what each file is.


rule provenance:
    """Versions, commit, seed, data source, hashes of figures, tables and verdicts; the effective configuration; a README."""
    input:
        outputs=RESULTS,
        sources=expand(f"{OUT}/data/{{dataset}}/source.json", dataset=FETCHED),
        declared=DECLARED,
        code=code("provenance.py"),
    output:
        provenance=shown(f"{OUT}/provenance.json"),
        config=f"{OUT}/config.yaml",
        readme=f"{OUT}/README.md",
    log:
        f"{OUT}/logs/provenance.log",
    benchmark:
        f"{OUT}/benchmarks/provenance.tsv"
    conda:
        CONDA
    threads: 1
    resources:
        mem_mb=memory(130),
        runtime=minutes(1),
    params:
        config=config,
        commit=commit(),
    script:
        "../scripts/provenance.py"


rule runtimes:
    """How long every rule took, and the memory it needed, from the benchmarks of the jobs that ran."""
    input:
        outputs=RESULTS,
        code=code("runtimes.py"),
    output:
        shown(f"{OUT}/runtimes.csv"),
    log:
        f"{OUT}/logs/runtimes.log",
    benchmark:
        f"{OUT}/benchmarks/runtimes.tsv"
    conda:
        CONDA
    threads: 1
    resources:
        mem_mb=memory(130),
        runtime=minutes(1),
    params:
        folder=f"{OUT}/benchmarks",
        jobs=sorted(
            {*FETCHED, *SETTINGS, *SCENARIOS, *PANEL_FIGURES}
            | {*config["referee"]["cases"], *exhibits.EXHIBITS}
        ),
    script:
        "../scripts/runtimes.py"
