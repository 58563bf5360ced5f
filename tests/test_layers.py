"""The rooms of the package: which stands on which floor, that no import goes up or round, and that two stay apart."""

import ast
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest
from checkouts import project_files

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src"
#: A room imports rooms of lower floors, or itself; rooms of one floor do not know each other. Single modules are below
#: all rooms, and the package itself is above them.
FLOORS = (
    ("numerics", "drawing"),
    ("blankets",),
    ("accounting",),
    ("plans",),
    ("protocols", "datasets"),
    ("reproduction", "collection"),
    ("cli",),
)
FLOOR = {room: number for number, rooms in enumerate(FLOORS, start=1) for room in rooms}
#: Scripts of Figures 2-6 and their verdicts.
PAPER = ("dataset", "population", "plan", "simulate", "aggregate", "figure", "verdicts")
#: What is found by its folder and belongs to the paper.
FOUND = ("protocols.segmented", "protocols.balls_into_bins", "protocols.subset_exponential")
FOUND += ("datasets.msnbc", "datasets.synthetic")
#: What only the proven side, or only files of one's own, need.
BEYOND = r"plans\.planner|blankets\.(poisson|signed|clustered|pairs)|numerics\.loss_distribution|datasets\.own"
BEYOND += r"|reproduction\.studies\.deployments"


def modules():
    """Map the name of every module of the package to its file."""
    found = {}
    for path in SOURCE.rglob("*.py"):
        found[".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__")] = path
    return found


def imports(path, known, *, typing=True):
    """Return the modules of `known` that a file imports, wherever the statement stands.

    Without `typing` those that only the type checker sees are left out.
    """
    tree = ast.parse(path.read_text(encoding="utf-8"))
    left_out = set()
    for node in ast.walk(tree):
        if not typing and isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            left_out |= set(ast.walk(node))
    found = set()
    for node in ast.walk(tree):
        if node in left_out:
            continue
        if isinstance(node, ast.ImportFrom):
            for name in node.names:
                whole = f"{node.module}.{name.name}"
                found.add(whole if whole in known else node.module)
        elif isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
    return found & set(known)


@pytest.fixture(scope="module")
def graph():
    known = modules()
    return {name: imports(path, known) for name, path in known.items()}


def room_of(name):
    """Return the room of a module; single modules have one, and so has the package itself."""
    if name in ("segshuffle", "segshuffle.__main__"):
        return "above all"
    room = name.split(".")[1]
    return room if room in FLOOR else "single"


def floor_of(name):
    return {"above all": len(FLOORS) + 1, "single": 0, **FLOOR}[room_of(name)]


def wrong(graph: Mapping[str, Iterable[str]]) -> list[str]:
    """Return the imports that leave their room, but not for a lower floor."""
    found = []
    for name, others in graph.items():
        for other in others:
            if room_of(name) != room_of(other) and floor_of(other) >= floor_of(name):
                found.append(f"{name} imports {other}")
    return found


def circles(graph: Mapping[str, Iterable[str]]) -> list[str]:
    """Return the circles that a walk along all imports meets."""
    found, done = [], set()

    def walk(name, way):
        if name in way:
            found.append(" -> ".join([*way[way.index(name) :], name]))
        elif name not in done:
            for other in sorted(graph.get(name, ())):
                walk(other, [*way, name])
            done.add(name)

    for name in sorted(graph):
        walk(name, [])
    return found


def test_imports_go_down(graph):
    assert wrong(graph) == []
    rooms = {(room_of(name), room_of(other)) for name, others in graph.items() for other in others}
    # no statement was overlooked
    assert {("cli", "collection"), ("reproduction", "protocols"), ("protocols", "plans"), ("plans", "single")} <= rooms


def test_no_imports_go_round(graph):
    assert circles(graph) == []


def test_every_folder_is_a_room_on_a_floor_and_is_described():
    folders = {path.parent.name for path in (SOURCE / "segshuffle").glob("*/__init__.py")}
    assert folders == set(FLOOR)
    singles = {path.stem for path in (SOURCE / "segshuffle").glob("*.py")} - {"__init__", "__main__"}
    architecture = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    assert [name for name in sorted(folders | singles) if f"`{name}`" not in architecture] == []


def test_protocols_are_protocols_and_nothing_else():
    for path in (SOURCE / "segshuffle/protocols").glob("[!_]*.py"):
        declares = re.search(r"^METHODS\b|^    def plan\(self", path.read_text(encoding="utf-8"), re.MULTILINE)
        assert declares, f"{path} neither lists methods nor plans as one"


def test_the_papers_figures_need_nothing_that_only_goes_beyond_them(graph):
    known = modules()
    todo = {f"segshuffle.{name}" for name in FOUND}
    for script in PAPER:
        todo |= imports(ROOT / f"workflow/scripts/{script}.py", known)
    needed = set()
    while todo:
        needed.add(name := todo.pop())
        todo |= imports(known[name], known, typing=False) - needed
    assert {"segshuffle.plans.plan", "segshuffle.accounting.collections.published"} <= needed
    assert [name for name in sorted(needed) if re.match(rf"segshuffle\.({BEYOND}|collection|cli)\b", name)] == []


def test_nothing_in_the_package_imports_snakemake_or_by_relative_names():
    for name in filter(lambda name: name.startswith("src/") and name.endswith(".py"), project_files(ROOT)):
        text = (ROOT / name).read_text(encoding="utf-8")
        assert not re.search(r"^\s*(import|from) (snakemake|\.)", text, re.MULTILINE), name
