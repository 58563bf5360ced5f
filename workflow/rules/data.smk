# Inputs: the raw log or its generator. Outputs: the data of every dataset, and the users of every setting.


# datasets whose users are drawn from data
WITH_DATA = [name for name in config["datasets"] if dataset_of(name).obtain]
SOURCES_OF_DATA = [f"<results>/data/{name}/source.json" for name in WITH_DATA]


def own_copy(wildcards):
    """Name the user's own copy of the data, if there is one."""
    path = GIVEN[wildcards.dataset]
    return [str(path)] if path else []


def watched(wildcards):
    """Name the list of items, and a marker if real data have come in the place of a stand-in."""
    name = wildcards.dataset
    items = config["datasets"][name].get("items")
    folder, dataset = Path(OUT, "data", name), dataset_of(name)
    source, marker = folder / "source.json", folder / "refreshed"
    # real data are looked for only while a stand-in is in use
    if (
        workflow.is_main_process
        and not GIVEN[name]
        and dataset.refresh
        and source.is_file()
        and json.loads(source.read_text(encoding="utf-8"))["kind"] == "stand-in"
        and dataset.refresh(config["datasets"][name], Path("data"))
    ):
        marker.touch()
    return [items] * bool(items) + [str(marker)] * marker.exists()


def section_of(wildcards):
    """Return the keys of a dataset's section that its data and users depend on."""
    section = config["datasets"][wildcards.dataset]
    sizes = {"n_users", "set_sizes", "path"}
    return {key: value for key, value in section.items() if key not in sizes}


def data_of_users(wildcards):
    """Name the data that users are drawn from; none for a generator."""
    if wildcards.dataset not in WITH_DATA:
        return {}
    folder = f"<results>/data/{wildcards.dataset}"
    return {"data": f"{folder}/data.npy", "source": f"{folder}/source.json"}


rule dataset:
    """The data of one dataset: a given file, the download, or the labelled stand-in."""
    input:
        given=own_copy,
        watched=watched,
    output:
        data="<results>/data/{dataset}/data.npy",
        source="<results>/data/{dataset}/source.json",
    log:
        "<logs>/dataset/{dataset}.log",
    benchmark:
        "<benchmarks>/dataset/{dataset}.tsv"
    priority: 1
    conda:
        "../envs/segshuffle.yaml"
    threads: 1
    resources:
        mem_mb=memory,
        runtime=minutes(10),
    params:
        section=section_of,
        seed=config["seed"],
        code=code_of("datasets", "pipeline/data.py"),
    script:
        "../scripts/dataset.py"


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
    threads: 1
    resources:
        mem_mb=memory,
        runtime=minutes(10),
    params:
        setting=setting_of,
        section=section_of,
        seed=config["seed"],
        code=code_of("datasets", "pipeline/data.py"),
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
        "environment variable, or connect to the network and remove their folder. Then run snakemake docs_figures again.",
    shell:
        'if grep -l \'"kind": "stand-in"\' {input:q}; then echo {params.advice:q}; exit 1; fi 2>&1 | tee {log:q} >&2'
