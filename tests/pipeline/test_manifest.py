"""Outputs are declared once per study: targets, results and copies are derived, and rules make nothing undeclared."""

import re
from types import SimpleNamespace

import pytest

from segshuffle.errors import ConfigError
from segshuffle.pipeline import manifest
from segshuffle.pipeline.manifest import Output, Target
from segshuffle.pipeline.results_readme import files
from segshuffle.pipeline.scenarios import scenarios


def test_every_file_that_a_rule_names_is_declared(root, full_config):
    found = manifest.targets(full_config, scenarios(full_config))
    declared = {file for target in found for file in target.files}
    text = "".join(path.read_text(encoding="utf-8") for path in (root / "workflow/rules").glob("*.smk"))
    made = set(re.findall(r'f"\{OUT\}/([\w-]+\.(?:csv|md|json|html|yaml))"', text))
    drawn = {f"figures/{name}.svg" for name in re.findall(r'drawn\(\s*"([\w-]+)"', text)}
    assert {"mse.csv", "claims.md", "referee.csv"} <= made
    assert {"figures/audit.svg", "figures/levels.svg"} <= drawn
    assert (made | drawn) - {"README.md"} <= declared | {output.path for output in manifest.RECORDS}


def test_the_default_target_makes_each_file_once(full_config, quick_config):
    for config in (full_config, quick_config):
        found = manifest.results(manifest.targets(config, scenarios(config)))
        assert len(found) == len(set(found))
    assert "figures/variation1.svg" not in found
    assert "figures/decomposition8.svg" in found


def test_the_page_is_given_every_table_that_its_words_are_made_of(root, full_config):
    given = manifest.on_page(manifest.targets(full_config, scenarios(full_config)))
    for path in (root / "src/segshuffle/studies").glob("*/words.py"):
        read = set(re.findall(r'"([\w-]+\.csv|[\w-]+/)"', path.read_text(encoding="utf-8")))
        assert read, path
        assert all(any(table.startswith(name) for table in given) for name in read), path


def test_names_are_unique_and_copies_come_from_results(full_config):
    found = manifest.targets(full_config, scenarios(full_config))
    assert len({target.name for target in found}) == len(found)
    files = {file for target in found for file in target.files}
    assert set(manifest.copies()) <= files


def study(name, **attributes):
    return SimpleNamespace(__name__=name, **attributes)


def test_what_two_studies_declare_is_refused_with_both(full_config):
    two = [study(name, targets=lambda *_: [Target("x", "X.", (Output("x.csv", "an x"),))]) for name in ("one", "two")]
    with pytest.raises(ConfigError, match="two: declares the target 'x', as one does"):
        manifest.targets(full_config, [], two)
    copied = [study(name, DOCS={f"{name}.md": "same.md"}) for name in ("one", "two")]
    with pytest.raises(ConfigError, match=r"two: docs/same\.md"):
        manifest.copies(copied)


def test_a_file_is_declared_in_one_way():
    outputs = (Output("x.csv", "an x"), Output("x.csv", "a y"))
    assert list(manifest.outputs([Target("x", "X.", outputs[:1] * 2)])) == ["x.csv"]
    with pytest.raises(ConfigError, match=r"x\.csv is declared twice, as 'an x' and 'a y'"):
        manifest.outputs([Target("x", "X.", outputs)])


def test_every_file_has_a_title_and_every_figure_a_caption(full_config):
    for output in manifest.outputs(manifest.targets(full_config, scenarios(full_config))).values():
        assert len(output.title) > 10, output.path
        assert not output.title.endswith("."), output.path
        assert not output.is_figure or (len(output.caption) > 30 and output.group != manifest.FURTHER), output.path


def test_every_folder_that_a_rule_names_is_explained_beside_the_results(root, full_config):
    text = "".join(path.read_text(encoding="utf-8") for path in (root / "workflow/rules").glob("*.smk"))
    made = set(re.findall(r"\{OUT\}/([\w-]+)/", text))
    listed = files(full_config, scenarios(full_config)).values()
    named = {
        name.partition("/")[0] for entries in listed for names in entries for name in re.findall(r"[\w-]+/", names)
    }
    assert {"plans", "audit", "figures", "logs"} <= made
    assert named == made


def test_what_rules_show_in_the_report_is_declared_with_a_caption(root, full_config):
    text = "".join(path.read_text(encoding="utf-8") for path in (root / "workflow/rules").glob("*.smk"))
    shown = re.findall(r'shown\(\s*f"\{OUT\}/([^"]+)"', text)
    found = manifest.outputs(manifest.targets(full_config, scenarios(full_config)))
    said = {**found, **{output.path: output for output in manifest.RECORDS}}
    assert {"audit.csv", "claims.csv", "index.html"} <= set(shown)
    assert all(said[path].caption for path in shown)


def test_a_split_of_ones_own_has_targets(full_config):
    full_config["splits"]["S4"] = [0.2, 0.4, 0.4]
    names = {target.name for target in manifest.targets(full_config, scenarios(full_config))}
    assert {"panels_msnbc_S4", "panels_synthetic_S4_proven"} <= names
