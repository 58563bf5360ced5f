# Inputs: the data of every dataset (given, downloaded, or a labelled stand-in). Outputs: users who hold s items.


rule dataset:
    """The data of one dataset: a given file, the download, or the labelled stand-in."""
    input:
        given=lambda wildcards: (
            [str(GIVEN[wildcards.dataset])] if GIVEN[wildcards.dataset] else []
        ),
        listed=lambda wildcards: (
            config["datasets"][wildcards.dataset].get("items") or []
        ),
        refreshed=lambda wildcards: REFRESHED[wildcards.dataset],
        code=code("dataset.py"),
    output:
        data=f"{OUT}/data/{{dataset}}/data.npy",
        source=f"{OUT}/data/{{dataset}}/source.json",
    log:
        f"{OUT}/logs/dataset/{{dataset}}.log",
    benchmark:
        f"{OUT}/benchmarks/dataset/{{dataset}}.tsv"
    wildcard_constraints:
        dataset="|".join(FETCHED),
    conda:
        CONDA
    threads: 1
    resources:
        mem_mb=memory(160),
        runtime=minutes(2),
    params:
        section=lambda wildcards: section_of(wildcards.dataset),
        seed=config["seed"],
        cache="data",
        # without a network a small run goes on with the stand-in after ten seconds instead of thirty
        attempts=3 if config["edition"] == "full" else 1,
    script:
        "../scripts/dataset.py"


rule population:
    """Users of one setting: n users with exactly s items each."""
    input:
        unpack(data_of),
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
        section=lambda wildcards: section_of(SETTINGS[wildcards.setting].dataset),
        seed=config["seed"],
    script:
        "../scripts/population.py"
