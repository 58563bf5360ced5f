"""A law of dummies is one file in blankets/: every command plans, rehearses, sends and estimates with it."""

import json

import numpy as np
import pytest
from extension_files import LAW, add_law

from segshuffle.blankets.named import laws
from segshuffle.errors import ConfigError

N_USERS, DOMAIN_SIZE, HELD = 200, 40, 4
PROBLEM = f"--items {DOMAIN_SIZE} --set-size 1 --levels 0.4:100,0.8:100 --delta 1e-4 --max-messages 8".split()
SEND = f"""
import contextlib, io, random
from segshuffle.cli import main

sent = io.StringIO()
for user in range({N_USERS}):
    asked = ["client", "plan.json", "--items", str(user % {HELD}), "--level", ("0.4", "0.8")[user // {HELD} % 2]]
    asked += ["--honest-users", "{N_USERS}", "--delta", "1e-4", "--account", f"{{user}}.json"]
    with contextlib.redirect_stdout(sent):
        assert main(asked) == 0
words = sent.getvalue().split()
random.shuffle(words)
open("messages.txt", "w").write("\\n".join([*words, ""]))
"""


def test_a_law_has_the_name_of_its_file(package):
    """So no two laws have the same name."""
    assert list(laws(package(mixed=LAW))) == ["mixed"]
    with pytest.raises(ConfigError, match=r"other\.py: declares the law 'mixed', but its name must be 'other'"):
        laws(package(other=LAW))


@pytest.fixture(scope="module")
def made(new_checkout):
    """Return a copy of the project with the law, and with a saved plan that uses it."""
    made = add_law(new_checkout())
    run(made, "plan", *PROBLEM, "--dummies", "mixed", "--save", "plan.json")
    return made


def run(made, *arguments):
    """Return what a command prints in this copy."""
    return made.python(f"from segshuffle.cli import main; assert main({list(arguments)!r}) == 0")


@pytest.mark.exhaustive
def test_it_is_planned_beside_the_others(made):
    saved = json.loads((made.folder / "plan.json").read_text())
    assert saved["scheme"]["law"] == {"name": "mixed"}
    assert all(each["delta_upper"] <= 1e-4 for each in saved["plan"]["certificate"])
    assert "half of them single" in " ".join(run(made, "plan", *PROBLEM, "--dummies", "mixed").split())
    rows = run(made, "plan", *PROBLEM, "--dummies", "all").splitlines()
    (head,) = (number for number, row in enumerate(rows) if row.startswith("dummies "))
    assert [row.split()[0] for row in rows[head + 1 : head + 5]] == ["poisson", "mixed", "clustered", "signed"]
    code = "from segshuffle.cli import main\ntry: main(['plan', '--help'])\nexcept SystemExit: pass"
    assert "mixed" in made.python(code)


@pytest.mark.exhaustive
def test_its_plan_is_rehearsed_and_its_intervals_hold_what_they_should(made):
    (made.folder / "users.txt").write_text("".join(f"{user % HELD}\n" for user in range(N_USERS)))
    asked = ["users.txt", "--format", "lines", "--plan", "plan.json", "--repetitions", "50", "--json"]
    summary = json.loads(run(made, "rehearse", *asked))["summary"]
    assert summary["items_held"] == HELD
    assert 0.9 < summary["covered"] < 0.99


@pytest.mark.exhaustive
def test_users_send_with_it_and_the_server_estimates(made):
    """A quarter of the users hold each of four items; the sum of the four squared standardised errors is small."""
    made.python(SEND)
    rows = json.loads(run(made, "estimate", "plan.json", "messages.txt", "--json"))["estimates"]
    assert len(rows) == DOMAIN_SIZE
    errors = [(row["estimate"] - 1 / HELD) / row["standard_error"] for row in rows if int(row["item"]) < HELD]
    assert len(errors) == HELD
    assert np.square(errors).sum() < 30, "the chance is 1 in 200,000"
