"""Mutation testing: a stated random sample of small faults in the package, each given to the tests that run its line.

Usage: ``python tests/mutants.py [--mutants N] [--seed S] [--package NAME ...] [--jobs J]`` (``make mutants``). The
faults are those of ``faults.py``. The sample has the same number of faults per package: a place in the code, drawn
uniformly, then one of the faults that are possible there. A fault is killed if a test that runs its line fails, or if
it takes far too long. First come the tests that run the line, those in the folder that mirrors that of the fault
before the others, the cheapest first; then all tests of their files (fixtures are shared), exhaustive ones too unless
they run the pipeline. Everything happens in copies of the project. Survivors that no test can kill are explained in
``tests/mutants-explained.toml``, for the text that their function has today. That file also names what is left out of
the sample: where a search begins, how much work is taken on and how large something is drawn change no answer. The
exit status is 1 if less than 95 % of the sample are killed, or if a survivor is not explained.
"""

from __future__ import annotations

import argparse
import contextlib
import math
import multiprocessing
import os
import pickle
import re
import resource
import shutil
import signal
import sys
import tempfile
import traceback
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import matplotlib.pyplot  # noqa: F401 - loaded for the forks, as all of these but pytest
import mpmath  # noqa: F401
import pandas  # noqa: F401
import pytest
import scipy.optimize
import scipy.stats  # noqa: F401
from faults import PACKAGES, ROOT, Fault, Ready, project_files, reasons, sample

REQUIRED = 0.95
#: Tests of the package itself, without those of the command line and of whole runs.
TESTS = (
    "accounting",
    "blankets",
    "collection/messages",
    "collection/test_padding.py",
    "drawing",
    "extension/test_a_new_competitor.py",
    "numerics",
    "plans",
    "protocols",
    "reproduction",
    "test_seeds.py",
)
#: With a fixed seed a survivor survives again. The profile finds no smaller examples, since nobody reads them.
PYTEST = ["-q", "-p", "no:cacheprovider", "--hypothesis-seed=0", "--hypothesis-profile=fails"]
#: Whole runs and browsers are no unit tests.
UNIT = "not pipeline and not browser and not cluster"
QUICK = f"(quick or not exhaustive) and {UNIT}"
#: Processor time after which a fault's tests take far too long: seconds, and so many times what they take without it.
PATIENCE, PATIENCE_FACTOR, PATIENCE_WITH_FILES = 30, 5, 1200
LARGEST_MEMORY = 6 * 2**30


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
