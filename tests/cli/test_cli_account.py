"""The command line for one message per user: every accountant side by side, and errors of one sentence."""

import math

import pytest
from commands import answer, refusal
from hypothesis import given
from hypothesis import strategies as st

from segshuffle.accounting.single_message import amplification
from segshuffle.accounting.single_message.mechanisms import MECHANISMS, mechanism
from segshuffle.cli import main

KRR = ["account", "--randomizer", "krr:domain-size=10", "--local-epsilon", "4", "--users", "1000"]


def test_epsilons_of_every_applicable_accountant(capsys):
    found = answer(capsys, [*KRR, "--delta", "1e-6"])
    chosen = mechanism("krr", local_epsilon=4.0, domain_size=10)
    entries, left_out = amplification.compare(mechanism=chosen, n_users=1000, delta=1e-6)
    assert [row["epsilon"] for row in found["accountants"]] == [entry.value for entry in entries]
    assert {row["accountant"] for row in found["accountants"]} | set(found["not_applicable"]) == {
        each.name for each in amplification.applicable(chosen)
    }
    assert found["not_applicable"] == left_out
    assert all(set(row) == {"accountant", "epsilon", "kind", "status", "source"} for row in found["accountants"])
    head = {"randomizer": "krr", "local_epsilon": 4.0, "domain_size": 10, "n_users": 1000, "delta": 1e-6}
    assert {name: found[name] for name in head} == head


@pytest.mark.parametrize(
    ("k", "n", "exp_epsilon", "true", "claimed"),
    [
        (4, 5, 8 / 5, 0.0585648, 0.0560185),
        (10, 10, 3 / 2, 0.0055649, 0.0049236),
        (10, 30, 13 / 10, 0.0023488, 0.0022839),
    ],
)
def test_a_counterexample_is_one_line(capsys, k, n, exp_epsilon, true, claimed):
    """k-ary randomized response at e^epsilon_0 = 3: exact rational enumeration, all others at a third value."""
    line = ["account", "--randomizer", f"krr:domain-size={k}", "--local-epsilon", repr(math.log(3))]
    found = answer(capsys, [*line, "--users", str(n), "--epsilon", repr(math.log(exp_epsilon))])
    deltas = {row["accountant"]: row["delta"] for row in found["accountants"]}
    assert deltas["blanket-lower"] == pytest.approx(true, rel=1e-4)
    assert deltas["variation-ratio"] == pytest.approx(claimed, rel=1e-4)
    assert deltas["variation-ratio"] < deltas["blanket-lower"] <= deltas["blanket"]


def test_the_readable_form_has_a_line_per_accountant(capsys):
    assert main([*KRR, "--delta", "1e-6"]) == 0
    lines = capsys.readouterr().out.splitlines()
    found = answer(capsys, [*KRR, "--delta", "1e-6"])
    for row in found["accountants"]:
        (line,) = [line for line in lines if line.split()[:1] == [row["accountant"]]]
        assert f"{row['epsilon']:.6g}" in line.split()
        assert row["kind"] in line.split()
    assert sum("not applicable" in line for line in lines) == len(found["not_applicable"])


ERRORS = [
    ([*KRR, "--delta", "2"], ["delta = 2.0", "[1e-280, 1)"]),
    ([*KRR, "--delta", "nan"], ["delta = nan"]),
    ([*KRR, "--epsilon", "-1"], ["epsilon = -1.0"]),
    (KRR, ["delta, epsilon", "exactly one"]),
    ([*KRR, "--delta", "0.1", "--epsilon", "0.1"], ["exactly one"]),
    ([*KRR[:-1], "0", "--delta", "0.1"], ["users = 0"]),
    (
        ["account", "--randomizer", "krr:domain-size=10,order=4", *KRR[3:], "--delta", "0.1"],
        ["order = 4", "krr needs domain_size"],
    ),
    ([*KRR, "--delta", "0.1", "--sampling-rate", "0.5"], ["sampling-rate = 0.5", "left out with --randomizer"]),
    (["account", "--randomizer", "magic", *KRR[3:], "--delta", "0.1"], ["'magic'", "krr"]),
    (["account", "--randomizer", "krr", "--users", "9", "--delta", "0.1"], ["--local-epsilon", "required"]),
    (["account", "--users", "9", "--local-epsilon", "1"], ["local-epsilon = 1.0", "left out without --randomizer"]),
]


@pytest.mark.parametrize(("arguments", "named"), ERRORS, ids=[" ".join(named) for _, named in ERRORS])
def test_an_error_is_one_sentence(capsys, arguments, named):
    said = refusal(capsys, arguments)
    assert all(part in said for part in named), said


NUMBERS = st.sampled_from(["0", "1", "2", "8", "1e-300", "1e300", "nan", "inf", "-1", "0.5", "x", "10"])
OPTIONS = ["--domain-size", "--local-epsilon", "--users", "--delta", "--epsilon"]
SIZES = ["domain-size", "set-size", "subset-size", "order"]


@given(
    name=st.sampled_from([*(each for each in MECHANISMS if each != "laplace"), "magic"]),
    values=st.dictionaries(st.sampled_from(OPTIONS), NUMBERS),
    sizes=st.dictionaries(st.sampled_from(SIZES), NUMBERS),
)
def test_no_arguments_give_a_traceback(name, values, sizes):
    randomizer = f"{name}:{','.join('='.join(pair) for pair in sizes.items())}"
    arguments = ["account", "--randomizer", randomizer, *(word for pair in values.items() for word in pair)]
    try:
        status = main(arguments)
    except SystemExit as stopped:
        status = stopped.code
    assert status in (0, 2)
