"""What a command refuses, in one sentence: the name, the value and what is allowed, or what to leave out or add."""

import pytest
from commands import refusal

PLAN = "plan --domain-size 6 --set-size 2 --levels 1:300 --delta 1e-4"
HUGE = "1" + 400 * "0"
PLANS = [
    # one value
    ("--domain-size 1", "domain_size = 1 is not allowed: it must be an integer in [2, 10000000]"),
    ("--domain-size 8.5", "--domain-size: '8.5' is not an integer"),
    ("--domain-size 1e999999999", "--domain-size: '1e999999999' is not an integer"),
    ("--set-size 0", "set_size = 0 is not allowed: it must be an integer between 1 and domain_size = 6"),
    ("--set-size 7", "set_size = 7 is not allowed: it must be an integer between 1 and domain_size = 6"),
    ("--levels 0.5", "--levels = '0.5' is not allowed: it must be epsilon:users for every level"),
    ("--levels 0.5:1.5", "--levels: '0.5:1.5' is not a level: write epsilon:users pairs"),
    ("--levels=", "--levels: '' is not a level: write epsilon:users pairs"),
    ("--levels 1.0:100,0.5:100", "levels = (1.0, 0.5) is not allowed: it must be strictly increasing"),
    ("--levels 0.5:100,0.5:100", "levels = (0.5, 0.5) is not allowed: it must be strictly increasing"),
    ("--levels 0:100", "epsilon = 0.0 is not allowed: it must be in (0, 100]"),
    ("--levels nan:100", "epsilon = nan is not allowed: it must be in (0, 100]"),
    ("--levels 0.5:-1,1.0:10", "level_counts = -1 is not allowed: it must be an integer >= 0"),
    ("--levels 0.5:0", "users = 0 is not allowed: it must be an integer in [1, 4e+15]"),
    ("--users 200", "--levels has 300 users, and --users is 200"),
    ("--delta 0", "delta = 0.0 is not allowed: it must be in (0, 1)"),
    ("--delta nan", "delta = nan is not allowed: it must be in (0, 1)"),
    ("--delta 1e-6x", "--delta: '1e-6x' is not a number"),
    ("--published --blanket-per-user 0", "blanket_per_user = 0.0 is not allowed: it must be in (0, 1e+09]"),
    ("--blanket-cap many", "'many' is neither an integer nor auto"),
    ("--hide-level 0", "--hide-level: '0' is not an epsilon above 0"),
    ("--levels 1:50,2:50 --hide-level 101", "level_epsilon = 101.0 is not allowed: it must be in (0, 100]"),
    ("--target-error nan", "target_error = nan is not allowed: it must be positive and finite"),
    ("--max-messages nan", "max_messages = nan is not allowed: it must be positive and finite"),
    ("--item-frequencies 0.5,0.5", "item-frequencies = '2 numbers' is not allowed: it must be domain-size = 6 numbers"),
    (
        "--item-frequencies 1,1,1,1,0,0",
        "item-frequencies = '1,1,1,1,0,0' is not allowed: it must be in [0, 1] with sum",
    ),
    ("--item-frequencies 1,1,1,1,0,0", "set-size = 2 (the sum is 4)"),
    ("--item-frequencies 2,0,0,0,0,0", "item-frequencies = '2,0,0,0,0,0' is not allowed: it must be in [0, 1]"),
    ("--item-frequencies nan,1,1,0,0,0", "item-frequencies = 'nan,1,1,0,0,0' is not allowed: it must be in [0, 1]"),
    (f"--item-frequencies {300 * 'x'}", f"item-frequencies = '{37 * 'x'}...' is neither a list of numbers nor a file"),
    ("--item-frequencies nowhere.txt", "item-frequencies = 'nowhere.txt' is neither a list of numbers nor a file"),
    ("--item-frequencies bytes", "item-frequencies = 'bytes' is neither a list of numbers nor a file"),
    ("--blankets 3", "segshuffle plan: unrecognized arguments: --blankets 3 (see segshuffle plan --help)"),
    # several together
    ("--target-error 10%", "say what these are, by --zipf or --item-frequencies"),
    ("--target-error 0%", "'0%' is not a percentage above 0"),
    ("--least epsilon", "add --target-error"),
    ("--zipf 1 --item-frequencies 1,1", "not allowed with argument --zipf"),
    ("--zipf 11", "zipf = 11.0 is not allowed"),
    ("--zipf 1 --top 0", "top = 0 is not allowed"),
    ("--top 5", "top = 5 is not allowed: it must be left out, or given with a guess"),
    ("--zipf 1 --top 5 --target-error 0.1", "leave --top out, or give the error as a percentage"),
    ("--zipf 1 --target-error 10% --blanket-per-user 3", "must be left out where the fewest"),
    ("--zipf 1 --top 3 --target-error 12% --max-messages 1.5", "raise one of the two"),
    ("--mean-size 1", "must be left out, because all users hold 2 items"),
    ("--mean-size 1 --sets at-most --item-frequencies 1,0,0,0,0,0", "must be left out with"),
    ("--sets at-most --zipf 1", "mean-size is missing: it must be given with sets of at most set-size items"),
    ("--sets at-most --target-error 0.01", "mean-size is missing"),
    ("--sets at-most --mean-size 6", "mean-size = 6.0 is not allowed: it must be above 0 and at most set-size = 2"),
    ("--blanket signed --blanket-cap 9", "left out with other dummies than poisson ones"),
    ("--blanket signed --blanket-per-user 1", "left out with other dummies than poisson ones"),
    ("--blanket best", "must be given with max-messages or target-error"),
    ("--blanket loud", "blanket = 'loud' is not allowed: it must be one of poisson, clustered, signed, best"),
    ("--hide-level 1", "left out with one level"),
    ("--items names.txt", "--items has no effect without --save"),
    ("--json --details", "not allowed with argument"),
    ("--what-if colour=3", "'colour=3' is not KEY=VALUES"),
    ("--what-if set-size=1 --sets at-most --zipf 1 --mean-size 1.5", "at most set-size = 1"),
    ("--plot a.png", "add --what-if"),
    ("--what-if users=10 --plot a.txt", "must end in .png, .pdf or .svg"),
    ("--item-frequencies 1,1,0,0,0,0 --what-if set-size=3", "with sum set-size = 3"),
    ("--published --what-if users=10", "--published has no --what-if"),
    ("--published --equal-copies", "--published has no --equal-copies"),
    ("--published --blanket-cap 9", "--published has no --blanket-cap"),
    ("--published --honest-fraction 0.8", "only the Poisson blanket is analysed beyond that"),
    ("--published --rounds 2", "only the Poisson blanket is analysed beyond that"),
    ("--published --sets at-most", "only the Poisson blanket is analysed beyond that"),
    ("--max-messages 0.5", "max_messages = 0.5 is used up by round 1"),
    ("--max-messages 3.5 --blanket-per-user 9", "of max-messages = 3.5 round 1, about the levels, takes"),
    (
        "--domain-size 1e7 --levels 0.02:5 --delta 1e-6 --copies-max 64",
        "and at most 1e+09 can be announced: set max_messages",
    ),
    (
        f"--levels {','.join(f'{1 + i / 20000}:1' for i in range(15000))}",
        "more than 10 minutes are refused: fewer levels",
    ),
]
SEGMENTED = "account --domain-size 17 --users 50 --blanket-per-user 2 --sampling-rate 0.5 --epsilon 0.1"
KRR = "account --randomizer krr:domain-size=3 --local-epsilon 1 --users 10"
LISTED = f"subset-exponential:domain-size={10**18},set-size=2,subset-size=2"
DUMP = "account --delta 0.1 --randomizer pure-dump:domain-size=3"
ACCOUNTS = [
    # the segmented protocol
    (f"{SEGMENTED} --users 0", "users = 0 is not allowed: it must be an integer in [1, 4e+15]"),
    (f"{SEGMENTED} --users {HUGE}", "it must be an integer in [1, 4e+15]"),
    (f"{SEGMENTED} --domain-size 0", "domain_size = 0 is not allowed: it must be an integer in [2, 4e+15]"),
    (f"{SEGMENTED} --domain-size {HUGE}", "it must be an integer in [2, 4e+15]"),
    (f"{SEGMENTED} --blanket-per-user nan", "blanket_per_user = nan is not allowed: it must be in (0, 1e+09]"),
    (f"{SEGMENTED} --sampling-rate 0", "sampling_rate = 0.0 is not allowed: it must be in [1e-290, 1]"),
    (f"{SEGMENTED} --epsilon=-0.1", "epsilon = -0.1 is not allowed: it must be in [0, 300]"),
    (f"{SEGMENTED} --users 10,20", "one value for the segmented protocol"),
    (SEGMENTED.partition(" --epsilon")[0], "the following arguments are required: --epsilon"),
    ("account --users 9 --local-epsilon 1", "local-epsilon = 1.0 is not allowed: it must be left out without --rand"),
    # one message per user
    (f"{KRR} --delta 0.1 --users 0", "users = 0 is not allowed: it must be an integer in [1, 1e+15]"),
    (f"{KRR} --delta 0.1 --users {HUGE}", "it must be an integer in [1, 1e+15]"),
    (f"{KRR} --delta 0.1 --users 1.5", "'1.5' is not an integer"),
    (f"{KRR} --delta 0.1 --users 10..5", "FIRST < LAST"),
    (f"{KRR} --delta 0.1 --users 10,20 --local-epsilon 1,2", "one quantity with several"),
    (f"{KRR} --delta 0.1 --local-epsilon 1e-13", "local_epsilon = 1e-13 is not allowed: it must be in [1e-12, 50]"),
    (f"{KRR} --delta 2", "delta = 2.0 is not allowed: it must be in [1e-280, 1)"),
    (f"{KRR} --delta nan", "delta = nan is not allowed"),
    (f"{KRR} --delta 1e-290", "[1e-280, 1)"),
    (f"{KRR} --epsilon=-1", "epsilon = -1.0 is not allowed"),
    (KRR, "delta, epsilon = (None, None) is not allowed: it must be exactly one of the two given"),
    (f"{KRR} --delta 0.1 --epsilon 0.1", "exactly one of the two given with --local-epsilon; both without it ask for"),
    (
        f"{KRR} --delta 0.1 --sampling-rate 0.5",
        "sampling-rate = 0.5 is not allowed: it must be left out with --randomi",
    ),
    (f"{KRR} --delta 0.1 --blanket-messages 9 --users 9", "give --users"),
    (f"{KRR} --delta 0.1 --weights 0.5,0.5", "left out without --compose parallel"),
    (f"{KRR} --delta 0.1 --accountant mine", "'mine'"),
    (f"{KRR} --delta 0.1 --plot x.png", "several values"),
    (f"{KRR} --delta 0.1 --users 10,20 --plot x.doc", ".png, .pdf or .svg"),
    (f"{KRR} --delta 0.1 --matrix x.csv", "one of them"),
    (f"{KRR} --delta 0.1 --randomizer krr:domain-size={HUGE}", "an integer in [2, 1e+15]"),
    (f"{KRR} --delta 0.1 --randomizer krr:domain-size=x", "krr:option=value"),
    (f"{KRR} --delta 0.1 --randomizer krr:domain-size=3,order=4", "order = 4 is not allowed: it must be left out: krr"),
    (f"{KRR} --delta 0.1 --randomizer krr:domain-size=3 blh", "several with --compose"),
    (f"{KRR} --delta 0.1 --randomizer blh general --compose joint", "only these"),
    (f"{KRR} --delta 0.1 --randomizer magic", "randomizer = 'magic' is not allowed: it must be one of general, krr"),
    (f"{KRR} --delta 0.1 --randomizer {LISTED}", "[2, 1e+07] for subset-exponential"),
    ("account --randomizer krr --users 9 --delta 0.1", "the following arguments are required: --local-epsilon"),
    (f"{KRR} --domain-size 4", "write --randomizer krr:domain-size=4."),
    (f"{DUMP} --users 10", "give --blanket-messages"),
    (f"{DUMP} --blanket-messages 1e3,1e17", "blanket-messages = 100000000000000000 is not allowed"),
    (f"{DUMP} --blanket-messages 9 --local-epsilon 1", "left out"),
    ("account --budgets 1:10 --users 10 --delta 0.1", "users = 10 is not allowed: it must be left out with --budgets"),
    ("account --budgets 1:1 --delta 0.1", "between 2 and 200000"),
    ("account --budgets 2 --delta 1e-6", "budgets = '2' is not allowed: it must be epsilon:users for every budget"),
    ("account --budgets 1:10,2:50% --delta 1e-6", "epsilon:users for every budget, e.g. 0.5:1000,2:500"),
]
OTHERS = [
    ("", "the following arguments are required: command"),
    ("plans", "invalid choice: 'plans'"),
    ("plan --domain-size 6 --set-size 2 --levels 1:300", "the following arguments are required: --delta"),
    ("simulate log.csv", "rehearse (--messages draws every message)"),
    ("set-sizes log.csv", "rehearse --set-sizes"),
    *(
        (f"fetch-msnbc x.gz --deadline={wrong}", f"deadline = {float(wrong)} is not allowed: it must be in (0, 3600]")
        for wrong in ("0", "-1", "nan", "3601", "inf")
    ),
    ("fetch-msnbc x.gz --deadline soon", "'soon' is not a number"),
    ("fetch-msnbc .", "is a folder"),
    (f"fetch-msnbc {300 * 'x'}", "cannot be written (File name too long)"),
]


REFUSED = [*((f"{PLAN} {options}", says) for options, says in PLANS), *ACCOUNTS, *OTHERS]


@pytest.mark.parametrize(("command", "says"), REFUSED, ids=range(len(REFUSED)))
def test_a_refusal_is_one_sentence(capsys, tmp_path, monkeypatch, command, says):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("requests.get", lambda *_, **__: pytest.fail("asked a server"))
    (tmp_path / "bytes").write_bytes(b"\xff\xfe\x00")
    assert says in refusal(capsys, command)
    assert [path.name for path in tmp_path.iterdir()] == ["bytes"]
