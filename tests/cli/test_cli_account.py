"""`segshuffle account`: every accountant side by side, matrices, blankets, compositions, curves, inverses."""

import csv
import math
from fractions import Fraction

import numpy as np
import oracles as o
import pytest
from commands import answer, printed, refusal, run

from segshuffle import account
from segshuffle.accounting.single_message import amplification
from segshuffle.accounting.single_message.accountants import ACCOUNTANTS
from segshuffle.accounting.single_message.mechanisms import composed, mechanism, of_matrix, subsampled
from segshuffle.accounting.single_message.randomizers.matrix import matrix_randomizer
from segshuffle.cli.options import integers, numbers
from segshuffle.digits import rounded_down, rounded_up
from segshuffle.errors import ParameterError

KRR = "account --randomizer krr:domain-size=10 --local-epsilon 4 --users 1000 --delta 1e-6"


def values(found, asked="epsilon"):
    return {row["accountant"]: row[asked] for row in found["accountants"]}


def shown(row):
    """Return the text of an epsilon: six digits, on the safe side if it is proven."""
    epsilon, side = row["epsilon"], {"lower": rounded_down, "upper": rounded_up}.get(row["kind"])
    return f"{side(epsilon, 6) if side else epsilon:.6g}"


def test_epsilons_of_every_applicable_accountant(capsys):
    found = answer(capsys, KRR)
    chosen = mechanism("krr", local_epsilon=4.0, domain_size=10)
    entries, left_out = amplification.compare(mechanism=chosen, n_users=1000, delta=1e-6)
    assert [row["epsilon"] for row in found["accountants"]] == [entry.value for entry in entries]
    assert {row["accountant"] for row in found["accountants"]} | set(found["not_applicable"]) == {
        each.name for each in amplification.applicable(chosen)
    }
    assert found["not_applicable"] == left_out
    keys = {"accountant", "epsilon", "kind", "status", "source", "guarantee"}
    assert all(set(row) == keys for row in found["accountants"])
    head = {"randomizer": "krr", "local_epsilon": 4.0, "domain_size": 10, "n_users": 1000, "delta": 1e-6}
    assert {name: found[name] for name in head} == head


LAW = [[0.5, 0.25, 0.25], [0.25, 0.25, 0.5]]


# --- one's own matrix ------------------------------------------------------------------------------------------------

TEXTS = {
    "mine.csv": "# two inputs, three outputs\n0.5,0.25,0.25\n\n1/4, 1/4, 1/2\n",
    "mine.tsv": "0.5\t0.25\t0.25\n0.25\t0.25\t5e-1\n",
    "mine.txt": "\ufeff0.5 0.25 0.25\r\n0.25 0.25 0.5\r\n",
}


@pytest.mark.quick("mine.npy")
@pytest.mark.parametrize("name", [*TEXTS, "mine.npy"])
def test_a_matrix_is_read_from_every_format(capsys, tmp_path, name):
    path = tmp_path / name
    np.save(path, np.array(LAW)) if name.endswith("npy") else path.write_text(TEXTS[name], encoding="utf-8")
    found = answer(capsys, f"account --randomizer matrix:{path} --users 1e3 --delta 1e-6")
    entries, left_out = amplification.compare(mechanism=of_matrix(matrix_randomizer(LAW)), n_users=1000, delta=1e-6)
    assert values(found) == {entry.accountant: entry.value for entry in entries}
    assert found["not_applicable"] == left_out
    assert (found["inputs"], found["outputs"]) == (2, 3)
    assert found["local_epsilon"] == pytest.approx(math.log(2), rel=1e-11)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("0.5,0.5\n1.5,-0.5\n", "{path}, line 2, column 1: 1.5 is no probability"),
        ("# x\n\n0.5,0.5\n1,1\n", "{path}, line 4: its probabilities sum to 2; every row must sum to 1"),
        ("0.5,0.5\n0.5,half\n", "{path}, line 2: '0.5,half' is no list of numbers"),
        ("\n", "{path}: matrix: its shape is (0,)"),
        ("\xff", "{path}, line 1: this is not UTF-8"),
        ("0.5,0.5\n0.2,0.8\n", "the local epsilon is 0.9162907319, more than the 0.5 that is claimed"),
    ],
)
def test_a_wrong_matrix_is_one_sentence_with_file_line_and_value(capsys, tmp_path, text, said):
    path = tmp_path / "mine.csv"
    path.write_text(text, encoding="latin-1")
    told = refusal(capsys, f"account --randomizer matrix:{path} --users 10 --delta 1e-2 --local-epsilon 0.5")
    assert said.format(path=path) in told


def test_a_matrix_is_never_overwritten(capsys, tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text(TEXTS["mine.txt"], encoding="utf-8")
    assert "--save " in refusal(capsys, f"account --randomizer matrix:{path} --users 9 --delta 0.01 --save {path}")
    assert path.read_text(encoding="utf-8") == TEXTS["mine.txt"].replace("\r\n", "\n")


@pytest.mark.parametrize("entries", [np.full((2, 2), 0.5 + 1j), np.full((2, 2), "0.5"), np.full((2, 2), b"0.5")])
def test_an_array_of_complex_numbers_or_texts_is_refused(capsys, tmp_path, entries):
    np.save(tmp_path / "mine.npy", entries)
    said = refusal(capsys, f"account --randomizer matrix:{tmp_path}/mine.npy --users 9 --delta 0.01")
    assert f"mine.npy: is no .npy file of numbers (its entries are {entries.dtype})" in said


def test_a_file_that_is_no_array_is_refused(capsys, tmp_path):
    path = tmp_path / "mine.npy"
    np.save(path, np.full((2, 2), 0.5))
    good = path.read_bytes()
    for content in (b"0.5,0.5", good[:20], good[:-1], good.replace(b"(2, 2), }" + 4 * b" ", b"(2, 2000000), }")):
        path.write_bytes(content.ljust(len(good)) if len(content) > len(good) else content)
        assert f"{path}: is no .npy file of numbers" in refusal(
            capsys, f"account --randomizer matrix:{path} --users 9 --delta 0.01"
        )
    assert "cannot be read" in refusal(
        capsys, f"account --randomizer matrix:{tmp_path}/none.csv --users 9 --delta 0.01"
    )


# --- messages among blanket messages ----------------------------------------------------------------------------------


def test_balls_into_bins_is_the_exact_divergence(capsys):
    """A ball in bin 0 or in bin 1, among 4 uniform balls in 3 bins."""
    views = [o.segmented_view(3, [(own,)], [1], 4, 1) for own in (0, 1)]
    exact = o.hockey_stick(*views, Fraction(3, 2))
    question = f"balls-into-bins:domain-size=3,special-bins=1 --blanket-messages 4 --epsilon {math.log(1.5)!r}"
    found = answer(capsys, f"account --randomizer {question}")
    (row,) = [row for row in found["accountants"] if row["accountant"] == "variation-ratio"]
    assert row["delta"] == pytest.approx(float(exact), rel=1e-3)
    assert row["delta"] >= exact
    assert row["kind"] == "upper"
    assert found["blanket_messages"] == 4
    assert "local_epsilon" not in found


ROUTES = [
    "biased-coin-sum:coin=0.25 --blanket-messages 1e5",
    "uniform-coin-sum --blanket-messages 1e5",
    "flipped-one-hot:flip=0.25 --blanket-messages 1e5",
    "mix-dump:domain-size=10,flip=0.1 --blanket-messages 1e5",
    "pure-dump:domain-size=10 --blanket-messages 1e5",
    "local-hash:hash-size=7 --local-epsilon 2 --users 1e5",
    "privunit:cap-area=0.1 --local-epsilon 2 --users 1e5",
    "sampling-rappor:domain-size=10,set-size=2 --local-epsilon 2 --users 1e5",
    "wheel:set-size=2,arc-length=0.05 --local-epsilon 2 --users 1e5",
    "range-query:levels=4 --local-epsilon 2 --users 1e5",
    "metric:distance=1,largest-distance=2 --users 1e5",
    "metric-laplace:distance=1,largest-distance=2 --users 1e5",
    "planar-laplace:distance=1,largest-distance=2 --users 1e5",
]


@pytest.mark.quick(4)
@pytest.mark.parametrize("question", ROUTES)
def test_all_randomizers_of_the_tables_have_a_route(capsys, question):
    found = answer(capsys, f"account --randomizer {question} --delta 1e-6")
    assert 0 < values(found)["variation-ratio"] < min(1, values(found)["variation-ratio-closed-form"])
    assert ("standard-clone" in values(found)) == ("local_epsilon" in found)


# --- compositions, budgets --------------------------------------------------------------------------------------------


@pytest.mark.exhaustive
def test_compositions_are_the_librarys(capsys):
    small, large = (mechanism("krr", local_epsilon=1.0, domain_size=k) for k in (3, 9))
    specs = "krr:domain-size=3 krr:domain-size=9 --local-epsilon 1 --users 1e4 --delta 1e-6"
    cases = {
        f"{specs} --compose joint": composed([small, large], "joint"),
        f"{specs} --compose parallel": composed([small, large], "parallel"),
        f"{specs} --compose parallel:0.25,0.75": composed([small, large], "parallel", (0.25, 0.75)),
        "krr:domain-size=3 --local-epsilon 1 --subsample 0.1 --users 1e4 --delta 1e-6": subsampled(small, 0.1),
    }
    least = []
    for text, made in cases.items():
        found = values(answer(capsys, f"account --randomizer {text}"))
        entries, _ = amplification.compare(mechanism=made, n_users=10**4, delta=1e-6)
        assert found == {entry.accountant: entry.value for entry in entries}
        least.append(found["blanket"])
    joint, equal, uneven, thinned = least
    assert joint > equal != uneven
    assert thinned < equal


def test_users_with_budgets_of_their_own(capsys):
    found = answer(capsys, "account --randomizer budgets:0.5:1000,2:500 --delta 1e-6")
    assert (found["budgets"], found["counts"]) == ([0.5, 2.0], [1000, 500])
    kinds = {row["accountant"]: row["kind"] for row in found["accountants"]}
    assert kinds.pop("local") == "upper"
    assert kinds == dict.fromkeys(("personalized", "personalized-reduction", "liu-2023"), "published") | {
        "chen-cao-ge": "asymptotic"
    }
    epsilons = values(found)
    assert epsilons.pop("local") == 2.0
    for name, epsilon in epsilons.items():
        deltas = values(answer(capsys, f"account --randomizer budgets:0.5:1000,2:500 --epsilon {epsilon!r}"), "delta")
        assert deltas[name] == pytest.approx(1e-6, rel=2e-3)


@pytest.mark.parametrize(
    ("text", "last"),
    [
        (
            # delta is at most 1.000015e-6 at 1.52744, and 0.99983e-6 here
            "krr:domain-size=10 --local-epsilon 4 --users 1000 --delta 1e-6",
            "guarantee: epsilon 1.52746 (blanket, upper)",
        ),
        # the bound for one pair of Laplace noise's inputs, and refuted ones, are smaller and no guarantees
        (
            "laplace --local-epsilon 1 --users 1e4 --epsilon 0.2 --accountant blanket,personalized,standard-clone",
            "clone",
        ),
        ("laplace --local-epsilon 1 --users 1e4 --epsilon 0.2 --accountant blanket,chen-cao-ge", "none"),
        (
            "krr:domain-size=4 laplace --compose joint --local-epsilon 0.1 --users 99 --delta 1e-6",
            "(standard-clone, upper)",
        ),
        (
            "balls-into-bins:domain-size=9,special-bins=1 --blanket-messages 1e4 --delta 1e-6",
            "(variation-ratio, upper)",
        ),
        ("flipped-one-hot:flip=0.1 --blanket-messages 1e4 --delta 1e-6", "none"),
        ("krr:domain-size=100 --local-epsilon 8 --users 1000 --delta 1e-6 --rounds 365 --accountant blanket", "none"),
        ("budgets:0.5:1000,2:500 --delta 1e-6", "guarantee: epsilon 2 (local, upper)"),
        ("segmented:domain-size=17,blanket-per-user=2,sampling-rate=0.5 --users 5000 --epsilon 0.125", "none"),
    ],
)
def test_the_last_line_is_the_guarantee(capsys, text, last):
    line = printed(capsys, f"account --randomizer {text}").splitlines()[-1]
    assert line.startswith("guarantee: ")
    assert last in line


def test_a_curve_has_a_guarantee_for_every_value_and_a_local_epsilon_is_rounded_down(capsys):
    lines = printed(capsys, f"{KRR.replace('1000', '1e3,1e5')} --accountant blanket,chen-cao-ge").splitlines()
    assert lines[-2:] == [
        "guarantee at n_users = 1000: epsilon 1.52746 (blanket, upper)",
        "guarantee at n_users = 100000: epsilon 0.10991 (blanket, upper)",
    ]
    asked = "account --randomizer krr:domain-size=10 --users 1e6 --epsilon 0.1 --delta 1e-8 --accountant blanket"
    (row,) = answer(capsys, asked)["accountants"]
    told = float(printed(capsys, asked).splitlines()[-1].split()[3])
    assert 0 <= row["local_epsilon"] - told < 1e-5
    assert row["guarantee"]


def test_several_rounds_of_a_sample_are_refused(capsys):
    """Nothing says whether each round draws its own sample; if one serves all, delta is far larger."""
    told = refusal(capsys, f"{KRR} --subsample 0.1 --rounds 10")
    assert "--rounds 10 is not allowed" in told
    assert "only those who take part" in told
    assert answer(capsys, f"{KRR} --subsample 0.1 --rounds 1 --accountant blanket")["accountants"]
    sampled = subsampled(mechanism("krr", local_epsilon=1.0, domain_size=3), 0.1)
    with pytest.raises(ParameterError, match="rounds = 2"):
        account(sampled, n_users=100, delta=1e-6, rounds=2, accountant="blanket")


# --- curves and the inverse question ----------------------------------------------------------------------------------


def test_values_are_read_from_lists_and_ranges():
    assert integers("1e6") == (10**6,)
    assert integers("1,1e3") == (1, 1000)
    assert integers("10..1e4/4") == (10, 100, 1000, 10**4)
    assert numbers("0.1..10/3") == pytest.approx((0.1, 1.0, 10.0), rel=1e-12)
    assert numbers("0.1..0.3/2") == (0.1, 0.3)
    assert len(numbers("1..2")) == 13


@pytest.mark.quick(1)
@pytest.mark.parametrize("along", ["users 10,1e4", "delta 1e-9,1e-3", "local-epsilon 0.5..2/3", "epsilon 0.01,0.1"])
def test_a_curve_is_its_points(capsys, tmp_path, along):
    given = {"users": "1000", "local-epsilon": "1"}
    swept, words = along.split()
    given |= {swept: words} if swept in ("delta", "epsilon") else {"delta": "1e-6", swept: words}
    text = "account --randomizer krr:domain-size=5 --accountant blanket,bennett " + " ".join(
        f"--{name} {value}" for name, value in given.items()
    )
    rows = answer(capsys, f"{text} --save {tmp_path}/curve.csv {tmp_path}/curve.svg")["rows"]
    asked = "delta" if swept == "epsilon" else "epsilon"
    points = (integers if swept == "users" else numbers)(words)
    assert len(rows) == 2 * len(points)
    last = answer(capsys, text.replace(f"--{swept} {words}", f"--{swept} {points[-1]!r}"))
    assert {row["accountant"]: row[asked] for row in rows[-2:]} == values(last, asked)
    with (tmp_path / "curve.csv").open() as file:
        written = list(csv.DictReader(file))
    assert [float(row[asked]) for row in written] == [row[asked] for row in rows]
    assert (tmp_path / "curve.svg").read_text().startswith("<?xml")


@pytest.mark.parametrize(("asked", "drawn"), [("--epsilon 0,0.5,2", True), ("--epsilon 1.5,2", False)])
def test_a_figure_needs_a_number_above_0_and_what_it_cannot_show_is_counted(capsys, tmp_path, asked, drawn):
    """Delta is 0 beyond the local epsilon, and log axes show no 0."""
    figure = tmp_path / "curve.svg"
    krr = "account --randomizer krr:domain-size=5 --accountant blanket --local-epsilon 1 --users 10"
    status, _, told = run(capsys, f"{krr} {asked} --save {figure}")
    assert (status == 0, figure.exists(), "have an answer above 0" in told) == (drawn, drawn, not drawn)
    assert ("2 of 3 points are 0 or infinite" in told) == drawn


def test_the_inverse_question_has_the_librarys_answer(capsys):
    """The local epsilon for a target in epsilon and delta."""
    asked = "account --randomizer krr:domain-size=10 --users 1e5 --delta 1e-8 --epsilon 0.2"
    names = ("blanket", "blanket-lower", "standard-clone-closed-form")
    found = values(answer(capsys, f"{asked} --accountant {','.join(names)}"), "local_epsilon")
    target = {"n_users": 10**5, "epsilon": 0.2, "delta": 1e-8}

    def krr(local_epsilon):
        return mechanism("krr", local_epsilon=local_epsilon, domain_size=10)

    assert found == {name: amplification.local_epsilon_for(ACCOUNTANTS[name], krr, **target) for name in names}
