"""Mutation testing: a stated random sample of small faults in the package, each given to the tests that run its line.

Usage: ``python tests/mutants.py [--mutants N] [--seed S] [--package NAME ...]`` (``make mutants``). Faults are those of
cosmic-ray. The sample has the same number of faults per package: a place in the code, drawn uniformly, then one of the
faults that are possible there. A fault is killed if a test that runs its line fails, or if it takes far too long;
before it counts as survived, all tests of the files concerned have run (their fixtures are shared). Everything
happens in a copy of the project. Survivors that no test can kill are explained in ``tests/mutants-explained.toml``; the
exit status is 1 if less than 95 % of the others are killed.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import difflib
import hashlib
import json
import math
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
import traceback
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatch
from pathlib import Path
from typing import NamedTuple

import matplotlib.pyplot  # noqa: F401 - for the forks, as all here but pytest
import mpmath  # noqa: F401
import pandas  # noqa: F401
import pytest
import scipy.optimize
import scipy.stats  # noqa: F401

ROOT = Path(__file__).resolve().parents[1]
CACHE = ROOT / ".mutants"
EXPLAINED = ROOT / "tests/mutants-explained.toml"
REQUIRED = 0.95
#: First pattern that fits decides; what fits none is not mutated.
PACKAGES = {
    "figures": ("looks.py", "pipeline/style.py", "studies/*/figure*.py"),
    "accounting": ("accounting/*",),
    "protocols": ("protocols/*",),
    "studies": ("pipeline/*", "studies/*"),
}
#: Whole runs and browsers are no unit tests; the seed makes a survivor one that survives again.
PYTEST = ["-q", "-p", "no:cacheprovider", "--hypothesis-seed=0"]
QUICK = "(quick or not exhaustive) and not pipeline and not browser and not cluster"
#: They need arguments of their own, or turn floats into errors that any test sees.
LEFT_OUT = ("VariableReplacer", "VariableInserter", "NoOp", "_LShift", "_RShift", "_BitOr", "_BitAnd", "_BitXor")


class Fault(NamedTuple):
    """One fault: the occurrence of an operator in a file, and the line where it stands."""

    path: str
    line: int
    column: int
    operator: str
    occurrence: int


class Coverage(NamedTuple):
    """Which tests run a line, and how long a test takes."""

    tests: Mapping[str, Mapping[int, list[str]]]
    seconds: dict[str, float]

    def of(self, fault: Fault) -> list[str]:
        """Tests that run the line, the quickest first; for a line that runs at import, all that run the module."""
        lines = self.tests.get(fault.path, {})
        found = set(lines.get(fault.line, ()))
        if "" in found:
            found = {test for tests in lines.values() for test in tests}
        return sorted(found - {""}, key=lambda test: self.seconds[test])


# --- the copy and what its tests cover --------------------------------------------------------------------------------


def project_files() -> list[str]:
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, check=True)
    return [name for name in listed.stdout.decode().splitlines() if (ROOT / name).is_file()]


def copy_project(target: Path) -> None:
    for name in project_files():
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, target / name)


def run_pytest(copy: Path, options: list[str], tests: list[str], limit: float = 0) -> int | None:
    """Exit status of pytest on the copy; None if it took more than `limit` seconds.

    In a fork that has the libraries already, for most faults are found in less time than these take to load.
    """
    child = os.fork()
    if child == 0:
        os.setsid()
        signal.alarm(math.ceil(limit))
        os.chdir(copy)
        sys.path[:0] = [f"{copy}/src", f"{copy}/tests"]
        os.environ["PYTHONPATH"] = f"{copy}/src:{copy}/tests"
        output = os.open("output.txt", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(output, 1)
        os.dup2(output, 2)
        status = 3
        try:
            status = int(pytest.main([*PYTEST, *options, *tests]))
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            os._exit(status)  # whatever was raised: the copy is the parent's to clear away
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)  # what the tests have started
    return None if status == -signal.SIGALRM else status


def measured_coverage(copy: Path, folders: list[str]) -> Coverage:
    """Lines that each test runs; kept per file of tests until that file or the package changes."""
    CACHE.mkdir(exist_ok=True)
    package = digest(name for name in project_files() if name.startswith("src/"))
    stored = {
        name: CACHE / f"{Path(name).stem}-{package}-{digest([name])}.json"
        for name in project_files()
        if fnmatch(name, "tests/*test_*.py") and any(Path(name).is_relative_to(folder) for folder in folders)
    }
    missing = [name for name, file in stored.items() if not file.exists()]
    if missing:
        print(f"measuring which tests run which lines: {len(missing)} files of tests ...", flush=True)
        answer = copy / "coverage.json"
        os.environ["MUTANTS_COVERAGE"] = str(answer)
        run_pytest(copy, ["-p", "coverage_by_test", "-m", QUICK], missing)
        if not answer.exists():
            raise SystemExit((copy / "output.txt").read_text())
        found = json.loads(answer.read_text())
        for name in missing:
            stored[name].write_text(json.dumps(found.get(name, {"lines": {}, "seconds": {}})))
    lines: defaultdict[str, defaultdict[int, list[str]]] = defaultdict(lambda: defaultdict(list))
    seconds = {}
    for file in stored.values():
        part = json.loads(file.read_text())
        seconds |= part["seconds"]
        for path, tests_of in part["lines"].items():
            for line, tests in tests_of.items():
                lines[path][int(line)] += tests
    return Coverage(lines, seconds)


def digest(names: Iterable[str]) -> str:
    state = hashlib.sha256()
    for name in sorted(names):
        state.update(name.encode() + (ROOT / name).read_bytes())
    return state.hexdigest()[:12]


# --- faults -----------------------------------------------------------------------------------------------------------


def package_of(path: str) -> str | None:
    inside = path.removeprefix("src/segshuffle/")
    return next((name for name, fits in PACKAGES.items() if any(fnmatch(inside, each) for each in fits)), None)


def annotations(source: str) -> set[tuple[int, int]]:
    """Places inside annotations, which never run."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        held = [getattr(node, "annotation", None), getattr(node, "returns", None)]
        for part in (part for each in held if isinstance(each, ast.AST) for part in ast.walk(each)):
            if isinstance(part, ast.expr):
                found |= {(part.lineno, column) for column in range(part.col_offset, (part.end_col_offset or 0) + 1)}
    return found


def faults_of(path: str) -> Iterator[Fault]:
    """All faults of cosmic-ray in a file."""
    from cosmic_ray import plugins
    from cosmic_ray.ast import ast_nodes, get_ast

    source = (ROOT / path).read_text(encoding="utf-8")
    idle = annotations(source)
    nodes = list(ast_nodes(get_ast(source)))
    for name in plugins.operator_names():
        if name.endswith(LEFT_OUT):
            continue
        operator = plugins.get_operator(name)()
        places = (place for node in nodes for place in operator.mutation_positions(node))
        for occurrence, ((line, column), _) in enumerate(places):
            if (line, column) not in idle:
                yield Fault(path, line, column, name, occurrence)


def sample(package: str, number: int, seed: int) -> Iterator[Fault]:
    """Places drawn uniformly without replacement, one fault at each."""
    places: defaultdict[tuple[str, int, int], list[Fault]] = defaultdict(list)
    for path in sorted(name for name in project_files() if name.startswith("src/") and name.endswith(".py")):
        if package_of(path) == package:
            for fault in faults_of(path):
                places[fault.path, fault.line, fault.column].append(fault)
    draw = random.Random(f"{package} {seed}")
    for place in draw.sample(sorted(places), min(number, len(places))):
        yield draw.choice(places[place])


class Ready(NamedTuple):
    """A fault with the file that has it, and the lines that go and come, without their indentation."""

    fault: Fault
    code: str
    change: list[str]


def ready(fault: Fault) -> Ready:
    from cosmic_ray.mutating import mutate_code
    from cosmic_ray.plugins import get_operator

    source = (ROOT / fault.path).read_text(encoding="utf-8")
    code = mutate_code(source, get_operator(fault.operator)(), fault.occurrence)
    lines = difflib.unified_diff(source.splitlines(), code.splitlines(), lineterm="", n=0)
    change = [f"{line[0]} {line[1:].strip()}" for line in lines if line[:3] not in ("---", "+++") and line[0] != "@"]
    return Ready(fault, code, change)


# --- one fault after the other ----------------------------------------------------------------------------------------


def outcome(copy: Path, fault: Fault, code: str, coverage: Coverage) -> str:
    """'killed', 'too slow', 'survived' or 'not run'."""
    tests = coverage.of(fault)
    if not tests:
        return "not run"
    target = copy / fault.path
    original = target.read_bytes()
    files = {test.split("::")[0] for test in tests}
    neighbours = [test for test in coverage.seconds if test.split("::")[0] in files and test not in tests]
    try:
        target.write_text(code, encoding="utf-8")
        for chosen in (tests, sorted(neighbours, key=lambda test: coverage.seconds[test])):
            forget_bytecode(target)
            limit = 120 + 10 * sum(coverage.seconds[test] for test in chosen)
            status = run_pytest(copy, ["-x"], chosen, limit) if chosen else 0
            if status != 0:
                return "too slow" if status is None else "killed"
        return "survived"
    finally:
        target.write_bytes(original)
        forget_bytecode(target)


def forget_bytecode(source: Path) -> None:
    """Bytecode is told apart by seconds and sizes, which a fault need not change."""
    for stale in source.parent.glob(f"__pycache__/{source.stem}.*"):
        stale.unlink()


def explained() -> dict[tuple[str, tuple[str, ...]], str]:
    """Reasons by file and difference."""
    entries = tomllib.loads(EXPLAINED.read_text(encoding="utf-8")).get("mutant", [])
    return {(entry["file"], tuple(entry["change"])): entry["reason"] for entry in entries}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mutants", type=int, default=200, help="faults in all (default 200)")
    parser.add_argument("--seed", type=int, default=1, help="of the sample (default 1)")
    parser.add_argument("--package", action="append", choices=PACKAGES, help="only this one (may be repeated)")
    parser.add_argument("--tests", nargs="*", default=["tests"], help="folders of tests (default: all)")
    options = parser.parse_args()
    packages = options.package or list(PACKAGES)
    reasons = explained()
    counts: dict[str, Counter[str]] = {package: Counter() for package in packages}
    number = round(options.mutants / len(packages))
    # all before the first run: the project may be edited while it goes on
    drawn = {package: [ready(fault) for fault in sample(package, number, options.seed)] for package in packages}
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        copy_project(copy)
        coverage = measured_coverage(copy, options.tests)
        for package, faults in drawn.items():
            fault = faults[0].fault if faults else None
            if fault and outcome(copy, fault, (copy / fault.path).read_text(encoding="utf-8"), coverage) == "killed":
                raise SystemExit(f"these tests fail without any fault:\n{(copy / 'output.txt').read_text()}")
            for fault, code, change in faults:
                began = time.monotonic()
                result = outcome(copy, fault, code, coverage)
                if result in ("survived", "not run") and (fault.path, tuple(change)) in reasons:
                    result = "explained"
                counts[package][result] += 1
                print(f"{package} {result} ({time.monotonic() - began:.0f} s) {fault.path}:{fault.line}", flush=True)
                if result not in ("killed", "too slow"):
                    print("    " + "\n    ".join(change), flush=True)
    return report(counts, options.seed)


def report(counts: dict[str, Counter[str]], seed: int) -> int:
    """Killed and survived per package; 1 if too many survive."""
    print(f"\nsample with seed {seed}")
    for package, count in counts.items():
        killed, lived = count["killed"] + count["too slow"], count["survived"] + count["not run"]
        print(f"{package:12} {killed:4} killed {lived:4} survived {count['explained']:4} explained")
    total = sum(counts.values(), Counter())
    killed, lived = total["killed"] + total["too slow"], total["survived"] + total["not run"]
    share = killed / max(killed + lived, 1)
    print(f"{share:.1%} killed of {killed + lived} that are not explained; {REQUIRED:.0%} are required")
    return int(share < REQUIRED)


if __name__ == "__main__":
    sys.exit(main())
