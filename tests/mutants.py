"""Mutation testing: a stated random sample of small faults in the package, each given to the tests that run its line.

Usage: ``python tests/mutants.py [--mutants N] [--seed S] [--package NAME ...] [--jobs J]`` (``make mutants``). Faults
are those of cosmic-ray and `WRONG_SIDE`. The sample has the same number of faults per package: a place in the code,
drawn uniformly, then one of the faults that are possible there. A fault is killed if a test that runs its line fails,
or if it takes far too long. First come the tests that run the line, those in the folder that mirrors that of the fault
before the others, the cheapest first; then all tests of their files (fixtures are shared), exhaustive ones too unless
they run the pipeline. Everything happens in copies of the project. Survivors that no test can kill are explained in
``tests/mutants-explained.toml``, for the text that their function has today. That file also names what is left out of
the sample: where a search begins, how much work is taken on and how large something is drawn change no answer. The exit
status is 1 if less than 95 % of the sample are killed, or if a survivor is not explained.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import difflib
import hashlib
import math
import multiprocessing
import os
import pickle
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import tomllib
import traceback
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatch
from functools import cache
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import matplotlib.pyplot  # noqa: F401 - loaded for the forks, as all of these but pytest
import mpmath  # noqa: F401
import pandas  # noqa: F401
import pytest
import scipy.optimize
import scipy.stats  # noqa: F401

ROOT = Path(__file__).resolve().parents[1]
EXPLAINED = "tests/mutants-explained.toml"
REQUIRED = 0.95
#: First pattern that fits decides; what fits none (how a run goes, how files are written) changes no result.
PACKAGES = {
    "figures": ("looks.py", "pipeline/style.py", "studies/*/report.py"),
    "accounting": ("accounting/*", "blankets/*"),
    "protocols": ("protocols/*",),
    "studies": (
        "studies/*",
        *(f"pipeline/{name}.py" for name in ("config", "design", "scenarios", "seeds")),
    ),
}
#: Tests of the package itself, without those of the command line and of whole runs.
TESTS = (
    "accounting",
    "protocols",
    "studies",
    "pipeline",
    "page",
    "extension/test_a_new_competitor.py",
    "test_looks.py",
)
#: With a fixed seed a survivor survives again. The profile finds no smaller examples, since nobody reads them.
PYTEST = ["-q", "-p", "no:cacheprovider", "--hypothesis-seed=0", "--hypothesis-profile=fails"]
#: Whole runs and browsers are no unit tests.
UNIT = "not pipeline and not browser and not cluster"
QUICK = f"(quick or not exhaustive) and {UNIT}"
#: Processor time after which a fault's tests take far too long: seconds, and so many times what they take without it.
PATIENCE, PATIENCE_FACTOR, PATIENCE_WITH_FILES = 30, 5, 1200
LARGEST_MEMORY = 6 * 2**30
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


class Coverage(NamedTuple):
    """Which tests run a line, and how long a test takes."""

    tests: Mapping[str, Mapping[int, set[str]]]
    seconds: Mapping[str, float]

    def of(self, fault: Fault) -> list[str]:
        """Return the tests that run the line, or all that run a line of the file if this one is run at its import.

        Near ones come first, then cheap ones, those of one file together if they are quick.
        """
        lines = self.tests.get(fault.path, {})
        found = lines.get(fault.line, set())
        if "" in found:
            found = set().union(*lines.values())
        mirror = "tests/" + fault.path.removeprefix("src/segshuffle/").rpartition("/")[0]

        def cost(test: str) -> tuple[bool, int, str, float]:
            seconds = self.seconds[test]
            return not test.startswith(mirror), round(seconds), test.split("::")[0], seconds

        return sorted(found - {""}, key=cost)


# --- the copy and what its tests cover --------------------------------------------------------------------------------


@cache
def project_files() -> list[str]:
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, check=True)
    return [name for name in listed.stdout.decode().splitlines() if (ROOT / name).is_file()]


def copy_project(target: Path) -> None:
    for name in project_files():
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, target / name)


def run_pytest(copy: Path, options: list[str], tests: list[str], limit: float = 0) -> int | None:
    """Return the exit status of pytest on the copy; None if it took more processor time than `limit`, if that is not 0.

    It runs in a fork that has the libraries already: most faults are found in less time than these take to load.
    """
    child = os.fork()
    if child == 0:
        status = 3
        try:
            os.setsid()
            signal.alarm(20 * math.ceil(limit))  # a test that waits uses no processor time
            if limit:
                resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(limit), math.ceil(limit) + 5))
                resource.setrlimit(resource.RLIMIT_AS, (LARGEST_MEMORY, LARGEST_MEMORY))
            os.chdir(copy)
            sys.path[:0] = [f"{copy}/src", f"{copy}/tests"]
            os.environ["PYTHONPATH"] = f"{copy}/src:{copy}/tests"
            output = os.open("output.txt", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.dup2(output, 1)
            os.dup2(output, 2)
            status = int(pytest.main([*PYTEST, *options, *tests]))
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            os._exit(status)  # whatever was raised: the copy is the parent's to clear away
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)  # what the tests have started
    return None if status in (-signal.SIGALRM, -signal.SIGXCPU, -signal.SIGKILL) else status


_copy: Path


def in_a_copy(folder: str) -> None:
    """Give this process a copy of the project of its own."""
    global _copy
    _copy = Path(folder) / str(os.getpid())
    copy_project(_copy)


def measured_coverage() -> Coverage:
    """Return the lines that each test runs."""
    print("measuring which tests run which lines: some minutes ...", flush=True)
    answer = _copy / "coverage.pickle"
    os.environ["MUTANTS_COVERAGE"] = str(answer)
    run_pytest(_copy, ["-p", "coverage_by_test", "-m", QUICK], [f"tests/{name}" for name in TESTS])
    if not answer.exists():
        raise RuntimeError(f"the tests cannot be run:\n{(_copy / 'output.txt').read_text()}")
    return Coverage(*pickle.loads(answer.read_bytes()))


# --- faults -----------------------------------------------------------------------------------------------------------


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


# --- one fault after the other ----------------------------------------------------------------------------------------


class Trial(NamedTuple):
    """A fault, the tests that run its line, and the processor time after which these take far too long."""

    package: str
    mutant: Ready
    tests: list[str]
    limit: float


def outcome(trial: Trial) -> tuple[str, str]:
    """Return 'killed', 'too slow', 'survived' or 'not run', and the test that fails."""
    if not trial.tests:
        return "not run", ""
    files = list(dict.fromkeys(test.split("::")[0] for test in trial.tests))
    for options, chosen, limit in (([], trial.tests, trial.limit), (["-m", UNIT], files, PATIENCE_WITH_FILES)):
        with changed(trial.mutant.fault.path, trial.mutant.code):
            status = run_pytest(_copy, ["-x", *options], chosen, limit)
        if status is None:
            return "too slow", ""
        if status not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
            output = (_copy / "output.txt").read_text()
            failed = re.search("^(?:FAILED|ERROR) (tests.*?)(?: - |$)", output, re.MULTILINE)
            if options and failed and run_pytest(_copy, [], [failed[1]]) != pytest.ExitCode.OK:
                raise RuntimeError(f"{failed[1]} fails without any fault:\n{output}")
            return "killed", failed[1] if failed else output.strip().rpartition("\n")[2]
    return "survived", ""


@contextlib.contextmanager
def changed(path: str, code: str) -> Iterator[None]:
    """Put another text into a file of the copy for a while."""
    target = _copy / path
    original = target.read_bytes()
    target.write_text(code, encoding="utf-8")
    forget_bytecode(target)
    try:
        yield
    finally:
        target.write_bytes(original)
        forget_bytecode(target)


def forget_bytecode(source: Path) -> None:
    """Delete bytecode: Python tells it apart by seconds and sizes, which a fault need not change."""
    for stale in source.parent.glob(f"__pycache__/{source.stem}.*"):
        stale.unlink()


def tried(trial: Trial) -> tuple[Trial, str, str]:
    """Return what became of a fault: the outcome, or 'explained', and the test that fails."""
    result, test = outcome(trial)
    if trial.mutant.change in reasons().get(trial.mutant.place, {}):
        # an explanation of what a test can kill is wrong
        result = "explained" if result in ("survived", "not run") else f"explained, yet {result}"
    return trial, result, test


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


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mutants", type=int, default=200, help="faults in all (default 200)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the sample (default 1)")
    parser.add_argument("--package", action="append", choices=PACKAGES, help="only this package (may be repeated)")
    parser.add_argument("--only", default="*", help="pattern of the files to put faults into")
    parser.add_argument("--jobs", type=int, default=1, help="faults tried at the same time (default 1)")
    options = parser.parse_args()
    packages = options.package or list(PACKAGES)
    number = round(options.mutants / len(packages))
    reasons()  # before the copies are made: the project itself may be edited from then on
    with (
        tempfile.TemporaryDirectory() as folder,
        multiprocessing.get_context("fork").Pool(options.jobs, in_a_copy, (folder,)) as pool,
    ):
        drawn = {package: sample(package, number, options.seed, options.only) for package in packages}
        coverage, trials = pool.apply(measured_coverage), []
        # packages in turns: a run that is stopped has then tried faults of all of them
        for place in range(number):
            for package in packages:
                for mutant in drawn[package][place : place + 1]:
                    tests = coverage.of(mutant.fault)
                    limit = PATIENCE + PATIENCE_FACTOR * sum(coverage.seconds[test] for test in tests)
                    trials.append(Trial(package, mutant, tests, limit))
        return report(pool.imap_unordered(tried, trials))


def report(results: Iterable[tuple[Trial, str, str]]) -> int:
    """Print faults as they are tried, and sums per package; return 1 if too many survive, or one unexplained."""
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for (package, mutant, *_), result, test in results:
        print(f"{package} {result} {mutant.fault.path}:{mutant.fault.line} {test}", flush=True)
        if result not in ("killed", "too slow", "explained"):
            print("    " + "\n    ".join([str(mutant.place), *mutant.change]), flush=True)
        kind = {"too slow": "killed", "not run": "survived"}.get(result, result)
        counts[package][kind] += 1
        counts["all"][kind] += 1
    for package, count in counts.items():
        parts = ", ".join(f"{number} {kind}" for kind, number in sorted(count.items(), reverse=True))
        print(f"{package:12} {count.total()} sampled: {parts}")
    killed, explained, total = counts["all"]["killed"], counts["all"]["explained"], max(counts["all"].total(), 1)
    print(f"{killed / total:.1%} killed ({REQUIRED:.0%} are required)")
    return int(killed / total < REQUIRED or killed + explained < counts["all"].total())


if __name__ == "__main__":
    sys.exit(main())
