# Inputs: the published plans. Outputs: what the published guarantee is worth in the server's full view.


rule audit_setting:
    """Claimed and actual guarantee of every split, m and level of one setting. Reads no data."""
    input:
        plans="<results>/plans/published/{dataset}-n{n_users}-s{set_size}.json",
    output:
        "<results>/audit/{dataset}-n{n_users}-s{set_size}.csv",
    log:
        "<logs>/audit_setting/{dataset}-n{n_users}-s{set_size}.log",
    benchmark:
        "<benchmarks>/audit_setting/{dataset}-n{n_users}-s{set_size}.tsv"
    conda:
        "../envs/segshuffle.yaml"
    params:
        setting=setting_of,
        settings=used("delta_times_n", "levels", "splits"),
        code=code_of(*COMPUTE, "reproduction/studies/audit"),
    script:
        "../scripts/audit_setting.py"


rule audit:
    """The published guarantee, compared with the guarantee if the server sees everything: table and figure."""
    input:
        collect("<results>/audit/{setting}.csv", setting=SETTINGS),
    output:
        table=shown("<results>/audit.csv"),
        drawing=in_formats("audit"),
    log:
        "<logs>/audit.log",
    benchmark:
        "<benchmarks>/audit.tsv"
    conda:
        "../envs/segshuffle.yaml"
    params:
        captions=said("audit.csv", "figures/audit"),
        code=code_of(*DRAW, "reproduction/studies/audit"),
    script:
        "../scripts/audit.py"
