"""One declaration of every option: the flag, the keyword of the library and the key of a file ask the same question."""

import math
import subprocess

import numpy as np
import pytest
from commands import answer, printed

from segshuffle import Assumptions, Goal, Guess, Limits, Problem, Question, plan
from segshuffle.collection.planning.answer import answer as ask
from segshuffle.errors import OptionsError, ParameterError
from segshuffle.option_fields import options_of

PUBLIC = "--items 6 --set-size 3 --levels 0.5:200,1:300 --delta 1e-4"
SHARES = [0.9, 0.5, 0.25, 0.25, 0.125, 0.0]
#: Option -> how it is typed, the value in Python, and what it needs beside it.
EXAMPLES = {
    "sets": ("exactly", "exactly", {}),
    "honest_fraction": ("0.5", 0.5, {}),
    "rounds": ("3", 3, {}),
    "target_error": ("0.5", 0.5, {}),
    "least": ("epsilon", "epsilon", {"target_error": ("0.5", 0.5)}),
    "top": ("2", 2, {"guess": (",".join(map(str, SHARES)), SHARES)}),
    "copies_max": ("4", 4.0, {}),
    "max_messages": ("2.5", 2.5, {}),
    "equal_copies": (None, True, {}),
    "blanket_per_user": ("20", 20.0, {}),
    "blanket_cap": ("auto", "auto", {}),
    "guess": (",".join(map(str, SHARES)), SHARES, {}),
    "mean_size": ("1.5", 1.5, {}),
    "sizes": ("1:60%,5:40%", {1: 0.6, 5: 0.4}, {}),
    "dummies": ("signed", "signed", {}),
    "hide_level": ("1,1e-5", (1.0, 1e-5), {}),
}
ASSUMED = options_of(Assumptions)


def test_every_option_has_an_example():
    assert set(EXAMPLES) == set(options_of(Assumptions, Goal, Limits, Guess, Question))


def in_toml(typed):
    """Write what is typed as a value of TOML: a number has no quotes."""
    if typed is None:
        return "true"
    return typed if typed.replace(".", "", 1).isdigit() else repr(typed)


@pytest.mark.parametrize("name", [name for name in EXAMPLES if name != "target_error"])  # it stands beside `least`
def test_a_flag_a_key_and_a_keyword_mean_the_same(capsys, tmp_path, name):
    typed, value, more = EXAMPLES[name]
    words = {name: typed} | {key: each for key, (each, _) in more.items()}
    flags = " ".join(f"--{key.replace('_', '-')}{'' if each is None else f' {each}'}" for key, each in words.items())
    found = answer(capsys, f"plan {PUBLIC} {flags}")
    keys = [f"{key} = {in_toml(each)}" for key, each in words.items()]
    public = ["items = 6", "set_size = 3", "levels = ['0.5:200', '1:300']", "delta = 1e-4"]
    (tmp_path / "asked.toml").write_text("\n".join([*public, *keys]) + "\n")
    assert answer(capsys, f"plan {tmp_path}/asked.toml") == found
    values = {name: value} | {key: each for key, (_, each) in more.items()}
    assumed = Assumptions(**{key: each for key, each in values.items() if key in ASSUMED})
    problem = Problem(6, 3, (0.5, 1.0), (200, 300), 1e-4, assumed)
    asked = {key: each for key, each in values.items() if key not in ASSUMED}
    replied = ask(Question.of(problem, **asked))
    made = replied.plan
    assert list(made.scheme.copies) == found["copies"]
    assert (made.blanket_per_user, made.messages_per_user) == (found["blanket_per_user"], found["messages_per_user"])
    assert list(made.problem.levels) == found["levels"]
    assert np.isclose(replied.squared_error, found["mse_sample"], rtol=1e-12, atol=0)


def test_sizes_may_be_numbers_of_users_or_rounded_shares(capsys):
    def kept(sizes):
        return answer(capsys, f"plan --items 6 --set-size 3 --levels 1:300 --delta 1e-4 --sizes {sizes}")["asked"][
            "sizes"
        ]

    assert kept("1:30,5:20") == kept("1:60%,5:40%") == {"1": 0.6, "5": 0.4}
    assert sum(kept("1:33.33%,2:33.33%,5:33.33%").values()) == pytest.approx(1, rel=1e-12)


def test_an_option_overrides_the_file_wherever_it_stands(capsys, tmp_path):
    (tmp_path / "asked.toml").write_text('items = 6\nset_size = 3\nlevels = "1:300"\ndelta = 1e-4\nmax_messages = 2\n')
    wanted = answer(capsys, "plan --items 6 --set-size 3 --levels 1:300 --delta 1e-4 --max-messages 3")
    for order in (f"{tmp_path}/asked.toml --max-messages 3", f"--max-messages 3 {tmp_path}/asked.toml"):
        assert answer(capsys, f"plan {order}") == wanted


def test_files_that_a_file_names_are_beside_it(capsys, tmp_path):
    (tmp_path / "items.txt").write_text("tea\nmilk\nsalt\n")
    (tmp_path / "earlier.csv").write_text("# how it was made\nrank,item,estimate\n1,milk,0.5\n2,tea,-0.01\n")
    text = 'items = "items.txt"\nguess = "earlier.csv"\nset_size = 1\nlevels = "1:300"\ndelta = 1e-4\n'
    (tmp_path / "asked.toml").write_text(text)
    found = answer(capsys, f"plan {tmp_path}/asked.toml")
    # an estimate below 0 is a share of 0, and an item without a row has none
    assert (found["domain_size"], found["asked"]["guess"]) == (3, [0.0, 0.5, 0.0])


def test_a_plan_does_not_depend_on_the_plans_before_it():
    problem = Problem(6, 3, (0.0241, 0.0481), (200, 300), 1e-4)
    first = plan(problem, target_error=0.5)
    plan(problem, max_messages=9.0)
    assert plan(problem, target_error=0.5) == first == ask(Question.of(problem, target_error=0.5)).plan


def test_a_wrong_keyword_or_value_is_refused_in_the_library():
    problem = Problem(6, 3, (1.0,), (300,), 1e-4)
    with pytest.raises(OptionsError, match=r"max_mesages is unknown \(did you mean max_messages\?\)"):
        plan(problem, max_mesages=4)
    for name, each in options_of(Goal, Limits, Assumptions).items():
        wrong = {"boolean": ("yes",), "number": (-1.0, "1"), "integer": (0, "1", math.nan)}
        owner = next(kind for kind in (Goal, Limits, Assumptions) if name in options_of(kind))
        for value in wrong.get(each.metadata.get("type"), ("no word",)):
            with pytest.raises(ParameterError, match=f"{name} = {value!r} is not allowed"):
                owner(**{each.name: value})


def test_classes_are_documented_by_their_declarations():
    for kind in (Problem, Assumptions, Goal, Limits, Guess):
        for each in options_of(kind).values():
            assert f"    {each.name} : " in kind.__doc__
            assert each.metadata["description"] in kind.__doc__


def test_a_shell_completes_options(capsys):
    script = printed(capsys, "--completion bash")
    for typed, offered in (("--copies", "--copies-max"), ("--honest", "--honest-fraction")):
        asked = f"COMP_WORDS=(segshuffle plan {typed}); COMP_CWORD=2; _shtab_segshuffle; echo ${{COMPREPLY[@]}}"
        done = subprocess.run(["bash", "-c", f"{script}\n{asked}"], capture_output=True, text=True, check=True)
        assert done.stdout.split() == [offered]
