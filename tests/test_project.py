"""The project itself: pinned tools, nothing private or large in it, and a menu that explains every rule."""

import json
import re
import tomllib
from importlib import metadata

import pytest
import yaml
from checkouts import project_files
from packaging.markers import Marker
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name


@pytest.fixture(scope="module")
def files(root):
    """Return every file that is, or is about to be, under version control."""
    return [root / name for name in project_files(root)]


@pytest.fixture(scope="module")
def lock(root):
    """Return the locked requirements: (requirement, number of hashes) per entry."""
    entries = re.split(r"\n(?=[A-Za-z0-9])", (root / "requirements.lock").read_text())
    found = []
    for entry in entries:
        lines = [line for line in entry.splitlines() if not line.lstrip().startswith("#")]
        text = lines[0].removesuffix("\\").strip()
        found.append((Requirement(text), sum("--hash=sha256:" in line for line in lines)))
    return found


def versions_for(lock, python):
    """Return the locked versions that a given Python on Linux installs."""
    environment = {
        "python_version": python,
        "python_full_version": f"{python}.0",
        "implementation_name": "cpython",
        "platform_python_implementation": "CPython",
        "sys_platform": "linux",
        "platform_system": "Linux",
        "platform_machine": "x86_64",
        "os_name": "posix",
    }
    return {
        canonicalize_name(requirement.name): str(requirement.specifier).removeprefix("==")
        for requirement, _ in lock
        if requirement.marker is None or Marker(str(requirement.marker)).evaluate(environment)
    }


# --- pins --------------------------------------------------------------------------------------------------------


def test_the_lock_names_no_address(root):
    text = (root / "requirements.lock").read_text()
    assert "://" not in text
    options = {line.split()[0] for line in text.splitlines() if line.strip().startswith("--")}
    assert {option.split("=")[0] for option in options} == {"--hash"}


def test_pip_is_pinned_and_installed_first(root):
    text = (root / "requirements-pip.lock").read_text()
    assert re.fullmatch(r"pip==[\d.]+( \\\n    --hash=sha256:[0-9a-f]{64})+\n", text)
    installed = re.findall(r"pip install .*--requirement (\S+)", (root / "Makefile").read_text())
    assert installed == ["requirements-pip.lock", "requirements.lock"]


def test_everything_in_the_lock_is_one_version_with_hashes(lock):
    assert len(lock) > 30
    for requirement, hashes in lock:
        assert re.fullmatch(r"==[^,*]+", str(requirement.specifier)), requirement
        assert requirement.url is None
        assert hashes >= 1, f"{requirement} has no hash"


@pytest.mark.parametrize("python", ["3.11", "3.12", "3.13"])
def test_the_lock_holds_all_that_the_project_asks_for(root, lock, python):
    project = tomllib.loads((root / "pyproject.toml").read_text())
    asked = [*project["project"]["dependencies"], *project["build-system"]["requires"]]
    for group in [*project["dependency-groups"].values(), *project["project"]["optional-dependencies"].values()]:
        asked += [entry for entry in group if isinstance(entry, str)]
    locked = versions_for(lock, python)
    for requirement in map(Requirement, asked):
        assert requirement.specifier.contains(locked[canonicalize_name(requirement.name)]), requirement


def test_all_pythons_get_the_same_versions(lock):
    """Otherwise the last bits of plans, and so the drawn numbers, would hang on the version of Python."""
    oldest, *newer = (versions_for(lock, python) for python in ("3.11", "3.12", "3.13"))
    for versions in newer:
        differing = {name for name in oldest.keys() & versions.keys() if oldest[name] != versions[name]}
        assert differing == set()


def conda_packages(path):
    """Return the packages of a conda environment, those by pip included, with = before the version."""
    entries = yaml.safe_load(path.read_text())["dependencies"]
    by_pip = [name for entry in entries if isinstance(entry, dict) for name in entry["pip"]]
    return [name.replace("==", "=") for name in [*entries, *by_pip] if isinstance(name, str)]


@pytest.mark.parametrize("name", ["environment.yml", "workflow/envs/segshuffle.yaml", "workflow/envs/crate.yaml"])
def test_conda_users_get_the_versions_of_the_lock(root, lock, name):
    locked = versions_for(lock, "3.11")
    renamed = {"matplotlib-base": "matplotlib", "snakemake-minimal": "snakemake"}
    pinned = dict(entry.split("=") for entry in conda_packages(root / name) if "=" in entry)
    assert pinned.pop("python") == "3.11"
    assert {renamed.get(name, name): version for name, version in pinned.items()} == {
        name: locked[name] for name in (renamed.get(name, name) for name in pinned)
    }


@pytest.mark.parametrize(("name", "groups"), [("environment.yml", ["workflow"]), ("workflow/envs/segshuffle.yaml", [])])
def test_conda_users_get_all_that_a_run_needs(root, name, groups):
    project = tomllib.loads((root / "pyproject.toml").read_text())
    extras = project["project"]["optional-dependencies"]
    asked = [*project["project"]["dependencies"], *extras["pipeline"], *extras["data"]]
    for group in groups:
        asked += project["dependency-groups"][group]
    given = {re.sub(r"-(base|minimal)$", "", entry.split("=")[0]) for entry in conda_packages(root / name)}
    assert {Requirement(text).name for text in asked} <= given


def test_all_files_about_the_project_say_the_same_as_pyproject(root):
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    cited = yaml.safe_load((root / "CITATION.cff").read_text())
    (author,), names = project["authors"], ("name", "description", "version", "keywords")
    said = {name: project[name] for name in names}
    said["license"] = f"https://spdx.org/licenses/{project['license']}"
    said["runtimePlatform"] = f"Python {project['requires-python']}"
    said["author"] = [{"@type": "Organization", **author}]
    said["datePublished"] = cited["date-released"]
    assert json.loads((root / "codemeta.json").read_text()).items() >= said.items()
    same = {"version": project["version"], "license": project["license"], "keywords": project["keywords"]}
    assert cited.items() >= {**same, "authors": [author]}.items()
    assert cited["license"] in (root / "LICENSE").read_text().split()
    assert f"## {cited['version']} - {cited['date-released']}\n" in (root / "CHANGELOG.md").read_text()
    assert metadata.version("segshuffle") == project["version"], "make install, after a new version"
    # it would hide CITATION.cff
    assert not (root / ".zenodo.json").exists()


# --- what is under version control -------------------------------------------------------------------------------


def test_no_file_is_large(files):
    assert [path.name for path in files if path.stat().st_size > 2**20] == ["plotly-basic.min.js"]


def test_no_data_are_in_the_project(files):
    assert [path for path in files if re.search(r"\.(seq|npy|npz|zip|gz)$", path.name)] == []


# in pieces, so that this file does not name them either
HOSTS = [
    ("pypi", r"\.org"),
    ("pythonhosted", r"\.org"),
    ("index", "-url"),
    ("dev", "pi"),
    ("arti", "factory"),
    ("ne", "xus"),
]


def test_no_file_names_a_package_index(files):
    hosts = "|".join(first + last for first, last in HOSTS)
    for path in files:
        text = path.read_bytes().decode("utf-8", "ignore")
        assert not re.search(hosts, text), path
