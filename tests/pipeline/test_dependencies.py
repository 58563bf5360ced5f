"""Which code a job depends on: all that it loads when it runs, and no more than its imports and its methods reach."""

import ast
import json
import subprocess
import sys

import pytest
from rules import rules_of
from segshuffle.pipeline.dependencies import SOURCE, digest, package_files
from segshuffle.pipeline.manifest import at

from segshuffle.pipeline.jobs import modules_of
from segshuffle.protocols.listed import listed


@pytest.fixture
def rules(full_config):
    """Return every rule of the shipped configuration, by name."""
    return {rule.name: rule for rule in rules_of(full_config)}


def files_of(rule, case):
    """Return the files that a job depends on, by their paths below the package."""
    found = package_files(modules_of(rule.job(case, "results")), at(rule.follows, case))
    return {path.removeprefix("segshuffle/") for path in found}


#: What the interpreter loads for the functions of each rule, in a fork of its own after the libraries that all share.
FORKS = """
import importlib, json, os, sys
import matplotlib.pyplot, numpy, pandas, scipy.optimize, scipy.stats
loaded = {}
for rule, modules in json.load(sys.stdin).items():
    ours, theirs = os.pipe()
    if os.fork() == 0:
        for module in modules:
            importlib.import_module(f"segshuffle.{module}")
        files = [m.__file__ for name, m in sys.modules.items() if name.split(".")[0] == "segshuffle" and m.__file__]
        os.write(theirs, "\\n".join(files).encode())
        os._exit(0)
    os.close(theirs)
    loaded[rule] = os.fdopen(ours).read().splitlines()
    assert os.waitstatus_to_exitcode(os.wait()[1]) == 0, rule
print(json.dumps(loaded))
"""


@pytest.mark.exhaustive
def test_every_module_that_a_job_loads_is_found(rules):
    """Static analysis finds what the interpreter loads."""
    modules = {name: modules_of(rule.job(rule.cases[0], "results")) for name, rule in rules.items()}
    run = [sys.executable, "-W", "ignore", "-c", FORKS]
    done = subprocess.run(run, input=json.dumps(modules), capture_output=True, text=True, check=True)
    for name, loaded in json.loads(done.stdout).items():
        files = {line.rpartition("/segshuffle/")[2] for line in loaded}
        found = {path.removeprefix("segshuffle/") for path in package_files(modules[name])}
        assert {"__init__.py", "pipeline/jobs.py"} <= files
        assert files <= found, name


@pytest.mark.quick(0)
def test_no_module_imports_relatively():
    """The search for a job's files follows absolute imports only."""
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            assert not (isinstance(node, ast.ImportFrom) and node.level), f"{path}: line {node.lineno}"


def test_only_drawing_depends_on_how_figures_look(rules):
    for name, rule in rules.items():
        draws = any(output.startswith("figures/") for output in rule.outputs) or name == "page"
        # a study's tables to read and verdicts are in one file with its figures
        reports = any(".report:" in step.function for step in rule.steps)
        styled = "pipeline/segshuffle.mplstyle" in files_of(rule, rule.cases[0])
        assert draws <= styled <= (draws or reports), name


def test_data_and_records_depend_on_no_accountant_or_protocol(rules):
    for name in ("dataset", "population", "provenance", "runtimes"):
        files = files_of(rules[name], rules[name].cases[0])
        # what studies declare names their methods
        declared = {"protocols/__init__.py", "protocols/listed.py"}
        assert not [file for file in files - declared if file.startswith(("accounting/", "protocols/"))], name


def test_a_job_depends_on_the_methods_and_datasets_that_it_names(rules):
    msnbc = files_of(rules["population"], "msnbc-n5000-s4")
    assert "datasets/msnbc.py" in msnbc
    assert "datasets/synthetic.py" not in msnbc
    published, proven = (files_of(rules["simulate"], f"{side}/msnbc-n5000-s4-S1") for side in ("published", "proven"))
    assert {"protocols/segmented.py", "protocols/balls_into_bins.py"} <= published
    assert {"protocols/central.py", "protocols/balls_into_bins.py"} <= proven
    ours = {f"protocols/{file}.py" for file, each in listed().items() if ("proven", "curve", "poisson") in each.methods}
    assert ours
    assert ours <= proven
    idle = {"protocols/fake_users.py", "protocols/correlated_noise.py", "datasets/msnbc.py"}
    assert not idle & (published | proven)
    audited = files_of(rules["audit_setting"], "msnbc-n5000-s4")
    assert "protocols/balls_into_bins.py" not in audited
    assert "accounting/collections/full_view.py" in audited


def test_the_command_line_is_no_part_of_the_pipeline(rules):
    assert not [name for name, rule in rules.items() if "cli/__init__.py" in files_of(rule, rule.cases[0])]


# --- a package of our own ----------------------------------------------------------------------------------------


@pytest.fixture
def house(tmp_path):
    """Return a function that writes modules of a package, and returns what the first one depends on."""

    def build(**files):
        package = tmp_path / "segshuffle"
        (package / "p").mkdir(parents=True)
        for name, text in {"__init__": "", **files}.items():
            (package / f"{name.replace('p_', 'p/', 1)}.py").write_text(text)
        found = package_files([next(iter(files))], source=tmp_path)
        return [path.removeprefix("segshuffle/") for path in found]

    return build


@pytest.mark.parametrize(
    "statement",
    [
        "import segshuffle.a",
        "import os, segshuffle.a as b",
        "from segshuffle import a",
        "from segshuffle.a import *",
        "async def f():\n    from segshuffle.a import x",
        "class A:\n    def f(self):\n        for _ in ():\n            import segshuffle.a",
        "if True:\n    pass\nelse:\n    with x as y:\n        import segshuffle.a",
        "try:\n    pass\nexcept ImportError:\n    import segshuffle.a\nfinally:\n    pass",
        "match x:\n    case 1:\n        import segshuffle.a",
        "if TYPE_CHECKING:\n    import segshuffle.b\n\n    import os\nimport segshuffle.a",
        "if TYPE_CHECKING:\n    import segshuffle.b\nelse:\n    import segshuffle.a",
    ],
)
def test_every_form_of_import_is_seen(house, statement):
    assert house(first=statement, a="import segshuffle.first", b="") == ["__init__.py", "a.py", "first.py"]


@pytest.mark.parametrize("statement", ["import numpy", "import segshuffler.a", "x = 'import segshuffle.a'"])
def test_other_packages_and_texts_do_not_count(house, statement):
    assert house(first=statement, a="") == ["__init__.py", "first.py"]


def test_a_package_counts_with_what_its_init_imports(house):
    found = house(first="import segshuffle.p.m", p___init__="from segshuffle.p.n import z", p_m="", p_n="z = 1", p_o="")
    assert found == ["__init__.py", "first.py", "p/__init__.py", "p/m.py", "p/n.py"]


def test_a_digest_is_of_what_is_followed():
    simulation = ["studies.reproduction.compute"]
    every = digest(simulation)
    assert every == digest(simulation, {})
    assert every != digest(simulation, {"protocols": {"fake_users"}}) != digest(simulation, {"protocols": ()})
