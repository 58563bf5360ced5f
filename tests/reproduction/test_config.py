"""The configuration: what is shipped is valid, and every mistake is named with key, value and what is allowed."""

import functools
import math

import pytest
import yaml
from configurations import MISSING, changed
from hypothesis import example, given
from hypothesis import strategies as st

from segshuffle.datasets.registry import given_path
from segshuffle.errors import ConfigError
from segshuffle.reproduction.config import check_config, main
from segshuffle.reproduction.design import Setting, least_delta
from segshuffle.reproduction.studies.assumptions.compute import apart
from segshuffle.reproduction.studies.planning import problem_of

PATH_VARIABLE = "SEGSHUFFLE_MSNBC"


def message(config, schema):
    """Return the text of the refusal."""
    with pytest.raises(ConfigError) as caught:
        check_config(config, schema=schema)
    return str(caught.value)


@pytest.mark.parametrize("name", ["config", "quick"])
def test_shipped_configurations_are_valid(root, schema, name):
    path = root / f"config/{name}.yaml"
    check_config(yaml.safe_load(path.read_text(encoding="utf-8")), schema=schema)
    assert main([str(path)]) == 0


def every_key(config, prefix=""):
    for key, value in config.items():
        yield prefix + key
        if isinstance(value, dict):
            yield from every_key(value, f"{prefix}{key}.")


# (key, value, what the message must say is allowed)
REFUSED = [
    # wrong type
    ("seed", "20241120", "integer"),
    ("levels.2", 10**300, "number"),
    ("delta_times_n", "much", "is not of type 'number', 'array'"),
    ("splits", [0.25, 0.5, 0.25], "object"),
    ("datasets", {}, "should be non-empty"),
    # YAML's tricks
    ("delta_times_n", "1e-6", "write 1.0e-6"),
    ("datasets.msnbc.padding", True, "is not one of ['in-domain', 'dummy']"),
    # out of range
    ("edition", "../fast", "does not match '^[a-z0-9][a-z0-9-]*$'"),
    ("seed", -1, "is less than the minimum of 0"),
    ("repetitions", 1, "is less than the minimum of 2"),
    ("delta_times_n", 1.0e-51, "is less than the minimum of 1e-50"),
    ("delta_times_n", math.nan, "is not of type 'number', 'array'"),
    ("levels", [], "should be non-empty"),
    ("levels.0", 0.0, "is less than or equal to the minimum of 0"),
    ("splits.S1.0", -0.25, "is less than the minimum of 0"),
    ("blanket_grid.high", math.inf, "is not of type 'number'"),
    ("datasets.msnbc.n_users", [5000, 5000], "has non-unique elements"),
    ("datasets.msnbc.n_users.0", 989_819, "989818"),
    ("datasets.msnbc.set_sizes.0", 0, "is less than the minimum of 1"),
    ("datasets.synthetic.domain_size", 10_000_001, "is greater than the maximum of 10000000"),
    ("competitors.methods.0", "MM", "subexp-local"),
    ("private_levels.epsilons.0", 0.0009, "is less than the minimum of 0.001"),
    # inconsistent
    ("levels", [1.0, 0.5, 2.0], "strictly increasing"),
    ("levels", [0.5, 1.0], "one share per level (2)"),
    ("splits.S3", [0.5, 0.5], "one share per level (3)"),
    ("splits.S2", [0.5, 0.25, 0.26], "sum to 1 (they sum to 1.01)"),
    ("blanket_grid.low", 10.0, "below high = 10.0"),
    ("datasets.msnbc.set_sizes", [4, 17], "below the domain size 17"),
    ("delta_times_n", [0.01, 0.02], "a list of one per level (3)"),
    ("parts", ["proven"], "does not contain"),
]


@pytest.mark.parametrize(("path", "value", "allowed"), REFUSED, ids=lambda part: str(part)[:30])
def test_a_wrong_value_is_refused_with_key_value_and_what_is_allowed(full_config, schema, path, value, allowed):
    text = message(changed(full_config, path, value), schema)
    # a problem between two keys may be reported at either: levels and splits
    key = "splits" if "share per level" in allowed else path.rstrip(".0123456789")
    assert key in text
    assert allowed in text
    shown = max(value) if "domain size" in allowed else value
    if "share per level" not in allowed:
        assert repr(shown) in text


#: A grid of m, which a dataset may have for itself.
GRID = {"low": 1.0, "high": 4.0, "points": 2, "include": []}


def test_problems_of_parts_and_of_own_grids_name_their_key(full_config, schema):
    wrong = changed(full_config, "datasets.synthetic.blanket_grid", GRID | {"low": 8.0})
    assert "datasets.synthetic.blanket_grid.low = 8.0 is not allowed: it must be below high" in message(wrong, schema)
    wrong = changed(full_config, "amplification.exhibits", ["decomposition9"])
    assert "'decomposition9' is not allowed: it must be one of decomposition2, " in message(wrong, schema)
    del full_config["datasets"]["msnbc"]
    assert "readings is not allowed without datasets.msnbc" in message(full_config, schema)


SHARES = [1 / 3, 1 / 3, 0.3333333333]


@pytest.mark.parametrize(
    "changes",
    [
        {"seed": 10**300 - 1},
        {"levels": [1, 2, 3], "splits.S1": [0, 0, 1], "delta_times_n": 1},
        {"splits.S1": SHARES, "splits.S4": SHARES, "splits.few-liberals": SHARES, "splits.s_1": SHARES},
        {"levels": [1.0], "splits": {f"S{k}": [1.0] for k in (1, 2, 3)}},
        {"levels": [0.1 * k for k in range(1, 51)], "splits": {f"S{k}": [0.02] * 50 for k in (1, 2, 3)}},
        {"datasets.msnbc.n_users": [989_818]},
        {"datasets.msnbc.blanket_grid": GRID},
        {"parts": ["paper", "pareto"], "amplification.exhibits": ["variation-table5"]},
        {"datasets.msnbc.set_sizes": [17], "datasets.msnbc.padding": "dummy"},
    ],
    ids=[
        "large",
        "integers",
        "rounded",
        "one level",
        "fifty levels",
        "all users",
        "own grid",
        "few parts",
        "dummies make room",
    ],
)
def test_what_is_allowed(full_config, schema, changes):
    for path, value in changes.items():
        full_config = changed(full_config, path, value)
    check_config(full_config, schema=schema)


#: Keys that a file of a protocol or dataset declares with a default.
OPTIONAL = (
    "competitors.balls_into_bins",
    "competitors.subset_exponential",
    *(f"datasets.{name}.{key}" for name in ("msnbc", "groceries", "msweb") for key in ("path", "download", "padding")),
)


def test_keys_with_a_default_may_be_left_out(full_config, schema):
    for path in OPTIONAL:
        check_config(changed(full_config, path, MISSING), schema=schema)


def test_every_key_is_required_and_none_may_be_misspelt(full_config, schema):
    """Which datasets and further splits there are is up to the configuration."""
    for path in set(every_key(full_config)) - {f"datasets.{name}" for name in full_config["datasets"]}:
        parent, _, key = path.rpartition(".")
        text = message(changed(changed(full_config, path, MISSING), f"{path}x", 1), schema)
        if not path.startswith((*OPTIONAL, "amplification.exhibits")):
            assert f"{key!r} is a required property" in text, path
            assert f"- {parent or 'top level'}:" in text, path
        if parent != "splits":
            assert f"('{key}x' was unexpected); known keys are" in text, path


@pytest.mark.parametrize(("name", "meant"), [("msnbk", " (did you mean msnbc?)"), ("shop", "")])
def test_a_mistyped_dataset_is_told_from_a_file_of_your_own(full_config, schema, name, meant):
    full_config["datasets"][name] = full_config["datasets"].pop("msnbc")
    del full_config["datasets"][name]["path"]
    said = f"; {name} is no dataset of the package{meant}, so it is a file of your own"
    assert f"datasets.{name}: 'path' is a required property{said}" in message(full_config, schema)


def test_every_problem_is_in_one_message(full_config, schema):
    full_config["seed"] = -1
    full_config["levels"] = "1.0"
    full_config["datasets"]["msnbc"]["padding"] = "none"
    del full_config["datasets"]["synthetic"]["domain_size"]
    full_config["repetition"] = 100
    text = message(full_config, schema)
    assert "(5 problems)" in text
    assert len(text.splitlines()) == 1 + 5
    for key in ("seed", "levels", "datasets.msnbc.padding", "domain_size", "'repetition'"):
        assert key in text


def test_a_delta_per_level_is_kept_by_proven_plans_and_the_least_by_all_others(full_config, schema):
    full_config["delta_times_n"] = [0.01, 0.001, 0.002]
    check_config(full_config, schema=schema)
    published, proven = (
        problem_of(full_config, Setting("synthetic", 5000, 4, 128), "S1", accounting)
        for accounting in ("published", "proven")
    )
    assert published.deltas == (0.001 / 5000,) * 3
    assert proven.deltas == (0.01 / 5000, 0.001 / 5000, 0.002 / 5000)
    assert apart(proven, 4).deltas == pytest.approx([delta / 4 for delta in proven.deltas])
    assert least_delta(full_config, 100) == 0.001 / 100


# --- the user's own copy of the data -----------------------------------------------------------------------------


def test_the_environment_wins_over_the_configuration(full_config, tmp_path, monkeypatch):
    """An empty variable counts as none, and a path may begin with ~."""
    section, (ours, theirs) = full_config["datasets"]["msnbc"], (tmp_path / "ours.seq", tmp_path / "theirs.seq")
    assert given_path("msnbc", section, {}) is given_path("msnbc", section, {PATH_VARIABLE: ""}) is None
    ours.touch()
    theirs.touch()
    monkeypatch.setenv("HOME", str(tmp_path))
    section["path"] = "~/theirs.seq"
    assert given_path("msnbc", section, {PATH_VARIABLE: str(ours)}) == ours
    assert given_path("msnbc", section, {PATH_VARIABLE: ""}) == theirs


@pytest.mark.parametrize(("origin", "environ"), [(PATH_VARIABLE, True), ("datasets.msnbc.path", False)])
@pytest.mark.parametrize("kind", ["missing", "folder"])
def test_a_given_path_is_never_passed_over(full_config, tmp_path, origin, environ, kind):
    wrong = tmp_path if kind == "folder" else tmp_path / "nowhere.seq"
    full_config["datasets"]["msnbc"]["path"] = None if environ else str(wrong)
    with pytest.raises(ConfigError) as caught:
        given_path("msnbc", full_config["datasets"]["msnbc"], {PATH_VARIABLE: str(wrong)} if environ else {})
    text = str(caught.value)
    assert origin in text
    assert str(wrong) in text
    assert ".seq.gz" in text, "what is allowed"
    assert "leave it empty" in text, "what to do instead"


def test_a_file_of_your_own_cannot_be_left_empty(tmp_path):
    with pytest.raises(ConfigError, match=r"Give the path of a table of users and items \(see docs/data.md\)\.$"):
        given_path("own-table", {"path": str(tmp_path / "nowhere.csv")}, {})


# --- fuzz --------------------------------------------------------------------------------------------------------

SCALARS = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=8), st.just(10**400))
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8) | st.integers(), inner, max_size=4),
    max_leaves=12,
)


@functools.cache
def values_of(path):
    """Return a configuration to which a file of one's own was added."""
    config = yaml.safe_load(path.read_text())
    sizes = {"domain_size": 20, "n_users": [9], "set_sizes": [2]}
    config["datasets"]["own"] = {"path": "users.csv", "separator": ";", "header": True, **sizes}
    return config


@given(data=st.data())
def test_whatever_stands_at_a_key_only_a_config_error_comes_out(data, root, schema):
    config = values_of(root / "config/quick.yaml")
    for path in data.draw(st.lists(st.sampled_from(sorted(every_key(config))), min_size=1, max_size=3, unique=True)):
        try:
            config = changed(config, path, data.draw(VALUES))
        except (KeyError, TypeError):
            continue  # an earlier mutation has removed the parent
    refused_or_valid(config, schema)


@given(config=VALUES)
@example(config={"levels": [10**400]})
@example(config=None)
def test_whatever_is_given_only_a_config_error_comes_out(config, schema):
    refused_or_valid(config, schema)


def refused_or_valid(config, schema):
    try:
        check_config(config, schema=schema)
    except ConfigError as error:
        lines = str(error).splitlines()
        assert isinstance(config, dict) or "top level" in lines[1]
        assert "problem" in lines[0]
        assert len(lines) > 1


# --- splits and levels of one's own ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["4", "a b", "S/1", "", "é", "S1\n"])
def test_a_name_that_no_file_should_have_is_refused(full_config, schema, name):
    full_config["splits"][name] = [0.25, 0.5, 0.25]
    text = message(full_config, schema)
    assert f"splits: {name!r} does not match '^[A-Za-z]" in text


def test_a_delta_of_one_is_refused_and_what_is_just_below_is_not(full_config, schema):
    full_config["datasets"]["msnbc"]["n_users"] = [100]
    full_config["datasets"]["synthetic"]["n_users"] = [200]
    full_config["delta_times_n"] = 99.0
    check_config(full_config, schema=schema)
    for wrong in (100.0, [1.0, 100.0, 2.0]):
        full_config["delta_times_n"] = wrong
        assert "also for datasets.msnbc.n_users = 100" in message(full_config, schema)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"seed: 1\nlevels: [1]\nseed: 2\n", ["the key 'seed' stands here twice", "line 3"]),
        (b"splits:\n  S1: [1]\n  S1: [1]\n", ["the key 'S1' stands here twice", "line 3"]),
        (b"seed: 1\n\tlevels: [1]\n", ["found character '\\t' that cannot start any token", "line 2"]),
        (b"seed: 1\n# \xe9\n", ["position 10", "UTF-8"]),
        (b"levels: [1\nseed: 2\n", ["line 2"]),
        (None, ["No such file or directory", "Give the path of a configuration"]),
        (b"levels: " + 2_000 * b"[", ["nested too deep"]),
        (b"? [1, 2]\n: 3\n", ["a key must be a word or a number", "line 1"]),
        (b"seed: " + 5_000 * b"9", ["4300 digits"]),
        (b"seed: 2026-02-31", ["day"]),
        (b"#" * 2**20 + b"\n", ["larger than 1048576 bytes"]),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_a_file_that_is_no_configuration_is_refused_with_its_line(tmp_path, capsys, text, said):
    path = tmp_path / "my.yaml"
    if text is not None:
        path.write_bytes(text)
    assert main([str(path)]) == 2
    shown = capsys.readouterr().err
    assert shown.startswith(f"{path}: cannot be read: ")
    for words in said:
        assert words in shown, words
    assert len(shown.splitlines()) == 1
