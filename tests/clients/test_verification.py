"""docs/verification.json: both verifiers decide its plans as the package does, and wrong verifiers fail at one."""

import json
import types

import pytest
from clients.made_vectors import FILE, entries
from clients.test_module import call, demands
from clients.verifier import CLIENTS, verifier

ENTRIES = json.loads(FILE.read_text(encoding="utf-8"))
#: What a wrong verifier does: the plan that it decides wrongly, a text of clients/verify.py, and what it has instead.
FAULTS = {
    "ignores the rounds": ("promised for seven rounds, made for one", "pairs = rounds * (max", "pairs = (max"),
    "takes all users for honest": (
        "promised for 90 % honest users, made for all",
        "honest_of(number(assumed[",
        "n or (number(assumed[",
    ),
    "forgets the mass that is lost": (
        "one copy among few dummies: the empty counter gives it away",
        "left) for found, left in ((held",
        "0) for found, left in ((held",
    ),
    "takes whole copies": ("two and a half copies", "(unit - more) * few + more * many", "unit * few"),
    "looks at the held item alone": (
        "sets of exactly 4 of 5 items",
        "    places, pair = math.ceil",
        "    b = ([1 << bits], [1 << bits], 0)\n    places, pair = math.ceil",
    ),
    "takes the noise's p for the flood": ("signs", 'law["flood_p"], tiny', 'law["p"], tiny'),
    "does not halve the flood": ("signs", 'law["flood"] * mean / 2', 'law["flood"] * mean'),
    "takes clusters for single dummies": ("clusters", 'law.get("p", Fraction(0))', "Fraction(0)"),
    "takes the first level's copies for all": (
        "three levels",
        'deltas, plan["scheme"]["copies"], strict',
        'deltas, [plan["scheme"]["copies"][0]] * len(deltas), strict',
    ),
    "rounds ratios up": ("three levels", "lower = up(", "lower = 0 * up("),
    "ignores the cap": (
        "a cap that is often exceeded",
        "if cap is None:",
        "if True:",
    ),
    "takes at most s items for exactly s": (
        "sets of at most 4 of 5 items, made for exactly 4",
        'if assumed["sets"] == "exactly" else s',
        "if True else s",
    ),
}


def wrong(entry, module):
    """Return whether a verifier decides a plan wrongly, or bounds it outside the interval."""
    for level, (_, promised, bound) in zip(entry["levels"], module.verify(entry["plan"]), strict=True):
        least, most = level["bound"]
        if (bound <= promised) != level["accepted"] or not least <= bound <= most:
            return True
    return False


@pytest.mark.quick("signs", "clusters", "a cap that is often exceeded", "two and a half copies")
@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry["name"])
def test_the_verifier_decides_every_plan(entry):
    assert not wrong(entry, verifier())


def test_the_module_decides_every_plan():
    calls, expected = [], []
    for entry in ENTRIES:
        for level, demand in zip(entry["levels"], demands(entry["plan"]), strict=True):
            calls.append(("check", [entry["plan"], demand]))
            expected.append(level)
    for level, result in zip(expected, call(*calls), strict=True):
        assert result["value"]["accepted"] == level["accepted"]
        if level["accepted"]:
            assert level["bound"][0] <= result["value"]["delta"] <= level["bound"][1]


@pytest.mark.parametrize("fault", FAULTS)
def test_a_wrong_verifier_fails_at_a_plan(fault):
    text, (name, there, instead) = (CLIENTS / "verify.py").read_text(encoding="utf-8"), FAULTS[fault]
    (entry,) = [each for each in ENTRIES if each["name"] == name]
    assert text.count(there) == 1
    module = types.ModuleType("wrong")
    exec(compile(text.replace(there, instead), "wrong.py", "exec"), module.__dict__)
    assert wrong(entry, module)


@pytest.mark.exhaustive
def test_the_file_is_what_the_package_makes():
    assert json.loads(json.dumps(entries())) == ENTRIES
