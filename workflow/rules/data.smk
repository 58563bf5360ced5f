# Inputs: the MSNBC log (given, downloaded, or a labelled stand-in). Outputs: populations of users who hold s items.


rule msnbc:
    """The MSNBC sessions as one bitmask per user: a given file, the download, or the labelled stand-in."""
    input:
        given=[str(MSNBC_PATH)] if MSNBC_PATH else [],
        code=code("msnbc.py"),
    output:
        sessions=f"{OUT}/data/msnbc.npy",
        source=f"{OUT}/data/msnbc-source.json",
    log:
        f"{OUT}/logs/msnbc.log",
    benchmark:
        f"{OUT}/benchmarks/msnbc.tsv"
    conda:
        CONDA
    threads: 1
    resources:
        mem_mb=memory(160),
        runtime=minutes(2),
    params:
        download=config["msnbc"]["download"],
        seed=config["seed"],
        cache="data/msnbc990928.seq.gz",
    script:
        "../scripts/msnbc.py"


rule population:
    """Users of one setting: n users with exactly s items each."""
    input:
        unpack(sessions_of),
        code=code("population.py"),
    output:
        f"{OUT}/populations/{{setting}}.npz",
    log:
        f"{OUT}/logs/population/{{setting}}.log",
    benchmark:
        f"{OUT}/benchmarks/population/{{setting}}.tsv"
    conda:
        CONDA
    threads: 1
    resources:
        mem_mb=memory(150),
        runtime=minutes(1),
    params:
        setting=lambda wildcards: asdict(SETTINGS[wildcards.setting]),
        padding=config["msnbc"]["padding"],
        seed=config["seed"],
    script:
        "../scripts/population.py"
