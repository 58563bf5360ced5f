"""The command line: the library's numbers, JSON that reads back, and errors of one sentence with exit status 2."""

import json
import math
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from commands import run
from hypothesis import given
from hypothesis import strategies as st

from segshuffle import cli
from segshuffle.accounting.collections.published import proven_lower_item_delta, published_item_delta
from segshuffle.cli import build_parser, main
from segshuffle.cli.terminal import whole
from segshuffle.protocols.base import Problem, uniform_item_counts
from segshuffle.protocols.public import PUBLIC_INPUTS
from segshuffle.protocols.segmented import Segmented, least_blankets, plan_at

# 400 users of 8 items, 2 each
PLAN = {
    "--domain-size": "8",
    "--set-size": "2",
    "--levels": "0.5:100,1.0:200,2.0:100",
    "--delta": "2.5e-5",
}
AT_5 = {**PLAN, "--blanket-per-user": "5.0"}
PROBLEM = Problem(domain_size=8, set_size=2, levels=(0.5, 1.0, 2.0), level_counts=(100, 200, 100), delta=2.5e-5)
ACCOUNT = {
    "--domain-size": "17",
    "--users": "5000",
    "--blanket-per-user": "2.0",
    "--sampling-rate": "0.5",
    "--epsilon": "0.125",
}


def words(command, options, *more):
    published = ["--published"] if command == "plan" else []  # a closed form: quick
    # "--name=value": a value may begin with a minus sign
    return [command, *published, *(f"{name}={value}" for name, value in options.items() if value is not None), *more]


def answer(capsys, arguments):
    status, out, err = run(capsys, arguments)
    assert (status, err) == (0, "")
    return json.loads(out)


# --- numbers -----------------------------------------------------------------------------------------------------


def test_a_plan_at_a_given_blanket_has_the_librarys_numbers(capsys):
    found = answer(capsys, words("plan", AT_5, "--json"))
    plan = Segmented(5.0).plan(PROBLEM)
    rates = plan.scheme.copies
    about_liars = {name: found.pop(name) for name in ("blanket_cap", "influence", "most_item_messages")}
    assert about_liars["blanket_cap"] is None
    assert found == {
        "blanket_per_user": 5.0,
        "sampling_rates": list(rates),
        "messages_per_user": plan.messages_per_user + 1.0,
        "level_messages_per_user": 1.0,
        "mse_bound": plan.mse_bound,
        "mse_sample": Segmented().expected_mse(plan, uniform_item_counts(PROBLEM)),
        "m_min": list(least_blankets(PROBLEM)),
        "levels": [0.5, 1.0, 2.0],
        "level_counts": [100, 200, 100],
        "delta": 2.5e-5,
        "share_expected": 1.0,
        "kind": "published",
        "domain_size": 8,
        "set_size": 2,
        "public": {
            name: how
            for name, how in PUBLIC_INPUTS.items()
            if name not in ("private_levels", "item_frequencies", "level_deltas", "mean_size")
        },
    }


@pytest.mark.quick(0)
def test_without_a_blanket_the_best_one_is_searched(capsys):
    found = answer(capsys, words("plan", PLAN, "--json"))
    plan = Segmented().plan(PROBLEM)
    assert found["blanket_per_user"] == plan.blanket_per_user
    assert found["mse_bound"] == plan.mse_bound
    assert found["mse_bound"] < answer(capsys, words("plan", AT_5, "--json"))["mse_bound"]
    assert min(found["m_min"]) <= found["blanket_per_user"] <= max(found["m_min"]) * (1 + 1e-9)


@pytest.mark.parametrize("how", ["commas", "file"])
def test_item_frequencies_change_the_sample_error_alone(capsys, tmp_path, how):
    frequencies = [1.0, 0.5, 0.25, 0.25, 0.0, 0.0, 0.0, 0.0]
    given_as = ",".join(map(str, frequencies))
    if how == "file":
        (tmp_path / "frequencies.txt").write_text("\n".join(map(str, frequencies)) + "\n")
        given_as = str(tmp_path / "frequencies.txt")
    uniform = answer(capsys, words("plan", AT_5, "--json"))
    found = answer(capsys, words("plan", AT_5, "--json", "--item-frequencies", given_as))
    plan = plan_at(PROBLEM, 5.0, tuple(found["sampling_rates"]))
    assert found["mse_sample"] == Segmented().expected_mse(plan, 400 * np.array(frequencies))
    assert found["mse_sample"] != uniform["mse_sample"]
    assert set(found["public"]) - set(uniform["public"]) == {"item_frequencies"}
    assert {**found, "mse_sample": 0, "public": 0} == {**uniform, "mse_sample": 0, "public": 0}


def test_an_account_has_the_librarys_numbers(capsys):
    found = answer(capsys, words("account", ACCOUNT, "--json"))
    parameters = {"domain_size": 17, "n_users": 5000, "blanket_per_user": 2.0, "sampling_rate": 0.5, "epsilon": 0.125}
    published, proven = published_item_delta(**parameters), proven_lower_item_delta(**parameters)
    delta = found.pop("item_delta")
    assert (delta["lower"], delta["upper"]) == (published.lower, published.upper)
    assert delta["kind"] == "published"
    assert found.pop("proposition_1") == {"lower": proven.lower, "kind": "lower"}
    assert found == parameters
    assert proven.lower <= delta["upper"]


def test_integers_may_be_written_with_a_power_of_ten(capsys):
    plain = answer(capsys, words("account", ACCOUNT, "--json"))
    assert answer(capsys, words("account", {**ACCOUNT, "--users": "5e3"}, "--json")) == plain
    # exact: the float 1e23 is another integer
    assert whole("1e23") == 10**23
    plain = answer(capsys, words("plan", AT_5, "--json"))
    assert answer(capsys, words("plan", {**AT_5, "--levels": "0.5:1e2,1:2e2,2:100"}, "--json")) == plain


def test_a_list_longer_than_any_file_name_is_a_list(capsys):
    frequencies = ",".join(8 * [f"0.25{100 * '0'}"])
    found = answer(capsys, words("plan", AT_5, "--json", "--item-frequencies", frequencies))
    uniform = answer(capsys, words("plan", AT_5, "--json"))
    assert {**found, "public": 0} == {**uniform, "public": 0}


@pytest.mark.parametrize("command", [words("plan", AT_5), words("account", ACCOUNT)], ids=["plan", "account"])
def test_the_readable_form_shows_the_same_names_and_numbers(capsys, command):
    values = answer(capsys, [*command, "--json"])
    status, out, err = run(capsys, command)
    assert (status, err) == (0, "")
    lines = dict(line.split(maxsplit=1) for line in out.partition("\n\n")[0].splitlines())
    assert list(lines) == [name for name in values if name != "public"]
    for name, value in values.items():
        if isinstance(value, float):
            assert math.isclose(float(lines[name]), value, rel_tol=1e-5)


def test_the_installed_program_runs():
    command = [sys.executable, "-m", "segshuffle", *words("account", ACCOUNT, "--json")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["item_delta"]["kind"] == "published"


COMMANDS = ("plan", "rehearse", "client", "estimate", "account", "fetch-msnbc")


@pytest.mark.parametrize("command", [[], *([name] for name in COMMANDS)], ids=str)
def test_help_fits_a_terminal_of_80_columns(capsys, monkeypatch, command):
    monkeypatch.setenv("COLUMNS", "80")
    status, out, _ = run(capsys, [*command, "-h"])
    assert status == 0
    assert "usage: segshuffle" in out
    assert max(map(len, out.splitlines())) <= 80


HELPERS = (
    "options",
    "plan-text",
    "terminal",
    "reading",
    "words",
    "single-message",
    "matrix-file",
    "sweep",
    "saved-plan",
    "client-account",
)


def test_every_command_and_every_option_is_explained():
    parser = build_parser()
    (commands,) = (action for action in parser._actions if action.dest == "command")
    files = {path.stem.replace("_", "-") for path in Path(cli.__file__).parent.glob("*.py")}
    assert set(commands.choices) == files - {"--init--", "--main--", *HELPERS}
    for command in commands.choices.values():
        assert len(command.description) > 40
        assert all(action.help for action in command._actions)


SLOW_TO_IMPORT = {"numpy", "scipy.optimize", "scipy.stats", "pandas", "joblib", "matplotlib", "requests", "jsonschema"}


@pytest.mark.parametrize(
    ("command", "needed"), [(["--help"], set()), (words("account", ACCOUNT), {"numpy"})], ids=["help", "account"]
)
def test_a_command_imports_no_more_than_it_needs(command, needed):
    """Start-up is imports: 0.3 s of help and 1 s of an account are kept by what is not imported."""
    code = "import sys; from segshuffle.cli import main\ntry: main()\nfinally: print(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code, *command], capture_output=True, text=True, check=True)
    imported = set(done.stderr.split())
    assert "segshuffle.cli.account" in imported
    assert imported & SLOW_TO_IMPORT == needed


# --- errors ------------------------------------------------------------------------------------------------------

# (command, options changed, what the sentence names: parameter, value, what is allowed)
WRONG = [
    ("plan", {"--domain-size": "1"}, ("domain", "1", "[2, 10000000]")),
    ("plan", {"--domain-size": "8.5"}, ("--domain-size", "'8.5'", "integer")),
    ("plan", {"--domain-size": "1e999999999"}, ("--domain-size", "'1e999999999'", "integer")),
    ("plan", {"--set-size": "0"}, ("set_size", "0", "between 1 and domain_size = 8")),
    ("plan", {"--set-size": "9"}, ("set_size", "9", "between 1 and domain_size = 8")),
    ("plan", {"--levels": "0.5"}, ("--levels", "'0.5'", "epsilon:users")),
    ("plan", {"--levels": "0.5:1.5"}, ("--levels", "'0.5:1.5'", "epsilon:users")),
    ("plan", {"--levels": ""}, ("--levels", "''", "epsilon:users")),
    ("plan", {"--levels": "1.0:100,0.5:100"}, ("levels", "(1.0, 0.5)", "strictly increasing")),
    ("plan", {"--levels": "0.5:100,0.5:100"}, ("levels", "(0.5, 0.5)", "strictly increasing")),
    ("plan", {"--levels": "0:100"}, ("epsilon", "0.0", "(0, 100]")),
    ("plan", {"--levels": "nan:100"}, ("epsilon", "nan", "(0, 100]")),
    ("plan", {"--levels": "0.5:-1,1.0:10"}, ("level_counts", "(-1, 10)", ">= 0")),
    ("plan", {"--levels": "0.5:0"}, ("users", "0", "[1, 4e+15]")),
    ("plan", {"--delta": "0"}, ("delta", "0.0", "(0, 1)")),
    ("plan", {"--delta": "nan"}, ("delta", "nan", "(0, 1)")),
    ("plan", {"--delta": "1e-6x"}, ("--delta", "'1e-6x'", "number")),
    ("plan", {"--blanket-per-user": "0"}, ("blanket_per_user", "0.0", "(0, 1e+09]")),
    ("plan", {"--hide-level": "0"}, ("--hide-level", "'0'", "epsilon above 0")),
    ("plan", {"--item-frequencies": "0.5,0.5"}, ("item-frequencies", "2 numbers", "domain-size = 8")),
    (
        "plan",
        {"--item-frequencies": "1,1,1,1,0,0,0,0"},
        ("item-frequencies", "1,1,1,1", "sum set-size = 2 (the sum is 4)"),
    ),
    ("plan", {"--item-frequencies": "2,0,0,0,0,0,0,0"}, ("item-frequencies", "2,0,0", "in [0, 1]")),
    ("plan", {"--item-frequencies": "nan,1,1,0,0,0,0,0"}, ("item-frequencies", "nan", "in [0, 1]")),
    ("plan", {"--item-frequencies": 300 * "x"}, ("item-frequencies", "'" + 37 * "x" + "...'", "File name too long")),
    ("plan", {"--item-frequencies": "nowhere.txt"}, ("item-frequencies", "'nowhere.txt'", "numbers")),
    ("plan", {"--delta": None}, ("--delta", "required", "")),
    ("plan", {"--blankets": "3"}, ("--blankets", "unrecognized", "")),
    ("account", {"--users": "0"}, ("users", "0", "[1, 4e+15]")),
    ("account", {"--domain-size": "0"}, ("domain", "0", "[2, 4e+15]")),
    ("account", {"--blanket-per-user": "nan"}, ("blanket_per_user", "nan", "(0, 1e+09]")),
    ("account", {"--sampling-rate": "0"}, ("sampling_rate", "0.0", "[1e-290, 1]")),
    ("account", {"--epsilon": "-0.1"}, ("epsilon", "-0.1", "300")),
    ("account", {"--epsilon": None}, ("--epsilon", "required", "")),
]


@pytest.mark.parametrize(("command", "changed", "named"), WRONG, ids=lambda part: str(part)[:40])
def test_an_error_is_one_sentence_with_name_value_and_range(capsys, command, changed, named):
    options = {**(AT_5 if command == "plan" else ACCOUNT), **changed}
    status, out, err = run(capsys, words(command, options))
    assert (status, out) == (2, "")
    assert err.count("\n") == 1, "one line"
    assert err.startswith(f"segshuffle {command}: ") or err.startswith("segshuffle: ")
    assert "Traceback" not in err
    for part in named:
        assert part in err


def test_the_first_and_the_unknown_command(capsys):
    for arguments in ([], ["plans"]):
        status, out, err = run(capsys, arguments)
        assert (status, out, err.count("\n")) == (2, "", 1)


def test_frequencies_in_a_file_of_bytes_are_refused(capsys, tmp_path):
    (tmp_path / "bytes").write_bytes(b"\xff\xfe\x00")
    status, out, err = run(capsys, words("plan", AT_5, "--item-frequencies", str(tmp_path / "bytes")))
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert "item-frequencies" in err


@pytest.mark.parametrize("deadline", ["0", "-1", "nan", "3601", "inf", "soon"])
def test_a_senseless_deadline_is_refused_before_anything_is_fetched(capsys, tmp_path, deadline):
    status, out, err = run(capsys, ["fetch-msnbc", str(tmp_path / "x.gz"), f"--deadline={deadline}"])
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert "deadline" in err
    assert deadline in err
    assert list(tmp_path.iterdir()) == []


# --- fuzz --------------------------------------------------------------------------------------------------------

NUMBERS = st.one_of(
    st.integers(-3, 40).map(str),
    st.floats(1e-6, 50).map(str),
    st.sampled_from(["nan", "inf", "-inf", "1e400", "1e-400", "-0.0", "1e9", "10" * 40, "٣", "1_000", "0x10", "", " "]),
    st.text(max_size=6),
)
LEVELS = st.one_of(
    NUMBERS,
    st.lists(st.tuples(NUMBERS, NUMBERS), max_size=3).map(lambda pairs: ",".join(f"{a}:{b}" for a, b in pairs)),
)
SANE = {
    "--domain-size": st.integers(2, 40).map(str),
    "--set-size": st.integers(1, 4).map(str),
    "--levels": st.sampled_from(["1.0:50", "0.5:100,1.0:200", "0.001:3", "99:2"]),
    "--delta": st.floats(1e-12, 0.5).map(str),
    "--blanket-per-user": st.floats(1e-3, 1e3).map(str),
    "--users": st.sampled_from(["1", "10", "1000", "1000000000000"]),
    "--sampling-rate": st.floats(1e-6, 1.0).map(str),
    "--epsilon": st.floats(0, 5).map(str),
    "--item-frequencies": st.sampled_from(["0.5,0.5", "1", "."]),
}
NAMES = {"plan": sorted(set(SANE) - {"--users", "--sampling-rate", "--epsilon"}), "account": sorted(ACCOUNT)}


# ends of the ranges that an earlier search has found troublesome
EDGES = [
    ("plan", {"--domain-size": "1" + 15 * "0"}),
    ("plan", {"--domain-size": 30 * "10"}),
    ("plan", {"--delta": "1e-300"}),
    ("plan", {"--delta": "5e-324"}),
    ("plan", {"--domain-size": "2", "--levels": "0.558:8", "--delta": "0.6", "--blanket-per-user": "1"}),
    ("account", {"--domain-size": "2", "--users": "4", "--blanket-per-user": "100", "--epsilon": "0.3"}),
    ("account", {"--domain-size": "2", "--users": "1000", "--blanket-per-user": "3", "--epsilon": "17"}),
    ("account", {"--sampling-rate": "5e-324"}),
    ("account", {"--sampling-rate": "1e-300", "--users": "84738502024331713"}),
    ("account", {"--epsilon": "5e-324"}),
    ("account", {"--blanket-per-user": "5e-324"}),
    ("account", {"--users": 30 * "10", "--epsilon": "5e-324"}),
    (
        "account",
        {
            "--domain-size": "3",
            "--users": "1000000000000",
            "--blanket-per-user": "86616",
            "--sampling-rate": "1e-6",
            "--epsilon": "17",
        },
    ),
]


@pytest.mark.parametrize(("command", "changed"), EDGES, ids=lambda part: str(part)[:60])
def test_the_ends_of_the_ranges_give_numbers_or_one_sentence(capsys, command, changed):
    options = {**(AT_5 if command == "plan" else ACCOUNT), **changed}
    status, out, err = run(capsys, [*words(command, options), "--json"])
    if status == 0:
        assert err == ""
        assert not re.search("NaN|Infinity", out)
        delta = json.loads(out).get("item_delta")
        assert delta is None or 0 <= delta["lower"] <= delta["upper"] <= 1
    else:
        assert (status, out, err.count("\n")) == (2, "", 1)


@pytest.mark.quick(0)
@given(data=st.data(), command=st.sampled_from(["plan", "account"]))
def test_no_arguments_give_a_traceback(data, command):
    arguments = [command]
    # without a blanket a plan is a search, of seconds: it has its own tests
    for name in NAMES[command]:
        strange = LEVELS if name == "--levels" else NUMBERS
        if name == "--item-frequencies" and data.draw(st.booleans()):
            continue
        value = data.draw(st.one_of(SANE[name], SANE[name], SANE[name], strange), label=name)
        arguments.append(f"{name}={value}")
    if command == "plan":
        arguments += data.draw(st.sampled_from([["--published"], []]))
    dropped = data.draw(st.integers(0, 30))
    if dropped < len(arguments):
        del arguments[dropped]
    assert status_of(arguments) in (0, 2)


@given(arguments=st.lists(st.text(max_size=8) | st.sampled_from(["plan", "account", "--json", "--levels"]), max_size=5))
def test_no_words_give_a_traceback(arguments):
    assert status_of(arguments) in (0, 2)


def status_of(arguments):
    try:
        return main(arguments)
    except SystemExit as stop:
        return stop.code
