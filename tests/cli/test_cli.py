"""The command line: the library's numbers, JSON that reads back, output that cannot be written, no tracebacks."""

import io
import json
import os
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest
from commands import answer, printed, refusal, run
from hypothesis import given
from hypothesis import strategies as st

from segshuffle import plan, save_plan
from segshuffle.accounting.collections.published import proven_lower_item_delta, published_item_delta
from segshuffle.accounting.single_message.mechanisms import MECHANISMS
from segshuffle.cli import build_parser, main
from segshuffle.plans.plan import PLAIN, Problem, uniform_item_counts
from segshuffle.plans.public import PUBLIC_INPUTS
from segshuffle.protocols.segmented import Segmented, plan_at

# a closed form, so it is quick
PLAN = "plan --dummies published --items 8 --set-size 2 --levels 0.5:100,1:200,2:100 --delta 2.5e-5"
PLAN += " --blanket-per-user 5"
PROBLEM = Problem(8, 2, (0.5, 1.0, 2.0), (100, 200, 100), 2.5e-5, PLAIN)
SEGMENTED = {"domain-size": "17", "blanket-per-user": "2", "sampling-rate": "0.5"}


def account(users="5000", epsilon="0.125", **changed):
    """Return the command of a question about the segmented protocol."""
    own = SEGMENTED | {name.replace("_", "-"): value for name, value in changed.items()}
    said = ",".join("=".join(pair) for pair in own.items())
    return f"account --randomizer segmented:{said} --users {users} --epsilon {epsilon}"


ACCOUNT = account()
KRR = "account --randomizer krr:domain-size=3 --local-epsilon 1 --users 10"


# --- numbers -----------------------------------------------------------------------------------------------------


def test_a_plan_at_a_given_blanket_has_the_librarys_numbers(capsys):
    found = answer(capsys, PLAN)
    plan = Segmented(5.0).plan(PROBLEM)
    rates = plan.scheme.copies
    about_liars = {name: found.pop(name) for name in ("blanket_cap", "influence", "most_item_messages")}
    assert about_liars["blanket_cap"] is None
    assert found == {
        "blanket_per_user": 5.0,
        "dummies": "binomial",
        "copies": list(rates),
        "messages_per_user": plan.messages_per_user,
        "level_messages_per_user": 0.0,
        "mse_bound": plan.mse_bound,
        "mse_sample": Segmented().expected_mse(plan, uniform_item_counts(PROBLEM)),
        "levels": [0.5, 1.0, 2.0],
        "level_counts": [100, 200, 100],
        "delta": 2.5e-5,
        "share_expected": 1.0,
        "kind": "published",
        "domain_size": 8,
        "set_size": 2,
        "level_deltas": [],
        "mean_size": None,
        "by_dummies": [],
        "warnings": [],
        "public": PUBLIC_INPUTS,
    }


def test_item_frequencies_change_the_sample_error_alone(capsys, tmp_path):
    """They are given with commas or in a file."""
    frequencies = [1.0, 0.5, 0.25, 0.25, 0.0, 0.0, 0.0, 0.0]
    (tmp_path / "file").write_text("\n".join(map(str, frequencies)) + "\n")
    uniform = answer(capsys, PLAN)
    found = answer(capsys, f"{PLAN} --guess {','.join(map(str, frequencies))}")
    assert answer(capsys, f"{PLAN} --guess {tmp_path}/file") == found
    plan = plan_at(PROBLEM, 5.0, tuple(found["copies"]))
    assert found["mse_sample"] == Segmented().expected_mse(plan, 400 * np.array(frequencies))
    assert found["mse_sample"] != uniform["mse_sample"]
    assert {**found, "mse_sample": 0} == {**uniform, "mse_sample": 0}
    # longer than any name of a file
    found = answer(capsys, f"{PLAN} --guess " + ",".join(8 * ["0.25" + 100 * "0"]))
    assert found == uniform


def test_an_account_has_the_librarys_numbers(capsys):
    found = answer(capsys, ACCOUNT)
    parameters = {"domain_size": 17, "n_users": 5000, "blanket_per_user": 2.0, "sampling_rate": 0.5, "epsilon": 0.125}
    published, proven = published_item_delta(**parameters), proven_lower_item_delta(**parameters)
    delta = found.pop("item_delta")
    assert (delta["lower"], delta["upper"]) == (published.lower, published.upper)
    assert delta["kind"] == "published"
    assert found.pop("proposition_1") == {"lower": proven.lower, "kind": "lower"}
    assert found == parameters
    assert proven.lower <= delta["upper"]


def test_an_interrupted_command_says_how_to_go_on(capsys, monkeypatch):
    def interrupted(**_):
        raise KeyboardInterrupt

    monkeypatch.setattr("segshuffle.accounting.collections.published.published_item_delta", interrupted)
    status, out, err = run(capsys, ACCOUNT)
    assert (status, out) == (130, "")
    assert err.startswith("segshuffle account: interrupted.")
    assert "start the same command again" in err


# --- help --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["", "plan", "rehearse", "client", "estimate", "account", "fetch-msnbc"])
def test_help_fits_a_terminal_of_80_columns(capsys, monkeypatch, command):
    monkeypatch.setenv("COLUMNS", "80")
    short, whole = (printed(capsys, f"{command} {option}").splitlines() for option in ("-h", "--help"))
    assert whole[0].startswith("usage: segshuffle")
    assert max(map(len, short + whole)) <= 80
    assert len(short) <= 40 or short == whole


def test_the_version_is_that_of_the_package(capsys):
    assert printed(capsys, "--version") == f"segshuffle {metadata.version('segshuffle')}\n"


def test_every_command_and_every_option_is_explained():
    for command in build_parser().commands.values():
        assert len(command.description) > 40
        _, *options = re.split(r"\n  (?=-)", command.format_help())
        assert all(re.search(r" {2,}\S", option) for option in options)


POISSON = "plan --items 17 --set-size 4 --levels 0.5:1250,1.0:3750 --delta 2e-6 --dummies poisson"
SLOW_TO_IMPORT = {"numpy", "scipy.optimize", "scipy.interpolate", "scipy.stats", "pandas", "joblib", "matplotlib"}
SLOW_TO_IMPORT |= {"polars", "numpy.f2py", "numpy.testing", "requests", "jsonschema"}


CLIENT = "client plan.json --account own.json --honest-users 5000 --level 0.5 --delta 2e-6 --items 1,2,3,4"


@pytest.mark.quick("help", "plan", "client")
@pytest.mark.parametrize(
    ("command", "needed"),
    [
        ("--help", set()),
        (ACCOUNT, {"numpy"}),
        (POISSON, {"numpy"}),
        (CLIENT, {"numpy"}),
        ("estimate plan.json messages --anyway", {"numpy"}),
    ],
    ids=["help", "account", "plan", "client", "estimate"],
)
def test_a_command_imports_no_more_than_it_needs(command, needed, tmp_path, monkeypatch):
    """Imports take most of the time of a command."""
    monkeypatch.chdir(tmp_path)
    if "plan.json" in command:
        main(f"{POISSON} --save plan.json".split())
        Path("messages").write_text("3\n4\n" * 8)
    code = "import sys; from segshuffle.cli import main\ntry: main()\nfinally: print(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code, *command.split()], capture_output=True, text=True, check=True)
    imported = set(done.stderr.split())
    assert "segshuffle.cli.account" in imported
    assert imported & SLOW_TO_IMPORT == needed


# --- standard output ---------------------------------------------------------------------------------------------


def program(arguments, stdout, *, closed=False):
    command = [sys.executable, "-m", "segshuffle", *arguments.split()]
    if closed:
        command = ["sh", "-c", 'exec "$@" >&-', "sh", *command]
    done = subprocess.run(command, stdout=stdout, stderr=subprocess.PIPE, text=True, check=False)
    return done.returncode, done.stderr


@pytest.mark.quick("help")
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device")
@pytest.mark.parametrize("arguments", [ACCOUNT, "--help", "account --help"], ids=["account", "help", "-h"])
def test_a_full_disk_is_one_sentence(arguments):
    with Path("/dev/full").open("w") as full:
        status, said = program(arguments, full)
    assert (status, said.count("\n")) == (1, 1)
    assert "standard output cannot be written (No space left on device)" in said


@pytest.mark.quick(0)
def test_a_closed_output_is_one_sentence():
    status, said = program(ACCOUNT, None, closed=True)
    assert (status, said.count("\n")) == (1, 1)
    assert "standard output cannot be written (it is closed)" in said


@pytest.mark.quick(0)
def test_a_reader_that_has_gone_gives_status_1_and_no_message():
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as pipe:
        assert program(ACCOUNT, pipe) == (1, "")


@pytest.mark.parametrize(("encoding", "shown"), [("ascii", r"caf\xe9 \udcff \u202e"), ("utf-8", r"café \udcff \u202e")])
def test_characters_that_the_output_cannot_show_are_escaped(monkeypatch, encoding, shown):
    monkeypatch.setattr("segshuffle.cli.fetch_msnbc.run", lambda options: "café \udcff \u202e")
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(io.BytesIO(), encoding=encoding))
    assert main(["fetch-msnbc", "x"]) == 0
    assert sys.stdout.buffer.getvalue().decode(encoding) == f"{shown}\n"


#: What clears the screen, starts a command of the terminal in one character, writes backwards, and begins a new line.
STEERING = "\x1b[2J\x9b\u202e\n\x7f"


def test_names_do_not_steer_the_terminal(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    save_plan(plan(Problem(3, 1, (1.0,), (300,), 1e-4)), "plan.json", ["tea", f"milk{STEERING}", "salt"])
    sent = f"sent{STEERING}"
    Path(sent).write_text("nonsense\n" + "1\n" * 2000, encoding="utf-8")
    estimate = ["estimate", "plan.json", sent, "--anyway"]
    screen, left_out = run(capsys, [*estimate, "--unknown", "drop"])[1:]
    shown = [screen, left_out, refusal(capsys, estimate), refusal(capsys, ["account", f"--{STEERING}"])]
    for text in shown:
        assert all(each.isprintable() or each == "\n" for each in text), text
    assert r"milk\u001b[2J\u009b\u202e" in screen
    rows = answer(capsys, [*estimate, "--unknown", "drop"])["estimates"]
    assert f"milk{STEERING}" in [row["item"] for row in rows]


# --- fuzz --------------------------------------------------------------------------------------------------------

# ends of the ranges that an earlier search has found troublesome
EDGES = [
    f"{PLAN} --items 1{15 * '0'}",
    f"{PLAN} --items {30 * '10'}",
    f"{PLAN} --delta 1e-300",
    f"{PLAN} --delta 5e-324",
    f"{PLAN} --items 2 --levels 0.558:8 --delta 0.6 --blanket-per-user 1",
    account("4", "0.3", domain_size="2", blanket_per_user="100"),
    account("1000", "17", domain_size="2", blanket_per_user="3"),
    account(sampling_rate="5e-324"),
    account("84738502024331713", sampling_rate="1e-300"),
    account(epsilon="5e-324"),
    f"{KRR} --epsilon 5e-324",
    account(blanket_per_user="5e-324"),
    account(30 * "10", "5e-324"),
    account("1e12", "17", domain_size="3", blanket_per_user="86616", sampling_rate="1e-6"),
]


@pytest.mark.parametrize("command", EDGES)
def test_the_ends_of_the_ranges_give_numbers_or_one_sentence(capsys, command):
    status, out, err = run(capsys, f"{command} --json")
    if status == 0:
        assert err == ""
        assert not re.search("NaN|Infinity", out)
        found = json.loads(out)
        delta = found.get("item_delta")
        assert delta is None or 0 <= delta["lower"] <= delta["upper"] <= 1
        assert all(0 <= row["delta"] <= 1 for row in found.get("accountants", ()))
    else:
        assert (status, out, err.count("\n")) == (2, "", 1)


FEW_NUMBERS = st.sampled_from(["0", "1", "2", "8", "1e-300", "1e300", "nan", "inf", "-1", "0.5", "x", "10"])
OPTIONS = ["--local-epsilon", "--users", "--delta", "--epsilon"]
SIZES = ["domain-size", "set-size", "subset-size", "order"]


@given(
    name=st.sampled_from([*(each for each in MECHANISMS if each != "laplace"), "magic"]),
    values=st.dictionaries(st.sampled_from(OPTIONS), FEW_NUMBERS),
    sizes=st.dictionaries(st.sampled_from(SIZES), FEW_NUMBERS),
)
def test_no_randomizer_gives_a_traceback(name, values, sizes):
    randomizer = f"{name}:{','.join('='.join(pair) for pair in sizes.items())}"
    arguments = ["account", "--randomizer", randomizer, *(word for pair in values.items() for word in pair)]
    assert status_of(arguments) in (0, 2)


def status_of(arguments):
    try:
        return main(arguments)
    except SystemExit as stop:
        return stop.code
