"""A copy of the project to which one file per extension and a line or section of the configuration were added."""

import importlib
import sys

import pytest
from extension_files import add_accountant, add_competitor, add_dataset, add_split_and_levels, add_study


@pytest.fixture(scope="session")
def extended(new_checkout):
    """Return a finished run with an addition of every kind; tests leave it as they found it."""
    made = new_checkout()
    for add in (add_competitor, add_dataset, add_accountant, add_study, add_split_and_levels):
        add(made)
    made.finish("--cores", "2")
    return made


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Yield a function that writes a package of protocols or datasets, and returns its name."""
    monkeypatch.syspath_prepend(tmp_path)

    def build(**files):
        # a name of its own for each, because what is found under a name is kept
        folder = tmp_path / f"extra_{tmp_path.name}_{len(list(tmp_path.iterdir()))}"
        folder.mkdir()
        (folder / "__init__.py").touch()
        for name, text in files.items():
            (folder / f"{name}.py").write_text(text, encoding="utf-8")
        importlib.invalidate_caches()
        return folder.name

    yield build
    for name in [name for name in sys.modules if name.startswith("extra_")]:
        del sys.modules[name]
