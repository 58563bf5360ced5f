# Inputs: wildcards. Outputs: the files and settings that rules name by functions.


def half_of_the_cores(wildcards):
    """Return the threads of a job that simulates: two such jobs keep up to eight cores busy."""
    # a cluster has no number of cores; its profile sets the threads
    cores = workflow.resource_settings.cores or 2
    return max(1, min(4, cores // 2))


def minutes(longest_seconds):
    """Return the runtime of a job of this length: ten times as long, and five minutes for a slow start."""
    return lambda wildcards, attempt: (5 + -(-longest_seconds // 6)) * attempt


def in_formats(name):
    """Name the three files of a figure; Snakemake's report shows the SVG."""
    path = f"<results>/figures/{name}"
    return [f"{path}.pdf", shown(f"{path}.svg"), f"{path}.png"]


def shown(path):
    """Mark a file for Snakemake's report, under the heading that captions.yaml gives it."""

    def said_of(wildcards):
        return CAPTIONS.of(path.removeprefix("<results>/").format(**wildcards))

    return report(
        path,
        caption="../report/caption.rst",
        category=lambda wildcards: said_of(wildcards).group.short,
        labels=lambda wildcards: {
            "name": said_of(wildcards).name,
            "what": said_of(wildcards).title,
        },
    )


def said(*paths):
    """Return the captions that captions.yaml has for the files of a rule, for Snakemake's report."""

    def captions(wildcards):
        outputs = [CAPTIONS.of(path.format(**wildcards)) for path in paths]
        return [f"**{each.name}**: {each.title}\n\n{each.caption}" for each in outputs]

    return captions


def reference(name):
    """Read what is compared with the results: not an input, whose path would be another one in a moved project."""
    return lambda wildcards: read_yaml(ROOT / "config/reference" / name)


def own_files(wildcards):
    """Name files of the user's own, unless a published hash says what must be in them: then their place is no input."""
    name = wildcards.dataset
    files = [config["datasets"][name].get("items")]
    if not dataset_of(name).kept:
        files.append(GIVEN[name])
    return [str(file) for file in files if file]


def replaced(wildcards):
    """Name a marker once real data are at hand for a stand-in that is in use. No network is asked here."""
    name = wildcards.dataset
    folder, is_kept = Path(OUT, "data", name), dataset_of(name).kept
    marker = folder / "replaced"
    if is_kept and recorded_kind(folder / "source.json") == "stand-in":
        if GIVEN[name] or is_kept(CACHE):
            return [str(marker)]
    return [str(marker)] * marker.exists()


def section_of(wildcards):
    """Return the keys of a dataset's section that its data and users depend on."""
    section = config["datasets"][wildcards.dataset]
    sizes = {"n_users", "set_sizes", "blanket_grid", "path"}
    return {key: value for key, value in section.items() if key not in sizes}


def data_of_users(wildcards):
    """Name the data that users are drawn from; none for a generator."""
    if wildcards.dataset not in WITH_DATA:
        return {}
    folder = f"<results>/data/{wildcards.dataset}"
    return {"data": f"{folder}/data.npy", "source": f"{folder}/source.json"}


def plan_settings(wildcards):
    """Return what plans of these methods depend on; the audit looks at the paper's own protocol alone."""
    section = {
        "published": {"competitors": {"methods": []}},
        "competitors": used("competitors"),
        "proven": used("proven"),
    }
    grid = {"blanket_grid": grid_of(config, wildcards.dataset)}
    public = used("delta_times_n", "levels", "splits") | grid
    return public | section[wildcards.methods]


def simulate_settings(wildcards):
    """Return what the errors of one accounting depend on."""
    side = "competitors" if wildcards.accounting == "published" else "proven"
    return used(
        "delta_times_n",
        "levels",
        "splits",
        "seed",
        "repetitions",
        "repetition_block",
        "recentring",
        side,
    )


def plans_of_panel(wildcards):
    """Name the plans of a panel: the paper's protocol and its competitors, or the proven methods."""
    both = ["published", "competitors"]
    # double braces: the wildcards of the job
    return collect(
        "<results>/plans/{methods}/{{dataset}}-n{{n_users}}-s{{set_size}}.json",
        methods=both if wildcards.accounting == "published" else ["proven"],
    )


def panels_of_figure(wildcards):
    """Name the tables that a figure is drawn from, one per population; proven figures also have the paper's curve."""
    name = wildcards.panels.removesuffix("-proven")
    if name in ("summary", "messages"):
        populations = list(SETTINGS)
    else:
        panels = of_configuration(FIGURE_PANELS, name)
        populations = list(dict.fromkeys(panel.setting.id for panel in panels))
    proven = ["proven"] if wildcards.panels.endswith("-proven") else []
    return collect(
        "<results>/panels/{accounting}/{setting}.csv",
        accounting=["published", *proven],
        setting=populations,
    )
