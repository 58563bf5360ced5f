"""Small faults in the package, for `mutants.py`: those of cosmic-ray and `WRONG_SIDE`, and why some cannot be found."""

from __future__ import annotations

import ast
import difflib
import hashlib
import re
import subprocess
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator
from fnmatch import fnmatch
from functools import cache
from itertools import islice
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
EXPLAINED = "tests/mutants-explained.toml"
#: First pattern that fits decides; what fits none (how a run goes, how files are written) changes no result.
PACKAGES = {
    "figures": ("drawing/looks.py", "drawing/style.py", "reproduction/studies/*/report.py"),
    "accounting": ("accounting/*", "blankets/*", "numerics/*"),
    "protocols": ("protocols/*", "plans/*", "collection/messages/*", "collection/padding.py"),
    "studies": (
        "reproduction/studies/*",
        *(f"reproduction/{name}.py" for name in ("config", "design", "scenarios")),
        "seeds.py",
    ),
}
#: Operators that need arguments, turn floats into errors that any test sees, or compare identity, not value.
LEFT_OUT = ("VariableReplacer", "VariableInserter", "NoOp", "_LShift", "_RShift", "_BitOr", "_BitAnd", "_BitXor")
LEFT_OUT += ("_Is", "_IsNot")
#: `*` and `/` between parameters are no operators; of masks `&` is the same as `*`, and `|` as `+`.
LEFT_OUT += ("_BitAnd_Mul", "_BitOr_Add")
#: Comparisons of order, which make no sense as faults where a text is compared with `==` or `!=`.
ORDERS = ("_Lt", "_LtE", "_Gt", "_GtE")
#: Numbers that only say how large, thick, dark or far apart something is drawn; tests find what is cut or hidden.
LOOKS = "height width foot figsize lw linewidth ms markersize mew alpha zorder fontsize size capsize pad dashes ratio"
#: Further words that change no answer: bans on what no caller does, sizes of caches, gaps between ranks.
IDLE = f"{LOOKS} strict kw_only eq slots frozen maxsize order"
#: Faults of our own: the wrong end of an interval, the wrong side of a rounding.
WRONG_SIDE = {
    "floor": "ceil",
    "maximum": "minimum",
    "max": "min",
    "at_least": "at_most",
    "upper": "lower",
    "inf": "inf * -1",
}
WRONG_SIDE |= {there: here for here, there in WRONG_SIDE.items() if here != "inf"}
WRONG_SIDE |= {f'"{here}"': f'"{there}"' for here, there in WRONG_SIDE.items() if here in ("lower", "upper")}


class Fault(NamedTuple):
    """One fault: the occurrence of an operator in a file, and the line where it stands."""

    path: str
    line: int
    column: int
    operator: str
    occurrence: int


@cache
def project_files() -> list[str]:
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, check=True)
    return [name for name in listed.stdout.decode().splitlines() if (ROOT / name).is_file()]


def package_of(path: str) -> str | None:
    inside = path.removeprefix("src/segshuffle/")
    return next((name for name, fits in PACKAGES.items() if any(fnmatch(inside, each) for each in fits)), None)


class WrongSide:
    """Operator of cosmic-ray's kind, on names and words."""

    def mutation_positions(self, node):
        # of `lower` and `upper` only attributes: a local variable exists under its own name only
        if node.type not in ("name", "string") or node.value not in WRONG_SIDE or is_name_of(node):
            return
        before = node.get_previous_leaf()
        if node.value not in ("lower", "upper") or (before is not None and before.value == "."):
            yield node.start_pos, node.end_pos

    def mutate(self, node, index):
        node.value = WRONG_SIDE[node.value]
        return node


def is_name_of(node) -> bool:
    """Return whether something is given this name here: in a definition, an import or an argument."""
    given = node.parent.type == "argument" and node.get_next_leaf().value == "="
    return given or node.parent.type.startswith(("import", "funcdef", "param", "class"))


def operator_of(name: str):
    from cosmic_ray import plugins

    return WrongSide() if name == "WrongSide" else plugins.get_operator(name)()


def left_alone(source: str) -> tuple[set[tuple[int, int]], set[tuple[int, int]]]:
    """Return the places where no fault is made, and those where something is compared with a constant text."""
    idle: set[tuple[int, int]] = set()
    words: set[tuple[int, int]] = set()
    # ast counts columns in bytes, cosmic-ray in characters: equal once all characters beyond ASCII are replaced
    for node in ast.walk(ast.parse(re.sub(r"[^\x00-\x7f]", "?", source))):
        for part in [*looks_in(node), *of_no_effect(node)]:
            idle |= places_in(part)
        if isinstance(node, ast.FunctionDef):
            # where the @ of a cache stands
            idle |= {(each.lineno, each.col_offset - 1) for each in caches(node)}
        if isinstance(node, ast.Compare):
            strings = [isinstance(each, ast.Constant) and isinstance(each.value, str) for each in node.comparators]
            words |= places_in(node) if all(strings) else set()
    return idle, words


def looks_in(node: ast.AST) -> Iterator[ast.AST]:
    """Yield parts of a node that only say how large, thick, dark or far apart something is drawn."""
    if isinstance(node, ast.Dict):
        named = zip(node.keys, node.values, strict=True)
        yield from (value for key, value in named if isinstance(key, ast.Constant) and key.value in LOOKS.split())
    if isinstance(node, ast.Tuple) and len(node.elts) == 2 and isinstance(node.elts[1], ast.Tuple):
        yield from [node] if all(isinstance(each, ast.Constant) for each in node.elts[1].elts) else []  # dashes
    if isinstance(node, ast.Subscript) and ast.unparse(node.value) == "DASHES":
        yield node.slice


def of_no_effect(node: ast.AST) -> Iterator[ast.AST]:
    """Yield annotations, imports for types, bans on what no caller does, sizes of caches, and looks."""
    yield from filter(None, (getattr(node, "annotation", None), getattr(node, "returns", None)))
    if isinstance(node, ast.keyword) and node.arg in IDLE.split():
        yield node.value
    if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
        yield node.test
    if isinstance(node, ast.FunctionDef):
        yield from caches(node)


def caches(node: ast.FunctionDef) -> list[ast.expr]:
    """Return the decorators that remember answers."""
    return [each for each in node.decorator_list if re.search(r"\b(lru_)?cache\b", ast.unparse(each))]


def places_in(node: ast.AST) -> set[tuple[int, int]]:
    found = set()
    for part in ast.walk(node):
        if isinstance(part, ast.expr) and part.end_lineno == part.lineno:
            found |= {(part.lineno, column) for column in range(part.col_offset, (part.end_col_offset or 0) + 1)}
    return found


def faults_of(path: str) -> Iterator[Fault]:
    """Yield all faults of cosmic-ray in a file, and ours."""
    from cosmic_ray import plugins
    from cosmic_ray.ast import ast_nodes, get_ast

    source = (ROOT / path).read_text(encoding="utf-8")
    idle, words = left_alone(source)
    nodes = list(ast_nodes(get_ast(source)))
    for name in ["WrongSide", *plugins.operator_names()]:
        if name.endswith(LEFT_OUT):
            continue
        operator = operator_of(name)
        places = (place for node in nodes for place in operator.mutation_positions(node))
        for occurrence, ((line, column), _) in enumerate(places):
            separates = source.splitlines(keepends=True)[line - 1][column:].startswith(("*, ", "/, ", "*,\n"))
            if (line, column) not in idle and not separates and not ((line, column) in words and name.endswith(ORDERS)):
                yield Fault(path, line, column, name, occurrence)


class Ready(NamedTuple):
    """A fault, the text of the file with it, the place that an explanation names, and the lines that go and come."""

    fault: Fault
    code: str
    place: Place
    change: tuple[str, ...]


class Place(NamedTuple):
    """Function or statement of a module, by its name and its text: an explanation holds for this text alone.

    The name of an assignment is that of its targets.
    """

    file: str
    within: str
    text: str


def places_of(path: str) -> Iterator[tuple[range, Place]]:
    """Yield functions, methods, and the other statements of a module, with their lines."""
    source = (ROOT / path).read_text(encoding="utf-8")
    lines = source.splitlines()

    def place(node: ast.stmt, name: str) -> tuple[range, Place]:
        first = min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", []))])
        covered = range(first, (node.end_lineno or first) + 1)
        text = " ".join(" ".join(lines[number - 1] for number in covered).split())
        return covered, Place(path, name, hashlib.sha256(text.encode()).hexdigest()[:8])

    for node in ast.parse(source).body:
        name = name_of(node)
        if isinstance(node, ast.ClassDef):
            yield from (place(each, f"{name}.{name_of(each)}".rstrip(".")) for each in node.body)
        yield place(node, name)


def name_of(node: ast.stmt) -> str:
    """Return what a statement defines or assigns; nothing for another one."""
    targets = [node.target] if isinstance(node, ast.AnnAssign) else getattr(node, "targets", [])
    return str(getattr(node, "name", ", ".join(map(ast.unparse, targets))))


def ready(fault: Fault) -> Ready | None:
    """Return the fault as a change of its file; nothing if it cannot be made, is not Python, or means the same."""
    from cosmic_ray.mutating import mutate_code

    source = (ROOT / fault.path).read_text(encoding="utf-8")
    try:
        code = mutate_code(source, operator_of(fault.operator), fault.occurrence)
        if ast.dump(ast.parse(code)) == ast.dump(ast.parse(source)):
            return None
    except (SyntaxError, AttributeError):  # the latter is cosmic-ray's, for an exception with a dotted name
        return None
    lines = difflib.unified_diff(source.splitlines(), code.splitlines(), lineterm="", n=0)
    change = [f"{line[0]} {line[1:].strip()}" for line in lines if line[:3] not in ("---", "+++") and line[0] != "@"]
    place = next(place for covered, place in places_of(fault.path) if fault.line in covered)
    return Ready(fault, code, place, tuple(change))


def sample(package: str, number: int, seed: int, only: str) -> list[Ready]:
    """Draw places uniformly without replacement, and one fault at each; none on lines that are left out.

    What is drawn of a line depends only on the seed, the line's text and equal lines above: other edits change nothing.
    """
    drawn: list[tuple[str, list[Fault]]] = []
    for path in sorted(name for name in project_files() if name.startswith("src/") and name.endswith(".py")):
        if package_of(path) == package and fnmatch(path, only):
            idle = lines_left_out(path)
            names = names_of_lines(path)
            places: defaultdict[tuple[int, int], list[Fault]] = defaultdict(list)
            for fault in faults_of(path):
                places[fault.line, fault.column].append(fault)
            kept = [place for place in places if place[0] not in idle]
            if len(kept) < len(places):
                print(f"{path}: {len(places) - len(kept)} places left out, see {EXPLAINED}")
            for line, column in kept:
                name = f"{seed} {names[line]} {column}"
                drawn.append((hashlib.sha256(name.encode()).hexdigest(), places[line, column]))
    found = (ready(faults[int(chance, 16) % len(faults)]) for chance, faults in sorted(drawn))
    return list(islice((mutant for mutant in found if mutant), number))


def names_of_lines(path: str) -> dict[int, str]:
    """Return what tells a line apart, by its number: the file, its text, and how many lines above have the same."""
    seen: Counter[str] = Counter()
    names = {}
    for number, line in enumerate((ROOT / path).read_text(encoding="utf-8").splitlines(), 1):
        names[number] = f"{path} {seen[line.strip()]} {line}"
        seen[line.strip()] += 1
    return names


@cache
def explained(kind: str) -> list[dict]:
    """Return the entries of one kind, 'mutant' or 'left_out'."""
    found: list[dict] = tomllib.loads((ROOT / EXPLAINED).read_text(encoding="utf-8")).get(kind, [])
    return found


def lines_left_out(path: str) -> set[int]:
    """Return the lines of a file where no fault can make an answer wrong, as the entries of the file explain."""
    names = {name for entry in explained("left_out") if entry["file"] == path for name in entry["within"]}
    return {line for lines, place in places_of(path) if place.within in names for line in lines}


@cache
def reasons() -> dict[Place, dict[tuple[str, ...], str]]:
    """Return the reasons by place and change."""
    found: defaultdict[Place, dict[tuple[str, ...], str]] = defaultdict(dict)
    for entry in explained("mutant"):
        found[Place(entry["file"], entry["within"], entry["text"])][tuple(entry["change"])] = entry["reason"]
    return found
