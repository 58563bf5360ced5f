"""What a command refuses, in one sentence: the name, the value and what is allowed, or what to leave out or add."""

import contextlib
import os
from argparse import ArgumentTypeError

import pytest
from commands import refusal

from segshuffle.cli import build_parser
from segshuffle.errors import DataError

#: File -> a key in it, and its value, which is not of the kind of the option.
QUOTED = {
    "fraction.toml": ("honest_fraction", "'0.9'"),
}
PLAN = "plan --items 6 --set-size 2 --levels 1:300 --delta 1e-4"
PLANS = [
    # one value
    ("--items 8.5", "8.5: cannot be read"),
    ("--set-size 7", "--set-size 7 is not allowed: it must be an integer between 1 and --items 6"),
    ("--levels 0.5", "--levels '0.5' is not allowed: it must be epsilon:users for every level, such as 1:5000"),
    ("--levels 0.5:7.000", "'7.000' is not allowed: it must be an integer without a point"),
    ("--epsilon 1", "--epsilon is unknown (write --levels EPSILON:USERS, such as --levels 1:5000)"),
    ("--sizes 1:50%,2:40%", "shares that add up to 100 % (they add up to 90 %)"),
    ("--levels 0.5:25%,1:75%", "it must be followed by @ and the number of users, e.g. @5000"),
    ("--levels 0.5:25%,1:70%@300", "shares that add up to 100% (they add up to 95%)"),
    ("--delta 1e-6x", "--delta: '1e-6x' is not allowed; expected is: probability, in [1e-110, 1), with"),
    (
        "--blanket-cap many",
        "--blanket-cap: 'many' is not allowed; expected is: most dummy messages of one user, 1 or more, or auto",
    ),
    (
        "--guess 0.5,0.5",
        "--guess '2 numbers up to 0.5 with sum 1' is not allowed: it must be --items 6 numbers",
    ),
    (f"--guess {300 * 'x'}", f"--guess '{40 * 'x'}' is neither zipf:EXPONENT, a list of numbers, a file"),
    ("--items table", "table: every line has ',', as 'user,item', so this is a table, not a list of items"),
    ("--items zero", "zero: larger than 268435456 bytes, the most that is read"),
    (
        "--save nowhere/plan.json",
        "--save: nowhere/plan.json: cannot be written (there is no such folder; make it first)",
    ),
    ("--save .", "cannot be written (it is neither a file nor a stream, but a folder or a device)"),
    ("--save pipe", "cannot be written (it is a pipe, and no program reads from it)"),
    (f"--save {300 * 'x'}", "cannot be written (File name too long)"),
    ("--what-if users 10 --plot nowhere/x.png", "cannot be written (there is no such folder; make it first)"),
    ("--copies-max 4 data.toml", "data.toml: cannot be read (No such file or directory)"),
    ("--copy-max 4", "--copy-max is unknown (did you mean --copies-max?) (see segshuffle plan --help)"),
    ("--limits copies-max=4", "copies-max=4 is written --copies-max 4 now (see"),
    ("--guess zipf:1 mean-size=2", "mean-size=2 is written --mean-size 2 now (see"),
    ("--target-error epsilon:10%", "it must be written as --target-error 10% --least epsilon"),
    ("--what-if users=10 users=20", "--what-if users=10 is unknown (did you mean users?)"),
    ("wrong.toml", "wrong.toml, line 3: max_mesages is unknown (did you mean max_messages?)"),
    ("ranges.toml", "ranges.toml, line 2: --copies-max 100.0 is not allowed: it must be in [1e-120, 64]"),
    ("cut.toml", "For data of users there are segshuffle rehearse FILE, and segshuffle client PLAN.json --users FILE."),
    ("typed.toml", "typed.toml, line 2: equal_copies: 'yes' is not allowed; expected is true or false"),
    *(
        (name, f"{name}, line 1: {key}: {value} is not allowed; expected is a number, without quotes")
        for name, (key, value) in QUOTED.items()
    ),
    ("nan.toml", "nan.toml, line 1: argument --honest-fraction: 'nan' is not allowed"),
    ("chosen.toml", "chosen.toml, line 1: argument --sets: invalid choice: 'some' (choose from"),
    # several together
    (
        "--target-error 10%",
        "it must be given with a guess of frequencies, such as zipf:1; an error in per cent needs one, too.",
    ),
    ("--top 5", "--top 5 is not allowed: it must be given with a guess of frequencies"),
    ("--guess zipf:1 --top 5 --target-error 0.1", "leave top out, or give the error as a percentage"),
    ("--guess zipf:1 --target-error 10% --blanket-per-user 3", "and where the fewest messages are searched for"),
    ("--guess zipf:1 --top 3 --target-error 12% --max-messages 0.9", "raise one of the two"),
    ("--mean-size 1 --sets exactly", "left out with --sets exactly: all users hold 2 items"),
    ("--sizes 1:100% --mean-size 1", "--mean-size 1.0 is not allowed: it must be left out with sizes"),
    ("--sizes 1:50%,9:50%", "sizes up to --items 6"),
    ("--sizes 1:100% --sets exactly", "left out with --sets exactly: no set is cut"),
    (
        "--guess zipf:1 --sizes 1:20%,5:80% --target-error 10%",
        "cutting sets to 2 items alone exceeds it: raise --set-size",
    ),
    ("--guess zipf:1 --target-error 1e8%", "below 1, as a share of an item's users (100 %)"),
    ("--target-error 1e8 --least epsilon", "below 2, because an answer that uses no data has at most this error"),
    ("--levels 0.5:200,1:100 --delta 1e-4,1e-111", "--delta 1e-111 is not allowed: it must be in [1e-110, 1)"),
    ("--dummies signed --blanket-cap 9", "left out with other dummies than poisson ones"),
    ("--levels 1:150,2:150 --hide-level 1 --save p.json", "cannot be carried out. Leave --save out to see the plan"),
    ("--levels 1:150,2:150 --hide-level 1 --record r.yaml", "Leave --record out to see the plan"),
    ("--dummies published --record r.yaml", "--dummies published does not go with record"),
    ("--dummies best", "must be given with --max-messages or --target-error"),
    ("--dummies loud", "--dummies 'loud' is not allowed: it must be one of "),
    ("--hide-level 1", "left out with one level"),
    (
        "--what-if colour 3",
        "--what-if colour is unknown. Known are users, set-size, items, rounds, epsilon, delta, honest-fraction",
    ),
    ("--what-if users 10,20 --what-if delta 1e-4 --what-if epsilon 1", "--what-if varies one or two numbers, in 200"),
    (
        "--what-if users 10 --plot a.txt",
        "'a.txt' is not allowed; expected is: file for a figure of --what-if (.png, .pdf or .svg)",
    ),
    ("--dummies published --what-if users 10", "--dummies published does not go with --what-if"),
    ("--dummies published --equal-copies", "--dummies published does not go with --equal-copies"),
    ("--dummies published --honest-fraction 0.8", "the proven segmented protocol allows other values"),
    ("--levels 0.5:150,1:150 --hide-level 1 --max-messages 0.5", "--max-messages 0.5 is used up by round 1"),
    (
        "--levels 0.5:150,1:150 --hide-level 1 --max-messages 4.5 --blanket-per-user 9",
        "(Round 1, about the levels, takes",
    ),
    (
        "--items 1e7 --levels 0.01:5 --delta 1e-9 --copies-max 64",
        "and at most 1e+09 can be announced: set --max-messages",
    ),
    (
        f"--items 1e7 --set-size 5e6 --levels {','.join(f'{1 + i / 100}:1e5' for i in range(100))}",
        "more than 600 are refused: fewer levels",
    ),
    (f"--levels {','.join(f'{1 + i / 100}:1' for i in range(101))}", "at least 1 and at most 100"),
]
SEGMENTED = (
    "account --users 50 --epsilon 0.1 --randomizer segmented:blanket-per-user=2,domain-size=17,sampling-rate=0.5"
)
KRR = "account --randomizer krr:domain-size=3 --local-epsilon 1 --users 10"
LISTED = f"subset-exponential:domain-size={10**18},set-size=2,subset-size=2"
DUMP = "account --delta 0.1 --randomizer pure-dump:domain-size=3"
ACCOUNTS = [
    # the segmented protocol
    (f"{SEGMENTED},sampling-rate=0", "sampling_rate = 0 is not allowed: it must be in [1e-290, 1]"),
    (f"{SEGMENTED} --users 10,20", "one value for the segmented protocol"),
    (SEGMENTED.replace(" --epsilon 0.1", ""), "the following arguments are required: --epsilon"),
    (f"{SEGMENTED} --local-epsilon 1", "local-epsilon must be left out with segmented"),
    (f"{SEGMENTED},order=3", "alone, with domain-size, blanket-per-user and sampling-rate"),
    ("account --users 9 --local-epsilon 1", "the following arguments are required: --randomizer"),
    # one message per user
    (f"{KRR} --delta 0.1 --users 1.5", "--users: '1.5' is not allowed; expected is: number of users n, in [1, 1e15]"),
    (f"{KRR} --delta 0.1 --users 10..5", "FIRST < LAST"),
    (f"{KRR} --delta 0.1 --users 10,20 --local-epsilon 1,2", "only one quantity may have several"),
    (KRR, "Give --delta or --epsilon. Give both only to ask for the local epsilon"),
    (f"{KRR} --delta 0.1 --blanket-messages 9 --users 9", "give --users"),
    (f"{KRR} --delta 0.1 --compose joint:0.5,0.5", "left out with joint: every part is sent"),
    (f"{KRR} --delta 0.1 --save x.png", "several values"),
    (f"{KRR} --delta 0.1 --users 10,20 --save x.doc", ".png, .pdf or .svg"),
    (f"{KRR} --delta 0.1 --randomizer krr:domain-size=x", "krr:option=value"),
    (f"{KRR} --delta 0.1 --randomizer krr:domain-size=3,order=4", "order = 4 is not allowed: it must be left out: krr"),
    (f"{KRR} --delta 0.1 --randomizer krr:domain-size=3 blh", "several with --compose"),
    (f"{KRR} --delta 0.1 --randomizer blh general --compose joint", "only these"),
    (f"{KRR} --delta 0.1 --randomizer segmentedx", "--randomizer 'segmentedx' is not allowed: it must be one of gen"),
    (f"{KRR} --delta 0.1 --randomizer {LISTED}", "[2, 1e+07] for subset-exponential"),
    (
        "account --randomizer krr:domain-size=3 --users 9 --delta 0.1",
        "--local-epsilon is missing: it must be given: krr",
    ),
    (f"{DUMP} --users 10", "give --blanket-messages"),
    (f"{DUMP} --blanket-messages 9 --local-epsilon 1", "left out"),
    ("account --randomizer budgets:1:10 --users 10 --delta 0.1", "users must be left out with budgets"),
    ("account --randomizer budgets:2 --delta 1e-6", "a list of pairs (local epsilon, number of users): integers >= 0"),
]
OTHERS = [
    ("", "a command is missing"),
    ("rehearse zero", "zero: cannot be read (it is a device, not a file)"),
    ("rehearse 0:100% --items 50 --levels 1:1000 --delta 1e-5", "This guess has no set with an item"),
    ("plans", "invalid choice: 'plans'"),
    ("plan --items 6 --set-size 2 --levels 1:300", "the following arguments are required: --delta"),
    ("fetch-msnbc .", "is a folder"),
    (f"fetch-msnbc {300 * 'x'}", "cannot be written (File name too long)"),
]


REFUSED = [*((f"{PLAN} {options}", says) for options, says in PLANS), *ACCOUNTS, *OTHERS]


@pytest.mark.parametrize(("command", "says"), REFUSED, ids=range(len(REFUSED)))
def test_a_refusal_is_one_sentence(capsys, tmp_path, monkeypatch, command, says):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("segshuffle.files.PATIENCE", 0.05)
    monkeypatch.setattr("requests.get", lambda *_, **__: pytest.fail("asked a server"))
    (tmp_path / "table").write_text("user,item\n1,tea\n1,milk\n", encoding="utf-8")
    (tmp_path / "wrong.toml").write_text("# mine\nset_size = 2\nmax_mesages = 4\n", encoding="utf-8")
    (tmp_path / "ranges.toml").write_text("rounds = 2\ncopies_max = 100\n", encoding="utf-8")
    (tmp_path / "cut.toml").write_text("delta = [1e-4", encoding="utf-8")
    (tmp_path / "typed.toml").write_text("rounds = 2\nequal_copies = 'yes'\n", encoding="utf-8")
    for name, (key, value) in QUOTED.items():
        (tmp_path / name).write_text(f"{key} = {value.lower()}\n", encoding="utf-8")
    (tmp_path / "nan.toml").write_text("honest_fraction = nan\n", encoding="utf-8")
    (tmp_path / "chosen.toml").write_text("sets = 'some'\n", encoding="utf-8")
    (tmp_path / "zero").symlink_to("/dev/zero")
    os.mkfifo(tmp_path / "pipe")
    before = sorted(tmp_path.iterdir())
    assert says in refusal(capsys, command)
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("form", ["{}", "{},1", "{}:5", "1:{}", "1:{}%", "{}%", "zipf:{}", "1,{}", "parallel:1,{}"])
def test_no_option_takes_nan_for_a_number(form):
    for parser in build_parser().commands.values():
        for action in filter(lambda action: action.type, parser._actions):
            with contextlib.suppress(ValueError, ArgumentTypeError, DataError):
                assert "nan" not in repr(action.type(form.format("NaN"))), action.dest
