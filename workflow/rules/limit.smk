# Inputs: public quantities. Outputs: error with one level, compared with a Gaussian curator.


rule limit:
    """Error with one level, divided by a Gaussian curator's, over the size of the blanket."""
    output:
        table="<results>/limit.csv",
        drawing=in_formats("limit"),
    log:
        "<logs>/limit.log",
    benchmark:
        "<benchmarks>/limit.tsv"
    conda:
        "../envs/segshuffle.yaml"
    params:
        set_sizes=sorted(
            {
                min(each.set_size, each.domain_size - each.set_size)
                for each in SETTINGS.values()
            }
        ),
        deltas=sorted({least_delta(config, each.n_users) for each in SETTINGS.values()}),
        captions=said("figures/limit"),
        code=code_of(*COMPUTE, *DRAW, "reproduction/studies/limit"),
    script:
        "../scripts/limit.py"


rule fig_limit:
    """Error of a plan with one level, divided by a Gaussian curator's, over the size of the blanket."""
    input:
        rules.limit.output,
