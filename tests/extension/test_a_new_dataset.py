"""A dataset is one file in datasets/ and one section of the configuration."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from extension_files import DATASET, add_dataset

from segshuffle.datasets import registry
from segshuffle.errors import ConfigError


def test_a_file_is_found_by_being_there(package):
    dataset = registry.every(package(baskets=DATASET, helper="DATASETS = 1"))["baskets"]
    assert dataset.domain_size({"goods": 5}, 2) == 5


def test_a_file_that_fails_to_import_is_named(package):
    with pytest.raises(ConfigError, match=r"baskets\.py: cannot be imported: NameError"):
        registry.every(package(baskets=DATASET.replace("keys={", "keys={nothing: 1, ")))


def test_a_name_that_is_taken_is_refused(package):
    with pytest.raises(ConfigError, match=r"other\.py: declares the dataset 'baskets'"):
        registry.every(package(baskets=DATASET, other=DATASET))


def test_every_dataset_says_what_a_user_needs_to_know():
    for name, dataset in registry.every().items():
        assert dataset.name == name
        assert dataset.label
        assert dataset.licence or not dataset.obtain
        assert bool(dataset.refresh) == bool(dataset.kept), "what is downloaded is verified"
        assert all(rules["description"] for rules in dataset.keys.values())


@pytest.mark.quick(0)
@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("goods", 1, "datasets.baskets.goods: 1 is less than the minimum of 2"),
        ("path", "nowhere.txt", "datasets.baskets.path = 'nowhere.txt' is not allowed: there is no such file"),
    ],
)
def test_what_is_wrong_is_said_before_any_job(new_checkout, key, value, said):
    made = add_dataset(new_checkout())
    with made.configured(f"datasets.baskets.{key}", value):
        status, text = made.run("-n", "fig2")
    assert status != 0
    assert said in text, text


@pytest.mark.exhaustive
def test_it_runs_through_all_panels_tables_figures_and_page(extended):
    table = pd.read_csv(extended.out / "mse.csv")
    rows = table[table["dataset"] == "baskets"]
    assert set(rows["split"]) == {"S1", "S2", "S3", "half-and-half"}
    assert set(rows["source"]) == {"real"}
    assert np.isfinite(rows["mse_mean"]).all()
    assert set(rows["method"]) == set(table["method"])
    for name in ("audit.csv", "proven-summary.csv"):
        assert "baskets" in set(pd.read_csv(extended.out / name)["dataset"]), name
    assert (extended.out / "levels/baskets-n200-s2.csv").is_file()
    assert "Baskets" in extended.text("figures/summary.svg")
    record = json.loads(extended.text("provenance.json"))["data"]
    assert record["baskets"] == {"kind": "real", "sha256": None, "origin": "baskets.txt", "reason": ""}
    page = extended.text("index.html")
    assert "Baskets, half-and-half: n = 200" in page
    assert "made up for a test, CC0" in page


@pytest.mark.exhaustive
def test_panels_beyond_the_papers_are_drawn_in_figures_of_their_own(extended):
    """Each of twelve panels is drawn once; the paper's figures have six of them."""
    titles = {}
    for path in (extended.out / "figures").glob("*.svg"):
        if re.fullmatch(r"fig\d|panels-.*(?<!-proven)", path.stem):
            titles[path.stem] = re.findall(r"<!-- \([a-z]\) (.*) -->", path.read_text(encoding="utf-8"))
    assert len(titles["panels-baskets-half-and-half"]) == len(titles["panels-msnbc-half-and-half"]) == 1, titles
    drawn = sorted(title for found in titles.values() for title in found)
    assert len(drawn) == len(set(drawn)) == 12
