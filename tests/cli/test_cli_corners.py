"""The command line at its corners: numbers too large for a float, output that cannot be written, options dropped."""

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from commands import refusal

from segshuffle.cli import main

HUGE = "1" + 400 * "0"
LATTICE = ["account", "--domain-size", "17", "--users", "50", "--blanket-per-user", "2", "--sampling-rate", "0.5"]
SEGMENTED = [*LATTICE, "--epsilon", "0.1"]
KRR = ["account", "--randomizer", "krr:domain-size=3", "--local-epsilon", "1", "--users", "10"]


def replaced(arguments, name, value):
    at = arguments.index(name) + 1
    return [*arguments[:at], value, *arguments[at + 1 :]]


# --- numbers ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (replaced([*KRR, "--delta", "1e-6"], "--users", HUGE), ("users = 1000", "an integer in [1, 1e+15]")),
        (
            replaced([*KRR, "--delta", "1e-6"], "--randomizer", f"krr:domain-size={HUGE}"),
            ("domain_size = 1000", "integer in [2, 1e+15]"),
        ),
        (replaced(SEGMENTED, "--domain-size", HUGE), ("domain_size = 1000", "[2, 4e+15]")),
        (replaced(SEGMENTED, "--users", HUGE), ("users = 1000", "[1, 4e+15]")),
        (replaced([*KRR, "--delta", "1e-6"], "--local-epsilon", "1e-13"), ("local_epsilon = 1e-13", "[1e-12, 50]")),
    ],
    ids=["users", "options", "items", "users of the protocol", "local epsilon"],
)
def test_a_number_beyond_all_sizes_is_refused_with_its_range(capsys, arguments, named):
    said = refusal(capsys, arguments)
    assert all(part in said for part in named), said


def test_a_mechanism_that_lists_its_items_refuses_more_than_can_be_listed(capsys):
    randomizer = f"subset-exponential:domain-size={10**18},set-size=2,subset-size=2"
    command = f"account --randomizer {randomizer} --local-epsilon 1 --users 10 --delta 1e-6"
    said = refusal(capsys, command.split())
    assert "domain_size = 1000000000000000000" in said
    assert "[2, 1e+07] for subset-exponential" in said


def test_the_smallest_epsilon_has_deltas(capsys):
    assert main([*KRR, "--epsilon", "5e-324", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    deltas = {row["accountant"]: row["delta"] for row in found["accountants"]}
    assert deltas["bennett"] == 1.0
    assert all(0 <= value <= 1 for value in deltas.values())


# --- standard output -------------------------------------------------------------------------------------------------


def program(arguments, stdout, *, closed=False):
    command = [sys.executable, "-m", "segshuffle", *arguments]
    if closed:
        command = ["sh", "-c", 'exec "$@" >&-', "sh", *command]
    return subprocess.run(command, stdout=stdout, stderr=subprocess.PIPE, text=True, check=False)


@pytest.mark.quick("help")
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device")
@pytest.mark.parametrize("arguments", [SEGMENTED, ["--help"], ["account", "--help"]], ids=["account", "help", "-h"])
def test_a_full_disk_is_one_sentence(arguments):
    with Path("/dev/full").open("w") as full:
        done = program(arguments, full)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "standard output cannot be written (No space left on device)" in done.stderr


@pytest.mark.quick(0)
def test_a_closed_output_is_one_sentence():
    done = program(SEGMENTED, None, closed=True)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "standard output cannot be written (it is closed)" in done.stderr


@pytest.mark.quick(0)
def test_a_reader_that_has_gone_is_no_error_to_speak_of():
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as pipe:
        done = program(SEGMENTED, pipe)
    assert (done.returncode, done.stderr) == (1, "")


def test_a_character_that_the_output_cannot_show_is_one_sentence(monkeypatch, capsys):
    monkeypatch.setattr("segshuffle.cli.fetch_msnbc.run", lambda options: "\udcff: verified")
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(io.BytesIO(), encoding="utf-8"))
    assert main(["fetch-msnbc", "x"]) == 1
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "surrogates not allowed" in said


# --- options ---------------------------------------------------------------------------------------------------------


def test_a_folder_as_destination_is_refused_before_anything_is_fetched(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("requests.get", lambda *_, **__: pytest.fail("asked a server"))
    assert "is a folder" in refusal(capsys, ["fetch-msnbc", "."])


def test_a_name_that_no_disk_can_have_is_one_sentence(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("requests.get", lambda *_, **__: pytest.fail("asked a server"))
    assert "cannot be written (File name too long)" in refusal(capsys, ["fetch-msnbc", 300 * "x"])


@pytest.mark.quick(1)
@pytest.mark.parametrize("analysis", [[], ["--published"]])
def test_a_least_blanket_that_does_not_exist_is_no_number(capsys, analysis):
    """The plan at a given blanket is feasible; what the strict level would need to send everything only informs."""
    levels = ["--domain-size", "17", "--set-size", "4", "--levels", "1e-7:10,1.0:10", "--delta", "1e-6"]
    command = ["plan", *levels, "--blanket-per-user", "1", *analysis]
    assert main([*command, "--json"]) == 0
    strict, liberal = json.loads(capsys.readouterr().out)["m_min"]
    assert strict is None
    assert liberal > 1
    assert main([*command, "--details"]) == 0
    assert f"none, {liberal:.6g}\n" in capsys.readouterr().out
