# Inputs: data, plans and statements of the paper. Outputs: verdicts under every reading of it.


PAPER_DATA = [name for name in WITH_DATA if name in PAPER]


rule readings:
    """Verdicts on the paper's statements under every combination of the choices that it leaves open."""
    input:
        data=collect("<results>/data/{dataset}/data.npy", dataset=PAPER_DATA),
        sources=collect("<results>/data/{dataset}/source.json", dataset=PAPER_DATA),
        plans=collect(
            "<results>/plans/published/{setting}.json",
            setting=[each.id for each in SETTINGS.values() if each.dataset in PAPER],
        ),
    output:
        table=shown("<results>/readings.csv"),
        readable="<results>/readings.md",
        figure=figure("readings"),
    log:
        "<logs>/readings.log",
    benchmark:
        "<benchmarks>/readings.tsv"
    conda:
        "../envs/segshuffle.yaml"
    threads: 1
    resources:
        mem_mb=memory,
        runtime=minutes(60),
    params:
        statements=reference("claims.yaml"),
        datasets=PAPER_DATA,
        settings=used(
            "seed",
            "delta_times_n",
            "levels",
            "splits",
            "blanket_per_user",
            "datasets",
            "competitors",
        ),
        captions=said("readings.csv", "figures/readings"),
        code=code_of(
            *DRAWING,
            "accounting",
            "blankets",
            "datasets",
            "pipeline/data.py",
            "protocols",
            "studies/claims",
            "studies/planning.py",
            "studies/readings",
            "studies/verdicts.py",
        ),
    script:
        "../scripts/readings.py"


rule fig_readings:
    """Verdicts on the paper's statements under every reading of it."""
    input:
        rules.readings.output,
    localrule: True


# no statement can be judged without the paper's own panels
READINGS = rules.readings.output if PAPER_DATA and not QUICK else []
