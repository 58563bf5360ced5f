"""A copy of the project to which one file per extension and a line or section of the configuration was added."""

import importlib.util
from pathlib import Path

import pytest
from extension_files import add_accountant, add_competitor, add_dataset, add_split_and_levels, add_study

_WORKFLOW = Path(__file__).parents[1] / "workflow/conftest.py"
_SPEC = importlib.util.spec_from_file_location("workflow_conftest", _WORKFLOW)
_FOUND = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(_FOUND)
snapshot, new_checkout = _FOUND.snapshot, _FOUND.new_checkout


@pytest.fixture(scope="session")
def extended(new_checkout):
    """A finished run with one of everything of one's own; tests leave it as they found it."""
    made = new_checkout()
    for add in (add_competitor, add_dataset, add_accountant, add_study, add_split_and_levels):
        add(made)
    made.said = made.finish("--cores", "2")
    return made
