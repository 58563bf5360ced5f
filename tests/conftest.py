"""What all tests share: where the project is, its configurations, hypothesis profiles, which cases are quick."""

import copy
import gc
import zlib
from collections import defaultdict
from pathlib import Path

import pytest
import yaml
from headless import chromium
from hypothesis import Phase, settings

# the machine may be busy: a slow example is no failure
settings.register_profile("quick", deadline=None, max_examples=25)
settings.register_profile("thorough", deadline=None, max_examples=100)
# of use to mutants.py, which does not read the examples
settings.register_profile(
    "fails", deadline=None, max_examples=25, phases=[Phase.explicit, Phase.generate], database=None
)
settings.load_profile("quick")

ROOT = Path(__file__).resolve().parents[1]
SCHEMA = ROOT / "workflow/schemas/config.schema.yaml"
_SHIPPED = {
    name: yaml.safe_load((ROOT / f"config/{name}.yaml").read_text(encoding="utf-8")) for name in ("config", "quick")
}


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """What needs a whole run of the pipeline is exhaustive; what runs it at all is marked so, and goes first.

    So are all but as many cases of a test as its mark `quick` says. Which ones stay is drawn by a checksum of their
    names, so that every process draws the same ones, from all corners of a grid.
    """
    many = defaultdict(list)
    for item in items:
        if "checkout" in item.fixturenames:
            item.add_marker(pytest.mark.exhaustive)
        if {"new_checkout", "extended"} & set(item.fixturenames):
            item.add_marker(pytest.mark.pipeline)
        if item.get_closest_marker("quick") and not item.get_closest_marker("exhaustive"):
            many[item.nodeid.partition("[")[0]].append(item)
    for cases in many.values():
        (number,) = cases[0].get_closest_marker("quick").args
        for item in sorted(cases, key=lambda item: zlib.crc32(item.name.encode()))[number:]:
            item.add_marker(pytest.mark.exhaustive)
    items.sort(key=lambda item: item.get_closest_marker("pipeline") is None)


def pytest_collection_finish():
    """Modules and tests stay to the end: looking for garbage among them takes a tenth of the time."""
    gc.freeze()


@pytest.fixture(scope="session")
def root():
    """Folder of the project."""
    return ROOT


@pytest.fixture(scope="session")
def schema():
    """The configuration's schema file."""
    return SCHEMA


@pytest.fixture(scope="session")
def browser():
    """A headless Chromium; one for all tests, for playwright starts once in a process."""
    with chromium() as found:
        yield found


@pytest.fixture
def full_config():
    """A fresh copy of config/config.yaml."""
    return copy.deepcopy(_SHIPPED["config"])


@pytest.fixture
def quick_config():
    """A fresh copy of config/quick.yaml."""
    return copy.deepcopy(_SHIPPED["quick"])


@pytest.fixture
def tiny_config(quick_config):
    """A configuration whose scenarios are planned and simulated in moments."""
    quick_config["repetitions"] = 4
    quick_config["repetition_block"] = 3
    quick_config["blanket_per_user"] = {"low": 1.0, "high": 10.0, "points": 2, "include": []}
    quick_config["datasets"]["msnbc"] |= {"n_users": [40, 80], "set_sizes": [2]}
    quick_config["datasets"]["synthetic"] = {"domain_size": 8, "n_users": [40, 80], "set_sizes": [2]}
    return quick_config
