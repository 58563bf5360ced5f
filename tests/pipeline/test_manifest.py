"""What studies declare once: targets, rules, results and copies are derived from it."""

import copy
import importlib
import inspect
import re

import pytest
from rules import rules_of

from segshuffle.pipeline import manifest
from segshuffle.pipeline.provenance import files
from segshuffle.pipeline.scenarios import scenarios


@pytest.fixture(params=["full_config", "quick_config"])
def config(request):
    return request.getfixturevalue(request.param)


def test_every_declared_file_is_made_by_one_rule(config):
    made = [
        file
        for rule in rules_of(config)
        for case in rule.cases
        for step in rule.job(case, "results")
        for output in step["outputs"]
        for file in output
    ]
    assert len(made) == len(set(made))
    declared = {f"results/{file}" for target in manifest.targets(config, scenarios(config)) for file in target.files}
    assert declared <= set(made)
    # what is made on the way is explained beside the results
    explained = files(config, scenarios(config)).values()
    folders = tuple(f"results/{name}" for entries in explained for names in entries for name in names.split(", "))
    records = {f"results/{record.path}" for record in manifest.RECORDS}
    for file in set(made) - declared - records - {"results/README.md"}:
        assert file.startswith(folders), file


def test_every_input_is_made_or_shipped(root, config):
    rules = rules_of(config)
    jobs = [rule.job(case, "results") for rule in rules for case in rule.cases]
    made = {file for job in jobs for step in job for output in step["outputs"] for file in output}
    for job in jobs:
        for file in manifest.inputs_of(job):
            assert file in made or (root / file).is_file(), file


@pytest.mark.quick(0)
def test_every_step_calls_a_function_with_what_it_takes(config):
    for rule in rules_of(config):
        for step in rule.job(rule.cases[0], "results"):
            module, _, name = step["function"].partition(":")
            function = getattr(importlib.import_module(f"segshuffle.{module}"), name)
            inspect.signature(function, follow_wrapped=False).bind(**step["inputs"], **step["arguments"])


def test_figures_of_the_paper_come_first(full_config):
    first = {(rule.name, case) for rule in rules_of(full_config) for case in rule.cases if rule.priority(case)}
    assert {case for name, case in first if name == "figure"} == {"fig2", "fig3", "fig4", "fig5", "fig6"}
    assert {name for name, _ in first} == {"dataset", "population", "plan", "simulate", "figure"}
    assert not [case for _, case in first if case.startswith("proven")]


def test_the_default_target_makes_each_file_once(full_config, quick_config):
    for config in (full_config, quick_config):
        found = manifest.results(manifest.targets(config, scenarios(config)))
        assert len(found) == len(set(found))
    assert "figures/variation1.svg" not in found
    assert "figures/decomposition8.svg" in found


def test_the_page_is_given_every_table_that_its_words_are_made_of(root, full_config):
    given = manifest.on_page(manifest.targets(full_config, scenarios(full_config)))
    package = root / "src/segshuffle"
    patterns = ("studies/*/report.py", "page/*.py", "page/assets/*.j2")
    texts = "".join(path.read_text() for pattern in patterns for path in package.glob(pattern))
    read = set(re.findall(r'tables\["([^"]+)"\]', texts))
    assert {"mse.csv", "claims.csv"} <= read <= set(given)


def test_copies_come_from_results(full_config):
    found = manifest.targets(full_config, scenarios(full_config))
    assert set(manifest.said("DOCS")) <= {file for target in found for file in target.files}


def test_every_file_has_a_title_and_every_figure_a_caption(full_config):
    for output in manifest.outputs(manifest.targets(full_config, scenarios(full_config))).values():
        assert len(output.title) > 10, output.path
        assert not output.title.endswith("."), output.path
        assert output.caption or not output.is_figure, output.path


def test_what_the_report_shows(full_config):
    every = manifest.outputs(manifest.targets(full_config, scenarios(full_config)))
    shown = {output.path for output in (*every.values(), *manifest.RECORDS) if output.in_report}
    assert {"audit.csv", "claims.csv", "index.html", "figures/fig2"} <= shown
    assert not shown & {"claims.md", "mse.csv", "config.yaml"}


# --- what a change of the configuration makes again -------------------------------------------------------------------

RECORDS = {"provenance", "runtimes", "page"}
FIGURES = {"aggregate", "verdicts", "proven_summary", "figure", *RECORDS}
SIMULATED = {"simulate published", "simulate proven", *FIGURES}
PLANS = {"plan published", "plan competitors", "plan proven"}
PLANNED = {"audit_setting", "figure_audit", "influence", *PLANS, *SIMULATED}
LEVELS = {"levels", "figure_levels", *RECORDS}
ASSUMPTIONS = {"participation", "influence", "dependence", "rounds", *RECORDS}
EVERYTHING_OF_PANELS = PLANNED | LEVELS | ASSUMPTIONS
POPULATIONS = {"population", "dependence", *SIMULATED, *LEVELS}
COMPETITORS = {"plan competitors", "simulate published", "influence", *FIGURES}
PROVEN = {"plan proven", "simulate proven", "influence", *FIGURES}
PARETO = {"pareto_case", "pareto_winners", "figure_pareto", *RECORDS}
REFEREE = {"referee_trials", "referee_verdicts", *RECORDS}
AMPLIFICATION = {f"{what}_amplification" for what in ("figure", "table", "claims")} | {"amplification_curves", *RECORDS}
#: Key, new value, and the rules with a job that is made again; of plans and panels also under which accounting.
CHANGES = [
    ("seed", 1, POPULATIONS | {"dataset"}),
    ("repetitions", 6, SIMULATED | LEVELS | {"dependence"}),
    ("repetition_block", 5, SIMULATED | LEVELS),
    ("recentring", False, SIMULATED),
    ("levels", [0.5, 1.0, 2.5], EVERYTHING_OF_PANELS),
    ("splits.S2", [0.25, 0.25, 0.5], EVERYTHING_OF_PANELS | PARETO),
    ("delta_times_n", 0.02, EVERYTHING_OF_PANELS | PARETO | REFEREE | {"limit"}),
    ("blanket_per_user.include", [2.0, 4.0], PLANNED),
    ("competitors.methods", ["mm"], COMPETITORS),
    ("competitors.balls_into_bins.analysis", "published", COMPETITORS),
    ("datasets.msnbc.download", False, POPULATIONS | {"dataset"}),
    ("datasets.synthetic.domain_size", 20, POPULATIONS | EVERYTHING_OF_PANELS),
    ("proven.max_messages", [12, 40], PROVEN | {"participation", "rounds"}),
    ("proven.honest_fraction", 0.9, PROVEN | LEVELS | ASSUMPTIONS),
    ("private_levels.epsilons", [0.5, 1.0], LEVELS),
    ("assumptions.rounds", [1, 2], {"rounds", "participation", *RECORDS}),
    ("pareto.budgets", [3.0], PARETO),
    ("amplification.points", 4, AMPLIFICATION),
    ("referee.shares", [0.5], REFEREE),
]


def jobs_of(config):
    """Return the steps of every job, by rule and case."""
    return {(rule.name, case): rule.job(case, "results") for rule in rules_of(config) for case in rule.cases}


@pytest.mark.parametrize(("path", "value", "expected"), CHANGES, ids=[path for path, _, _ in CHANGES])
def test_changing_the_configuration(quick_config, path, value, expected):
    """A job is made again if its arguments change, or if it reads a file that is made again."""
    changed = section = copy.deepcopy(quick_config)
    *parents, last = path.split(".")
    for part in parents:
        section = section[part]
    section[last] = value
    before, jobs = jobs_of(quick_config), jobs_of(changed)
    new = {name for name, job in jobs.items() if repr(job) != repr(before.get(name))}
    again = set(new)
    while new:
        made = {file for name in new for step in jobs[name] for files in step["outputs"] for file in files}
        new = {name for name, job in jobs.items() if made & {*manifest.inputs_of(job)}} - again
        again |= new
    assert {f"{rule} {case.split('/')[0]}" if "/" in case else rule for rule, case in again} == expected
