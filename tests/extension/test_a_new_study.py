"""A study is one folder in reproduction/studies/, a file of rules and a script."""

import json
import zipfile

import pytest
from extension_files import add_study


@pytest.fixture
def made(new_checkout):
    """Return a copy of the project with the folder; nothing has run."""
    return add_study(new_checkout())


@pytest.mark.exhaustive
def test_a_figure_without_words_is_refused(made):
    words = "src/segshuffle/reproduction/studies/thanks/captions.yaml"
    with made.edited(words, lambda text: text.replace("figures/greeting:", "figures/farewell:")):
        status, said = made.run("-n", "--cores", "1", "greeting")
    assert status != 0
    assert "figures/greeting: no captions.yaml says what this is. Add it to that of its study" in said


@pytest.mark.exhaustive
def test_a_run_ends_with_it_on_the_page_in_its_own_words(extended):
    """The page has the figure of twelve panels, its words, caption and heading; table and figure have hashes."""
    page = extended.text("index.html")
    further = page[page.index('id="thanks"') :]
    assert '<figure id="figure-greeting"' in further
    for words in ("Who is thanked", "Greetings over panels", "Bars are hands shaken.", "24 hands were shaken."):
        assert words in further, words
    record = json.loads(extended.text("provenance.json"))["outputs"]
    assert {"greeting.csv", "figures/greeting.svg"} <= set(record)
    assert "`greeting.csv`" in extended.text("CONTENTS.md")


@pytest.mark.exhaustive
def test_it_is_in_the_report_in_its_own_words(made, tmp_path):
    made.finish("--cores", "1", "greeting")
    made.finish("--report", str(tmp_path / "report.zip"), "greeting")
    with zipfile.ZipFile(tmp_path / "report.zip") as archive:
        held = {name: archive.read(name) for name in archive.namelist()}
    assert any(name.endswith("/greeting.svg") for name in held)
    said = b"".join(text for name, text in held.items() if name.endswith((".html", ".js"))).decode()
    for words in ("Thanks", "Greetings over panels", "Bars are hands shaken.", "A row per panel.", "not a result"):
        assert words in said, words
