# Inputs: what a run has made. Outputs: one self-contained page about it.


rule page:
    """One page with all figures, interactive charts, tables and verdicts; opens in a browser without a network."""
    input:
        errors=rules.aggregate.output[0],
        summary=rules.proven_summary.output.table,
        claims=rules.verdicts.output.table,
        audit=rules.figure_audit.output.table,
        limit=rules.limit.output.table,
        levels=expand(f"{OUT}/levels/{{setting}}.csv", setting=SETTINGS),
        runtimes=rules.runtimes.output[0],
        provenance=rules.provenance.output.provenance,
        config=rules.provenance.output.config,
        amplification=[
            path for path in RESULTS if path.endswith("amplification/claims.csv")
        ],
        referee=rules.referee_verdicts.output.verdicts,
        figures=[path for path in RESULTS if path.endswith(".svg")],
        assets=[
            os.path.relpath(path)
            for path in sorted((ROOT / "src/segshuffle/page/assets").iterdir())
        ],
        declared=DECLARED,
        code=code("page.py"),
    output:
        shown(f"{OUT}/index.html"),
    log:
        f"{OUT}/logs/page.log",
    benchmark:
        f"{OUT}/benchmarks/page.tsv"
    conda:
        CONDA
    threads: 1
    resources:
        mem_mb=memory(300),
        runtime=minutes(20),
    script:
        "../scripts/page.py"
