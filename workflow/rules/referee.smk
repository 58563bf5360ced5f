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
    threads: 1
    resources:
        mem_mb=memory,
        runtime=minutes(100),
    params:
        settings=used("delta_times_n", "referee"),
        code=code_of("accounting", "studies/referee"),
    script:
        "../scripts/referee_trials.py"


rule referee_verdicts:
    """One verdict per accountant and mechanism, and the figure."""
    input:
        "<results>/referee.csv",
    output:
        table=shown("<results>/referee-verdicts.csv"),
        readable="<results>/referee.md",
        figure=figure("referee"),
    log:
        "<logs>/referee_verdicts.log",
    benchmark:
        "<benchmarks>/referee_verdicts.tsv"
    conda:
        "../envs/segshuffle.yaml"
    threads: 1
    resources:
        mem_mb=memory,
        runtime=minutes(20),
    params:
        captions=said("referee-verdicts.csv", "figures/referee"),
        code=code_of(*DRAWING, "accounting", "studies/referee"),
    script:
        "../scripts/referee_verdicts.py"


rule referee:
    """The referee: upper bounds for one message, published and proven, compared with proven lower bounds."""
    input:
        rules.referee_trials.output,
        rules.referee_verdicts.output,
