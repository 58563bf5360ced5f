# Inputs: what a run has made. Outputs: one self-contained page about it.


rule page:
    """One page with all figures, interactive charts, tables and verdicts; opens in a browser without a network."""
    input:
        tables=[f"{OUT}/{path}" for path in manifest.on_page(TARGETS)],
        provenance=rules.provenance.output.provenance,
        config=rules.provenance.output.config,
        figures=[path for path in RESULTS if path.endswith(".svg")],
        assets=[
            os.path.relpath(path)
            for path in sorted((ROOT / "src/segshuffle/page/assets").iterdir())
        ],
        declared=DECLARED,
        words=[
            os.path.relpath(file)
            for path in sorted(manifest.FOLDER.glob("*/words.py"))
            for file in [path, *package_files(path, source=ROOT / "src")]
        ],
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
