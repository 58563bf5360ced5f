"""A competitor is one file in protocols/ and one entry of the configuration."""

import importlib
import json

import pandas as pd
import pytest
import yaml
from extension_files import COMPETITOR, add_competitor

from segshuffle.drawing.looks import label_of, looks_in
from segshuffle.errors import ConfigError
from segshuffle.plans import listed as source
from segshuffle.plans import registry


def test_a_file_is_found_by_being_there(package):
    name = package(guess=COMPETITOR.replace("\nOPTIONS =", "\nOPTIONS: dict[str, object] ="), helper="x = 1")
    assert list(source.listed(name)) == ["guess"]
    found = source.listed(name)["guess"]
    assert found.methods == (("published", "competitor", "guess"), ("proven", "competitor", "guess"))
    assert list(found.published) == list(found.proven) == ["share"]
    declared = registry.every(name)["published", "guess"]
    assert declared.make({"share": 0.5}).share == 0.5
    assert not declared.in_paper


def test_names_in_the_source_are_the_names_that_run():
    """The names that check the configuration are those that the files declare when they are imported."""
    competitors = [
        name
        for (accounting, name), each in registry.every().items()
        if accounting == "published" and each.role == "competitor"
    ]
    assert source.names_of("published", "competitor") == competitors
    for file, declared in source.listed().items():
        module = importlib.import_module(f"segshuffle.protocols.{file}")
        assert getattr(module, "OPTIONS", {}) == declared.published
        assert getattr(module, "PROVEN_OPTIONS", {}) == declared.proven
        for accounting, role, name in declared.methods:
            assert registry.every()[accounting, name].role == role


NOT_READ = r"broken\.py: METHODS must be a tuple of MethodEntry"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("METHODS = (", r"broken\.py: not a Python file"),
        ("METHODS = \x00", r"broken\.py: not a Python file"),
        ("METHODS = (MethodEntry(NAME),)", NOT_READ),
        ("METHODS = (MethodEntry(),)", NOT_READ),
        ("OPTIONS = dict(x=1)\nMETHODS = (MethodEntry('a'),)", NOT_READ),
    ],
)
def test_a_declaration_that_cannot_be_read_is_named(package, text, said):
    with pytest.raises(ConfigError, match=said):
        source.listed(package(broken=text))


@pytest.mark.parametrize(
    ("file", "text", "said"),
    [
        (
            "broken",
            COMPETITOR.replace("import numpy", "import nowhere"),
            "cannot be imported: Mod.*nowhere",
        ),
        ("other", COMPETITOR, r"declares the published method 'guess', as .*guess\.py does"),
    ],
)
def test_a_file_that_fails_to_import_or_takes_a_name_is_named(package, file, text, said):
    with pytest.raises(ConfigError, match=rf"{file}\.py: {said}"):
        registry.every(package(**{"guess": COMPETITOR, file: text}))


def test_the_legend_says_which_local_epsilon_was_configured():
    asked = json.dumps({"local_epsilon": 0.25, "subset_size": 3})
    assert label_of("subexp-local", "published", asked) == "Subexp, local (ε = 0.25)"
    table = pd.DataFrame({"accounting": ["published"], "method": ["subexp-local"], "parameters": [asked]})
    assert looks_in(table, "published")["subexp-local"].label == "Subexp, local (ε = 0.25)"


@pytest.mark.exhaustive
def test_its_options_are_checked_before_any_job(new_checkout):
    made = add_competitor(new_checkout())
    with (
        made.configured("competitors.guess", {"share": 3}),
        made.configured("proven.guess", {"shares": 1}),
        made.configured("competitors.methods", ["gess"]),
    ):
        status, said = made.run("-n", "fig2")
    assert status != 0
    assert "competitors.guess.share: 3 is greater than the maximum of 2" in said
    assert "proven.guess: Additional properties are not allowed ('shares' was unexpected); known keys are share" in said
    assert "competitors.methods.0: 'gess' is not one of" in said


@pytest.mark.exhaustive
def test_it_appears_in_tables_figures_and_page_and_not_in_verdicts(extended):
    table = pd.read_csv(extended.out / "mse.csv")
    guesses = table[(table["method"] == "guess") & (table["role"] == "best")]
    for accounting, share in (("published", 1.0), ("proven", 0.5)):
        rows = guesses[guesses["accounting"] == accounting]
        assert len(rows) == len(table[["dataset", "split"]].drop_duplicates()) == 12
        assert {json.loads(each)["share"] for each in rows["parameters"]} == {share}, "as configured"
    rows = guesses
    assert (rows["mse_stderr"] == 0).all()
    # a constant answer has the error that its closed form says
    assert rows["mse_mean"].to_numpy() == pytest.approx(rows["mse_expected"].to_numpy(), rel=1e-9, abs=0)
    for figure in ("fig2", "fig5", "summary"):
        assert "guess" in extended.text(f"figures/{figure}.svg"), figure
    assert "guess" in extended.text("figures/fig2-proven.svg")
    assert "guess" in extended.text("index.html")
    assert "guess" not in extended.text("claims.csv")
    config = yaml.safe_load(extended.text("config.yaml"))
    assert config["competitors"]["methods"][-1] == "guess"
