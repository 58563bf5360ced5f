# Inputs: the configuration. Outputs: how close one level comes to a trusted curator.


rule limit:
    """Error over a trusted curator's with one level, over the size of the blanket."""
    input:
        code=code("figure_limit.py"),
    output:
        table=f"{OUT}/limit.csv",
        figures=drawn("limit"),
    log:
        f"{OUT}/logs/limit.log",
    benchmark:
        f"{OUT}/benchmarks/limit.tsv"
    conda:
        CONDA
    threads: 1
    resources:
        mem_mb=memory(180),
        runtime=minutes(4),
    params:
        set_sizes=sorted(
            {min(s.set_size, s.domain_size - s.set_size) for s in SETTINGS.values()}
        ),
        deltas=sorted({least_delta(config, s.n_users) for s in SETTINGS.values()}),
        edition=config["edition"],
    script:
        "../scripts/figure_limit.py"
