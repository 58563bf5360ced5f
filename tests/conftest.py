"""What all tests share: the project, its configurations, hypothesis profiles, which cases are quick, what they cost."""

import copy
import gc
import os
import resource
import secrets
import zlib
from collections import Counter, defaultdict
from pathlib import Path

import numpy.testing  # noqa: F401  jobs and commands leave it out, unless it is imported already
import pytest
import yaml
from headless import chromium
from hypothesis import Phase, settings

pytest_plugins = ["checkouts"]

# the machine may be busy: a slow example is no failure
settings.register_profile("quick", deadline=None, max_examples=15)
settings.register_profile("thorough", deadline=None, max_examples=100)
# for mutants.py, which only needs to know that a test fails
settings.register_profile(
    "fails", deadline=None, max_examples=25, phases=[Phase.explicit, Phase.generate], database=None
)
settings.load_profile("quick")

_approx = pytest.approx


def approx_by_what_is_asked(expected, rel=None, abs=None, nan_ok=False):
    """Compare by a relative width alone, if one is given: pytest would add 1e-12, wider than a small delta."""
    return _approx(expected, rel=rel, abs=0.0 if rel is not None and abs is None else abs, nan_ok=nan_ok)


pytest.approx = approx_by_what_is_asked

ROOT = Path(__file__).resolve().parents[1]
SCHEMA = ROOT / "workflow/schemas/config.schema.yaml"
_SHIPPED = {
    name: yaml.safe_load((ROOT / f"config/{name}.yaml").read_text(encoding="utf-8")) for name in ("config", "quick")
}


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """Mark tests that need a finished run as exhaustive, and those that run the pipeline at all as `pipeline`.

    Tests of the pipeline go first. If a test has the mark `quick`, all its cases are exhaustive but those that
    the mark names. If the mark is a number, that many cases stay quick, drawn by a checksum of their names: every
    process draws the same ones, from all corners of a grid.
    """
    many = defaultdict(list)
    for item in items:
        if "checkout" in item.fixturenames:
            item.add_marker(pytest.mark.exhaustive)
        if {"new_checkout", "extended"} & set(item.fixturenames):
            item.add_marker(pytest.mark.pipeline)
        if item.get_closest_marker("quick") and not item.get_closest_marker("exhaustive"):
            many[item.nodeid.partition("[")[0]].append(item)
    for test, cases in many.items():
        quick = cases[0].get_closest_marker("quick").args
        unknown = set(quick) - set(map(_case, cases)) if isinstance(quick[0], str) else set()
        if unknown and not any("[" in argument for argument in config.args):
            raise pytest.UsageError(f"{test}: its mark quick names {sorted(unknown)}, which are no cases of it")
        for item in _left_out(cases, quick):
            item.add_marker(pytest.mark.exhaustive)
    items.sort(key=lambda item: item.get_closest_marker("pipeline") is None)


def _case(item):
    """Return the name of a case: what stands in brackets."""
    return item.name.partition("[")[2].removesuffix("]")


def _left_out(cases, quick):
    """Return the cases that are exhaustive, by the arguments of the mark `quick`: a number, or names of cases."""
    if isinstance(quick[0], str):
        return [item for item in cases if _case(item) not in quick]
    return sorted(cases, key=lambda item: zlib.crc32(item.name.encode()))[quick[0] :]


def pytest_collection_finish(session):
    """Exclude modules and tests, which stay to the end, from garbage collection; it took a tenth of the time."""
    gc.freeze()
    session.processor_seconds = _processor_seconds()


# --- what the tests cost: printed, so that a suite that grows is seen ------------------------------------------------

_cost = Counter()


def _processor_seconds():
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item):
    """Give every report the processor time since the one before it, fixtures and started processes included."""
    report = yield
    now = _processor_seconds()
    report.processor_seconds, item.session.processor_seconds = now - item.session.processor_seconds, now
    return report


def pytest_runtest_logreport(report):
    # the report of a process that crashed has no processor time
    _cost[report.nodeid] += getattr(report, "processor_seconds", 0.0)


def pytest_terminal_summary(terminalreporter):
    if len(_cost) > 100:
        terminalreporter.section(f"{_cost.total():.0f} s of processor time in tests; the dearest")
        for test, seconds in _cost.most_common(10):
            terminalreporter.write_line(f"{seconds:6.1f} s {test}")


@pytest.fixture(autouse=True)
def no_account_of_the_developer(monkeypatch, tmp_path_factory):
    """Give the client of every test a new account, which has spent nothing."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path_factory.getbasetemp() / f"state-{secrets.token_hex(8)}"))


@pytest.fixture(scope="session")
def root():
    """Return the folder of the project."""
    return ROOT


@pytest.fixture(scope="session")
def schema():
    """Return the schema file of the configuration."""
    return SCHEMA


def _given(root, variable, name):
    """Return a real data file; skip the test without it."""
    for place in (os.environ.get(variable), root.parent / "shared/data" / name):
        if place and Path(place).is_file():
            return Path(place).resolve()
    pytest.skip(f"{name} is not at hand: set {variable}")


@pytest.fixture(scope="session")
def msnbc_file(root):
    """Return the file of the real MSNBC log."""
    return _given(root, "SEGSHUFFLE_MSNBC", "msnbc990928.seq.gz")


@pytest.fixture(scope="session")
def groceries_file(root):
    """Return the file of the real baskets."""
    return _given(root, "SEGSHUFFLE_GROCERIES", "groceries.csv.gz")


@pytest.fixture(scope="session")
def msweb_file(root):
    """Return the file of the real Microsoft log."""
    return _given(root, "SEGSHUFFLE_MSWEB", "anonymous-msweb.data.gz")


@pytest.fixture(scope="session")
def browser():
    """Yield a headless Chromium; one for all tests, because playwright starts only once in a process."""
    with chromium() as found:
        yield found


@pytest.fixture
def full_config():
    """Return a fresh copy of config/config.yaml."""
    return copy.deepcopy(_SHIPPED["config"])


@pytest.fixture
def quick_config():
    """Return a fresh copy of config/quick.yaml."""
    return copy.deepcopy(_SHIPPED["quick"])


@pytest.fixture
def tiny_config(quick_config):
    """Return a configuration whose scenarios are planned and simulated in moments."""
    quick_config["repetitions"] = 4
    quick_config["repetition_block"] = 3
    quick_config["blanket_grid"] = {"low": 1.0, "high": 10.0, "points": 2, "include": []}
    quick_config["datasets"]["msnbc"] |= {"n_users": [40, 80], "set_sizes": [2]}
    quick_config["datasets"]["synthetic"] = {"domain_size": 8, "n_users": [40, 80], "set_sizes": [2]}
    return quick_config
