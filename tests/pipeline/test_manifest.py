"""What studies declare once: targets, rules, results and copies are derived from it."""

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
