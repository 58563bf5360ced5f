# Inputs: the rules that the studies and the pipeline declare. Outputs: everything that a run makes.
import re
from functools import cache


def case_of(wildcards):
    return wildcards.get("case", "")


def outputs_of(rule):
    """List the files of a rule; those `in_report` are marked for the report."""
    patterns = [file for path in rule.outputs for file in manifest.files_of(path)]
    example = rule.cases[0] if rule.cases else ""
    shown = {
        pattern
        for pattern in patterns
        if (said := SAID.get(f"{OUT}/{pattern.replace('{case}', example)}"))
        and said.in_report
    }
    return [
        explained(f"{OUT}/{pattern}") if pattern in shown else f"{OUT}/{pattern}"
        for pattern in patterns
    ]


def explained(pattern):
    """Mark a file for snakemake --report, with the heading and the words that its study declares."""

    def said(wildcards):
        return SAID[pattern.replace("{case}", case_of(wildcards))]

    return report(
        pattern,
        caption="../report/output.rst",
        category=lambda wildcards: said(wildcards).group.short,
        labels=lambda wildcards: {
            "name": said(wildcards).name,
            "what": said(wildcards).title,
        },
    )


def directives(rule):
    """Return the directives of one rule, as functions of the wildcards."""
    # what a job does: input, params and code follow from it
    steps = cache(lambda case: rule.job(case, OUT))
    code = cache(
        lambda case: digest(modules_of(steps(case)), manifest.at(rule.follows, case))
    )
    return {
        "input": lambda wildcards: manifest.inputs_of(steps(case_of(wildcards))),
        "steps": lambda wildcards: steps(case_of(wildcards)),
        "code": lambda wildcards: code(case_of(wildcards)),
        "priority": lambda wildcards: int(rule.priority(case_of(wildcards))),
        "job": rule.name if rule.cases == ("",) else os.path.join(rule.name, "{case}"),
    }


for each in RULES:
    of = directives(each)

    rule:
        name:
            each.name
        input:
            of["input"],
        output:
            outputs_of(each),
        log:
            f"{OUT}/logs/{of['job']}.log",
        benchmark:
            f"{OUT}/benchmarks/{of['job']}.tsv"
        wildcard_constraints:
            case="|".join(map(re.escape, each.cases)),
        priority: of["priority"]
        conda:
            CONDA
        threads: 1
        resources:
            mem_mb=memory,
            runtime=minutes(each.seconds),
        params:
            steps=of["steps"],
            code=of["code"],
        script:
            "../scripts/job.py"

    # what the console and `snakemake --list` say
    workflow.get_rule(each.name).docstring = each.what
    SECONDS[each.name] = each.seconds
