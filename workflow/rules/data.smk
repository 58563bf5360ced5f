# Inputs: the raw log or its generator. Outputs: the data of every dataset, and the users of every setting.


# datasets whose users are drawn from data
WITH_DATA = [name for name in config["datasets"] if dataset_of(name).obtain]
SOURCES_OF_DATA = [f"<results>/data/{name}/source.json" for name in WITH_DATA]


rule dataset:
    """The data of one dataset: a given file, the download, or the labelled stand-in."""
    input:
        own_files,
        replaced,
    output:
        data="<results>/data/{dataset}/data.npy",
        # kept while the job runs: it sees whether a stand-in would take the place of real data
        source=update("<results>/data/{dataset}/source.json"),
        licence="<results>/data/{dataset}/LICENCE.txt",
    log:
        "<logs>/dataset/{dataset}.log",
    benchmark:
        "<benchmarks>/dataset/{dataset}.tsv"
    priority: 1
    conda:
        "../envs/segshuffle.yaml"
    params:
        section=section_of,
        seed=config["seed"],
        code=code_of(*DATA),
    script:
        "../scripts/dataset.py"


rule replaced:
    """Mark a stand-in that real data replace, so that what was drawn from it is drawn again."""
    output:
        touch("<results>/data/{dataset}/replaced"),
    log:
        "<logs>/replaced/{dataset}.log",
    localrule: True
    conda:
        "../envs/segshuffle.yaml"
    shell:
        "> {log:q}"


rule refresh:
    """Download the real data of every dataset; the next run uses them in the place of stand-ins."""
    log:
        "<logs>/refresh.log",
    localrule: True
    conda:
        "../envs/segshuffle.yaml"
    params:
        code=code_of(*DATA),
    script:
        "../scripts/refresh.py"


rule population:
    """Users of one setting: n users with exactly s items each."""
    input:
        unpack(data_of_users),
    output:
        "<results>/populations/{dataset}-n{n_users}-s{set_size}.npz",
    log:
        "<logs>/population/{dataset}-n{n_users}-s{set_size}.log",
    benchmark:
        "<benchmarks>/population/{dataset}-n{n_users}-s{set_size}.tsv"
    priority: 1
    conda:
        "../envs/segshuffle.yaml"
    params:
        setting=setting_of,
        section=section_of,
        seed=config["seed"],
        code=code_of(*DATA),
    script:
        "../scripts/population.py"


rule only_real:
    """Check that the data of this run are real: otherwise nothing is copied to docs/."""
    input:
        SOURCES_OF_DATA,
    output:
        touch("<results>/data/only-real.txt"),
    log:
        "<logs>/only_real.log",
    priority: 2
    conda:
        "../envs/segshuffle.yaml"
    params:
        advice="docs/ must show the real data, but the files named above describe a stand-in. Name your own copy by its "
        "environment variable, or connect to the network and run snakemake refresh. Then run snakemake docs_figures again.",
    shell:
        'if grep -l \'"kind": "stand-in"\' {input:q}; then echo {params.advice:q}; exit 1; fi 2>&1 | tee {log:q} >&2'
