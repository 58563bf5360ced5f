# Inputs: public quantities. Outputs: published upper bounds for one message against proven lower bounds.


rule referee_trials:
    """All bounds of one message against the proven lower bounds, mechanism by mechanism. Sees no data."""
    output:
        "<results>/referee.csv",
    log:
        "<logs>/referee_trials.log",
    benchmark:
        "<benchmarks>/referee_trials.tsv"
    conda:
        "../envs/segshuffle.yaml"
    resources:
        runtime=minutes(100),
    params:
        settings=used("delta_times_n", "referee"),
        code=code_of(*COMPUTE, "reproduction/studies/referee"),
    script:
        "../scripts/referee_trials.py"


rule referee:
    """The referee: upper bounds for one message, published and proven, compared with proven lower bounds."""
    input:
        "<results>/referee.csv",
    output:
        table=shown("<results>/referee-verdicts.csv"),
        readable="<results>/referee.md",
        drawing=in_formats("referee"),
    log:
        "<logs>/referee.log",
    benchmark:
        "<benchmarks>/referee.tsv"
    conda:
        "../envs/segshuffle.yaml"
    params:
        captions=said("referee-verdicts.csv", "figures/referee"),
        code=code_of(*COMPUTE, *DRAW, "reproduction/studies/referee"),
    script:
        "../scripts/referee.py"
