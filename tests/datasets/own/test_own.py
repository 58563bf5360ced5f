"""A file of one's own as a dataset of the pipeline: what is read, who is sampled, and how users are padded."""

import numpy as np
import pytest

from segshuffle.arrays import NO_ITEM
from segshuffle.datasets import registry
from segshuffle.datasets.interface import Place
from segshuffle.datasets.own.dataset import KEYS
from segshuffle.errors import DataError
from segshuffle.reproduction.config import check_config
from segshuffle.reproduction.design import figures_of
from segshuffle.reproduction.scenarios import scenarios


def section(**keys):
    found = {"shop": {"path": "shop.csv", "domain_size": 6, **keys}}
    registry.complete(found)
    return found["shop"]


@pytest.fixture
def place(tmp_path):
    path = tmp_path / "shop.csv"
    path.write_text("basket,item\n1,milk\n1,tea\n2,milk\n3,bread\n")
    said = []
    return Place(path, tmp_path, lambda *role: None, said.append), said


def test_a_file_is_read_and_users_are_sampled(place):
    where, said = place
    dataset, ours = registry.dataset_of("shop"), section()
    data, source = dataset.obtain(ours, where)
    # bread, milk, tea
    assert data.tolist() == [[1, 2], [1, NO_ITEM], [0, NO_ITEM]]
    assert (source.kind, source.origin, len(source.sha256)) == ("real", "shop.csv", 64)
    assert "3 users, 3 items" in said[0]
    assert "not private" in said[1]
    assert (dataset.domain_size(ours, 2), dataset.domain_size(section(padding="dummy"), 2)) == (6, 8)
    population = dataset.population(
        section=ours, n_users=3, set_size=2, rng=np.random.default_rng(1), data=data, source=source
    )
    assert (population.source, population.domain_size, population.items.shape) == ("real", 6, (3, 2))
    with pytest.raises(DataError, match="3 items, but domain_size = 2"):
        dataset.obtain(section(domain_size=2), where)


def test_a_public_list_and_ways_to_read_it(place, tmp_path):
    where, said = place
    (tmp_path / "items.txt").write_text("tea\nmilk\n")
    data, _ = registry.dataset_of("shop").obtain(section(items=str(tmp_path / "items.txt"), unknown="drop"), where)
    assert data.tolist() == [[0, 1], [1, NO_ITEM], [NO_ITEM, NO_ITEM]]
    assert said[1:] == ["1 entries with items that are not in the list were left out."]


def test_such_a_section_may_be_the_only_one(full_config, schema):
    full_config["datasets"] = {"shop": {"path": "x.csv", "domain_size": 9, "n_users": [5], "set_sizes": [2]}}
    full_config["parts"].remove("readings")
    check_config(full_config, schema=schema)
    assert list(figures_of(list(scenarios(full_config)))) == [f"panels-shop-{split}" for split in full_config["splits"]]


def test_such_a_section_is_checked(full_config, schema):
    full_config["datasets"]["shop"] = {"path": "x.csv", "domain_size": 9, "n_users": [5], "set_sizes": [2]}
    check_config(full_config, schema=schema)
    assert set(full_config["datasets"]["shop"]) == {*KEYS, "n_users", "set_sizes"}
    full_config["datasets"]["shop"] |= {"format": "xml", "set_sizes": [9]}
    full_config["datasets"]["No file"] = {"path": "x.csv", "domain_size": 9, "n_users": [5], "set_sizes": [2]}
    with pytest.raises(registry.ConfigError, match=r"2 problems") as caught:
        check_config(full_config, schema=schema)
    assert "datasets.shop.format: 'xml' is not one of [None, 'csv'" in str(caught.value)
    assert "No file" in str(caught.value)
