"""A copy of the project to which one file per extension and a line or section of the configuration was added."""

import importlib.util
from pathlib import Path

import pytest
from extension_files import add_competitor, add_dataset, add_split_and_levels

_WORKFLOW = Path(__file__).parents[1] / "workflow/conftest.py"
_SPEC = importlib.util.spec_from_file_location("workflow_conftest", _WORKFLOW)
_FOUND = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(_FOUND)
snapshot, new_checkout = _FOUND.snapshot, _FOUND.new_checkout


@pytest.fixture(scope="session")
def extended(new_checkout):
    """A finished run with a competitor, a dataset, a split and levels of one's own; tests leave it as they found it."""
    made = add_split_and_levels(add_dataset(add_competitor(new_checkout())))
    made.said = made.finish("--cores", "2")
    return made
