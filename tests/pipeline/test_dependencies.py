"""Which files a script depends on: all that it loads when it runs, and no more than its imports reach."""

import ast
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from segshuffle.pipeline.dependencies import package_files

SCRIPTS = sorted(path.stem for path in (Path(__file__).parents[2] / "workflow/scripts").glob("*.py"))
DRAWING = {name for name in SCRIPTS if name.startswith(("figure", "summary", "page", "referee_verdicts"))}


def files_of(root, script):
    """Files of the package that a script of the workflow depends on, as dotted names."""
    found = package_files(root / f"workflow/scripts/{script}.py", source=root / "src")
    return {path.removeprefix(f"{root}/src/segshuffle/") for path in found}


#: Every script's imports in a fork of its own, after the libraries that they share: those take a second to load.
FORKS = """
import json, os, sys
import matplotlib.pyplot, numpy, pandas, scipy.optimize, scipy.stats
loaded = {}
for script, imports in json.load(sys.stdin).items():
    ours, theirs = os.pipe()
    if os.fork() == 0:
        exec(imports, {})
        files = [m.__file__ for name, m in sys.modules.items() if name.split(".")[0] == "segshuffle"]
        os.write(theirs, "\\n".join(files).encode())
        os._exit(0)
    os.close(theirs)
    loaded[script] = os.fdopen(ours).read().splitlines()
    assert os.waitstatus_to_exitcode(os.wait()[1]) == 0, script
print(json.dumps(loaded))
"""


@pytest.fixture(scope="module")
def loaded(root):
    """Files of the package that the interpreter loads for the imports of each script, by its own account."""
    imports = {}
    for script in SCRIPTS:
        tree = ast.parse((root / f"workflow/scripts/{script}.py").read_text())
        lines = [ast.unparse(node) for node in tree.body if isinstance(node, (ast.Import, ast.ImportFrom))]
        imports[script] = "\n".join(lines)
    run = [sys.executable, "-W", "ignore", "-c", FORKS]
    done = subprocess.run(run, input=json.dumps(imports), capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


@pytest.mark.exhaustive
@pytest.mark.parametrize("script", SCRIPTS)
def test_every_module_that_a_script_loads_is_found(root, loaded, script):
    """Static analysis against the interpreter."""
    files = {line.rpartition("/segshuffle/")[2] for line in loaded[script]}
    assert {"__init__.py", "pipeline/jobs.py"} <= files
    assert files <= files_of(root, script)


def test_imports_are_found_wherever_they_stand(tmp_path):
    names = ["a", "b", "c", "d", "e", "f", "g"]
    package = tmp_path / "src/segshuffle"
    package.mkdir(parents=True)
    for name in ["__init__", *names]:
        (package / f"{name}.py").touch()
    script = tmp_path / "script.py"
    script.write_text(
        "import segshuffle.a\n"
        "def one():\n    from segshuffle import b\n"
        "try:\n    import segshuffle.c\nexcept ImportError:\n    import segshuffle.d\nfinally:\n    pass\n"
        "if one:\n    pass\nelse:\n    with one() as it:\n        from segshuffle.e import x\n"
        "match one:\n    case 1:\n        import segshuffle.f\n"
        "class Two:\n    async def three(self):\n        for _ in ():\n            import segshuffle.g\n"
    )
    found = package_files(script, source=tmp_path / "src")
    assert [Path(path).stem for path in found] == ["__init__", *names]


@pytest.mark.quick(0)
def test_no_module_imports_relatively(root):
    """The closure follows absolute imports only."""
    for path in [*(root / "src").rglob("*.py"), *(root / "workflow/scripts").glob("*.py")]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            assert not (isinstance(node, ast.ImportFrom) and node.level), f"{path}: line {node.lineno}"


@pytest.mark.quick(0)
def test_drawing_depends_on_the_style_sheet(root):
    for script in ("figure", "figure_audit"):
        assert {"pipeline/style.py", "pipeline/segshuffle.mplstyle"} <= files_of(root, script)
    assert "studies/reproduction/figure.py" in files_of(root, "figure")
    assert "studies/reproduction/figure.py" not in files_of(root, "figure_audit")


@pytest.mark.quick(8)
@pytest.mark.parametrize("script", sorted(set(SCRIPTS) - DRAWING))
def test_nothing_else_depends_on_how_figures_look(root, script):
    drawing = ("figure", "style.py", "segshuffle.mplstyle")
    assert not [name for name in files_of(root, script) if name.rpartition("/")[2].startswith(drawing)]


@pytest.mark.parametrize("script", ["dataset", "population", "provenance"])
def test_data_do_not_depend_on_accountants_or_protocols(root, script):
    assert not [name for name in files_of(root, script) if name.startswith(("accounting/", "protocols/"))]


@pytest.mark.parametrize("script", ["plan", "simulate", "aggregate"])
def test_plans_and_simulations_depend_on_accountants_and_protocols(root, script):
    assert {
        "accounting/collections/published.py",
        "accounting/numerics/hockey_stick.py",
        "protocols/segmented.py",
    } <= files_of(root, script)


def test_the_command_line_is_no_part_of_the_pipeline(root):
    for script in SCRIPTS:
        assert "cli/__init__.py" not in files_of(root, script)


# --- a package of our own ----------------------------------------------------------------------------------------


@pytest.fixture
def house(tmp_path):
    """Write files below src/segshuffle, and a script beside it; returns what the script depends on."""

    def build(script, **files):
        shutil.rmtree(tmp_path, ignore_errors=True)
        package = tmp_path / "src/segshuffle"
        package.mkdir(parents=True)
        (package / "__init__.py").touch()
        for name, text in files.items():
            path = package / (name.replace("__", "/").replace("INIT", "__init__") + ".py")
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
        (tmp_path / "script.py").write_text(script)
        found = package_files(tmp_path / "script.py", source=tmp_path / "src")
        return [path.removeprefix(f"{package}/") for path in found]

    return build


@pytest.mark.parametrize(
    "statement",
    [
        "import segshuffle.a",
        "import segshuffle.a as b",
        "import os, segshuffle.a",
        "from segshuffle import a",
        "from segshuffle.a import x",
        "from segshuffle.a import *",
        "def f():\n    from segshuffle.a import x",
        "if True:\n    import segshuffle.a",
        "try:\n    import segshuffle.a\nexcept ImportError:\n    pass",
    ],
)
def test_every_form_of_import_is_seen(house, statement):
    assert house(statement, a="x = 1", unused="") == ["__init__.py", "a.py"]


def test_imports_are_followed(house):
    found = house("import segshuffle.a", a="from segshuffle.b import y", b="import segshuffle.c", c="", d="")
    assert found == ["__init__.py", "a.py", "b.py", "c.py"]


def test_what_is_imported_for_types_alone_does_not_count(house):
    script = "if TYPE_CHECKING:\n    import segshuffle.a\nelse:\n    import segshuffle.b"
    assert house(script, a="", b="") == ["__init__.py", "b.py"]


def test_circles_end(house):
    assert house("import segshuffle.a", a="import segshuffle.b", b="import segshuffle.a") == [
        "__init__.py",
        "a.py",
        "b.py",
    ]


def test_a_package_counts_with_what_its_init_imports(house):
    found = house("import segshuffle.p.m", p__INIT="from segshuffle.p.n import z", p__m="", p__n="z = 1", p__o="")
    assert found == ["__init__.py", "p/__init__.py", "p/m.py", "p/n.py"]


@pytest.mark.parametrize("statement", ["import numpy", "import segshuffler.a", "x = 'import segshuffle.a'"])
def test_other_packages_and_texts_do_not_count(house, statement):
    assert house(statement, a="") == []


def test_an_import_added_to_a_module_is_noticed(root, tmp_path):
    shutil.copytree(root / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(root / "workflow", tmp_path / "workflow")
    before = files_of(tmp_path, "population")
    module = tmp_path / "src/segshuffle/datasets/sampling.py"
    module.write_text(module.read_text() + "\nimport segshuffle.accounting.numerics.laws\n")
    assert files_of(tmp_path, "population") - before == {
        "accounting/__init__.py",
        "accounting/numerics/__init__.py",
        "accounting/numerics/laws.py",
    }
