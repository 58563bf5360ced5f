"""Two configurations never write into one folder, and a run with an edited one says what was edited."""

import copy

import pytest
import yaml

from segshuffle.errors import ConfigError
from segshuffle.reproduction.config import SHIPPED, check_stamp, stamp_text


@pytest.fixture
def config(root):
    return yaml.safe_load((root / SHIPPED).read_text(encoding="utf-8"))


@pytest.fixture
def mine(config):
    return {**copy.deepcopy(config), "edition": "mine"}


def elsewhere(config):
    """Return the configuration with the data somewhere on this machine."""
    found = copy.deepcopy(config)
    found["datasets"]["msnbc"]["path"] = "/home/me/log"
    return found


def test_only_the_shipped_file_may_have_the_full_edition(tmp_path, config):
    with pytest.raises(ConfigError, match=r"my-try\.yaml: edition = 'full' is not allowed.*'my-try'.*results/my-try/"):
        check_stamp(tmp_path / "stamp", file="../my-try.yaml", config=config)


def test_another_file_is_refused_by_what_differs(tmp_path, mine):
    stamp = tmp_path / "stamp"
    stamp.write_text(stamp_text(file="a.yaml", config=mine))
    other = {**mine, "levels": [0.7, 1.4, 2.0], "seed": 3}
    with pytest.raises(ConfigError, match=r"b\.yaml: .*results of a\.yaml.*values of levels, seed"):
        check_stamp(stamp, file="b.yaml", config=other)
    # a copy of the same configuration may go on
    assert check_stamp(stamp, file="b.yaml", config=mine) == []


def test_an_edited_file_says_what_changed(tmp_path, mine):
    stamp = tmp_path / "stamp"
    assert check_stamp(stamp, file="a.yaml", config=mine) == [], "a new folder is free"
    stamp.write_text(stamp_text(file="a.yaml", config=mine))
    assert stamp_text(file="a.yaml", config=elsewhere(mine)) == stamp.read_text(), "no place of this machine"
    edited = {**elsewhere(mine), "seed": 1}
    edited["datasets"]["msnbc"]["padding"] = "dummy"
    assert check_stamp(stamp, file="a.yaml", config=edited) == ["datasets", "seed"]
