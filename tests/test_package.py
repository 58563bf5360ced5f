"""What `pip install .` brings: the built files, and what works where only the core dependencies are installed."""

import json
import re
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest
from checkouts import copy_project
from packaging.requirements import Requirement

from segshuffle.errors import MissingExtraError
from segshuffle.extras import EXTRAS, require, translated

PLAN = ["plan", "--items", "17", "--set-size", "4", "--levels", "1.0:5000", "--delta", "1e-6", "--json"]
SENT = "segmented:domain-size=17,blanket-per-user=2,sampling-rate=0.5"
ACCOUNT = ["account", "--randomizer", SENT, "--users", "5000"]
#: Distributions whose module has another name.
MODULES = {"pyyaml": "yaml", "dp-accounting": "dp_accounting"}


@pytest.fixture(scope="module")
def project(root):
    return tomllib.loads((root / "pyproject.toml").read_text())["project"]


def test_a_missing_module_is_named_with_the_extra_that_brings_it(project):
    declared = {
        extra: {MODULES.get(Requirement(text).name, Requirement(text).name) for text in asked}
        for extra, asked in project["optional-dependencies"].items()
    }
    assert {extra: set(modules) for extra, modules in EXTRAS.items()} == declared
    told = translated(ModuleNotFoundError("No module", name="polars.io"))
    assert isinstance(told, MissingExtraError)
    assert "polars" in str(told)
    assert "pip install 'segshuffle[data]'" in str(told)
    assert translated(ModuleNotFoundError("No module", name="numpy")) is None
    assert translated(ModuleNotFoundError("No module")) is None


def test_an_extra_that_is_missing_is_refused_before_anything_is_done(monkeypatch):
    require("pipeline", "A test")
    monkeypatch.setitem(EXTRAS, "pipeline", ("no_such_module",))
    with pytest.raises(MissingExtraError, match=r"^A test needs no_such_module.*pip install 'segshuffle\[pipeline\]'"):
        require("pipeline", "A test")


def test_what_is_imported_is_asked_for(root, project):
    """Every import of the package, wherever it stands, belongs to the core or to an extra."""
    asked = {Requirement(text).name for text in project["dependencies"]}
    asked |= {module for modules in EXTRAS.values() for module in modules}
    imports = re.compile(r"^ *(?:from (\w+)[\w.]* import|import (\w+)(?:[.\w]*)(?: as \w+)?$)", re.MULTILINE)
    sources = "\n".join(path.read_text(encoding="utf-8") for path in (root / "src").rglob("*.py"))
    found = {first or second for first, second in imports.findall(sources)}
    assert {"numpy", "scipy", "pandas", "yaml"} <= found
    # urllib3 comes with requests, markupsafe with jinja2
    assert found - set(sys.stdlib_module_names) - {"segshuffle", "urllib3", "markupsafe"} <= asked


def files_of_the_package(root):
    source = root / "src"
    files = {path.relative_to(source).as_posix() for path in (source / "segshuffle").rglob("*") if path.is_file()}
    return {name for name in files if "__pycache__" not in name}


@pytest.fixture(scope="module")
def built(root, tmp_path_factory):
    """Build a sdist of a copy of the project, and a wheel of the sdist, without a network."""
    folder = tmp_path_factory.mktemp("built")
    copy = folder / "copy"
    copy_project(root, copy)
    build = "from setuptools import build_meta; print(build_meta.build_sdist({!r}))"
    run([sys.executable, "-c", build.format(str(folder))], cwd=copy)
    (sdist,) = folder.glob("*.tar.gz")
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    run([*pip, "--wheel-dir", str(folder), str(sdist)], cwd=folder)
    (wheel,) = folder.glob("*.whl")
    return sdist, wheel


def run(command, **options):
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    assert done.returncode == 0, done.stderr
    return done


@pytest.mark.exhaustive
def test_wheel_and_sdist_can_be_uploaded_and_hold_the_package_and_nothing_else(root, built):
    run([sys.executable, "-m", "twine", "check", "--strict", *built])
    sdist, wheel = built
    expected = files_of_the_package(root)
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    about = {name.partition(".dist-info/")[2] for name in names if ".dist-info/" in name}
    assert {name for name in names if ".dist-info/" not in name} == expected
    assert {"licenses/LICENSE", "licenses/src/segshuffle/reproduction/page/assets/plotly-basic.LICENSE"} < about
    with tarfile.open(sdist) as archive:
        packed = {each.name.partition("/")[2] for each in archive.getmembers() if each.isfile()}
    texts = {"README.md", "LICENSE", "CHANGELOG.md", "CITATION.cff", "codemeta.json"}
    made = {"pyproject.toml", "MANIFEST.in", "setup.cfg", "PKG-INFO"}
    assert {name for name in packed if ".egg-info/" not in name} == {f"src/{name}" for name in expected} | texts | made


@pytest.fixture(scope="module")
def clean(built, tmp_path_factory):
    """Return the interpreter of an environment with the wheel and the core dependencies, and nothing else."""
    home = tmp_path_factory.mktemp("clean")
    venv.create(home, with_pip=False, symlinks=True)
    library = home / f"lib/python{sys.version_info.major}.{sys.version_info.minor}/site-packages"
    theirs = Path(sysconfig.get_path("purelib"))
    for name in ("numpy", "numpy.libs", "scipy", "scipy.libs", "rich", "pygments", "markdown_it", "mdurl"):
        (library / name).symlink_to(theirs / name)
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index"]
    run([*pip, "--target", str(library), str(built[1])])
    return home / "bin/python"


@pytest.mark.exhaustive
def test_the_core_needs_no_extra(clean, tmp_path):
    printed = run([clean, "-m", "segshuffle", *PLAN], cwd=tmp_path).stdout
    assert json.loads(printed)["kind"] == "exact"
    assert "epsilon" in run([clean, "-m", "segshuffle", *ACCOUNT, "--epsilon", "1"], cwd=tmp_path).stdout
    every = """
import importlib, pkgutil, segshuffle
for found in pkgutil.walk_packages(segshuffle.__path__, "segshuffle.", onerror=lambda name: None):
    if not found.name.startswith(OPTIONAL) and not found.name.endswith("__main__"):
        importlib.import_module(found.name)
"""
    drawn = ("segshuffle.drawing.style", "segshuffle.drawing.inline", "segshuffle.collection.rehearsal.figures")
    tables = tuple(f"segshuffle.datasets.own.{name}" for name in ("collector", "columns", "sources", "texts"))
    optional = (*drawn, *tables, "segshuffle.collection.rehearsal.results", "segshuffle.reproduction")
    run([clean, "-c", every.replace("OPTIONAL", repr(optional))], cwd=tmp_path)


@pytest.mark.exhaustive
def test_what_needs_an_extra_says_which(clean):
    needed = {
        "segshuffle.reproduction.studies.limit.report": "pipeline",
        "segshuffle.reproduction.page.build": "pipeline",
        "segshuffle.datasets.own.sources": "data",
    }
    for module, extra in needed.items():
        done = subprocess.run([clean, "-c", f"import {module}"], capture_output=True, text=True, check=False)
        assert re.search(rf"MissingExtraError: .* pip install 'segshuffle\[{extra}\]'\.$", done.stderr.strip())
