"""Plugin of pytest that stores which tests run which lines of the package, and how long each takes; see mutants.py."""

import os
import pickle
import time
from collections import defaultdict
from pathlib import Path

import coverage
import pytest

ROOT = Path(__file__).resolve().parents[1]
_measure = coverage.Coverage(data_file=None, source=[str(ROOT / "src/segshuffle")], config_file=False)
_measure.start()
_seconds: dict[str, float] = {}
_failed: set[str] = set()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item):
    _measure.switch_context(item.nodeid)
    began = time.process_time()
    yield
    _seconds[item.nodeid] = time.process_time() - began
    _measure.switch_context("")


def pytest_runtest_logreport(report):
    if report.failed or report.skipped:
        _failed.add(report.nodeid)


def pytest_sessionfinish():
    _measure.stop()
    data = _measure.get_data()
    lines = defaultdict(dict)
    for path in data.measured_files():
        for line, tests in data.contexts_by_lineno(path).items():
            lines[str(Path(path).relative_to(ROOT))][line] = set(tests) - _failed
    seconds = {test: taken for test, taken in _seconds.items() if test not in _failed}
    Path(os.environ["MUTANTS_COVERAGE"]).write_bytes(pickle.dumps((lines, seconds)))
