# Inputs: data, plans and statements of the paper. Outputs: verdicts under every reading of it.


PAPER_DATA = [name for name in WITH_DATA if name in PAPER]


rule readings:
    """Verdicts on the paper's statements under every combination of the choices that it leaves open."""
    input:
        data=collect("<results>/data/{dataset}/data.npy", dataset=PAPER_DATA),
        sources=collect("<results>/data/{dataset}/source.json", dataset=PAPER_DATA),
        plans=collect(
            "<results>/plans/published/{setting}.json",
            setting=PAPER_SETTINGS,
        ),
    output:
        table=shown("<results>/readings.csv"),
        drawing=in_formats("readings"),
    log:
        "<logs>/readings.log",
    benchmark:
        "<benchmarks>/readings.tsv"
    conda:
        "../envs/segshuffle.yaml"
    params:
        statements=reference("claims.yaml"),
        settings=used(
            "seed",
            "delta_times_n",
            "levels",
            "splits",
            "blanket_grid",
            "datasets",
            "competitors",
        ),
        captions=said("readings.csv", "figures/readings"),
        code=code_of(
            *COMPUTE,
            *DRAW,
            "reproduction/studies/claims",
            "reproduction/studies/readings",
        ),
    script:
        "../scripts/readings.py"
