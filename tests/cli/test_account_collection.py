"""`segshuffle account` for collections: laws of dummies, saved plans, sums of bits, samples with a threshold."""

import json

import pytest
from commands import answer, printed, refusal

from segshuffle.accounting.collections.product import delta_interval
from segshuffle.blankets.named import laws
from segshuffle.blankets.poisson import POISSON

POISSON_LINE = "poisson:mean=100,copies=1,pairs=4"
SAMPLE = "sample-threshold:rate=0.105,threshold=20"
#: Parameters of every law, and a mean at which all have tables.
LAWS = {"poisson": "", "clustered": "p=0.5,", "signed": "p=0.5,flood-p=0.5,flood=0.5,"}


def account(capsys, text):
    return answer(capsys, f"account --randomizer {text}")


def test_the_dummies_of_anybody_are_one_line(capsys):
    found = account(capsys, f"{POISSON_LINE} --epsilon 1 --delta 1e-6")
    delta, epsilon = found["delta at epsilon 1"], found["epsilon at delta 1e-06"]
    exact = delta_interval(POISSON.pair(100.0, 1.0), pairs=4, epsilon=1.0)
    assert exact.lower <= delta["upper"]
    assert delta["lower"] <= exact.upper
    assert delta["lower"] == pytest.approx(2.646e-5, rel=1e-3)
    assert epsilon["lower"] < epsilon["upper"] == pytest.approx(1.2265, rel=1e-4)
    assert delta["kind"] == epsilon["kind"] == "exact"


def test_rounds_count_as_pairs_and_means_may_be_of_one_user(capsys):
    more = account(capsys, "poisson:mean=100,copies=1,pairs=8 --epsilon 1")["delta at epsilon 1"]
    two = account(capsys, f"{POISSON_LINE} --epsilon 1 --rounds 2")["delta at epsilon 1"]
    each = account(capsys, "poisson:mean=0.01,copies=1,pairs=8 --users 1e4 --epsilon 1")["delta at epsilon 1"]
    assert more == two == each


@pytest.mark.parametrize("name", laws())
def test_every_law_has_its_line(capsys, name):
    found = account(capsys, f"{name}:{LAWS[name]}mean=200,copies=1,pairs=2 --epsilon 1")["delta at epsilon 1"]
    assert 0 < found["lower"] <= found["upper"] < 0.01


@pytest.mark.parametrize(
    ("sent", "kind"),
    [
        ("copies=2", "exact"),
        ("copies=0.5", "enclosed"),
        ("copies=0.5,domain-size=12", "exact"),
        ("copies=0.5,domain-size=8", "enclosed"),
    ],
)
def test_only_what_is_attained_is_called_exact(capsys, sent, kind):
    found = account(capsys, f"poisson:mean=100,{sent},pairs=4 --epsilon 1")
    assert found["delta at epsilon 1"]["kind"] == kind


def test_neighbours_are_those_of_dp_accounting(capsys):
    line = "poisson:mean=0.000644,copies=1,pairs=18,domain-size=24549 --users 1e6 --epsilon 1 --neighbours"
    found = {
        name: account(capsys, f"{line} {name}")["delta at epsilon 1"]["upper"]
        for name in ("replace-one", "replace-special", "add-or-remove-one")
    }
    assert found["replace-special"] < 1e-10 < found["add-or-remove-one"] < 1.1e-10 < found["replace-one"]
    assert "add-or-remove-one (the user takes part or not" in printed(
        capsys, f"account --randomizer {line} add-or-remove-one"
    )


@pytest.mark.parametrize("cap", ["--blanket-cap auto", ""])
def test_a_saved_plan_is_asked_again_with_its_own_honest_users(capsys, tmp_path, cap):
    path = tmp_path / "plan.json"
    asked = f"plan --items 17 --set-size 4 --levels 0.5:2000,1:3000 --delta 2e-6 --honest-fraction 0.9 {cap}"
    printed(capsys, f"{asked} --save {path}")
    certificate = json.loads(path.read_text())["plan"]["certificate"]
    for row in certificate:
        line = f"plan:{path},level={row['epsilon']} --epsilon {row['epsilon']}"
        key = f"delta at epsilon {row['epsilon']:g}"
        found = account(capsys, line)
        assert found["honest users"] == 4500
        # the certificate in the plan is computed on a coarser lattice
        assert 0.99 * row["delta_upper"] <= found[key]["upper"] <= row["delta_upper"]
        assert account(capsys, f"{line} --users 4000")[key]["upper"] > 2e-6
        assert account(capsys, f"{line} --rounds 2")[key]["upper"] > 2e-6
    assert "level=LEVEL" in refusal(capsys, f"account --randomizer plan:{path} --epsilon 1")


def test_sums_of_bits_are_enclosed_and_rejections_counted(capsys):
    line = "bit-sums:flip=0.0066928509 --users 1e5 --delta 1e-9"
    found = account(capsys, line)["epsilon at delta 1e-09"]
    assert 0.2974 <= found["lower"] < found["upper"] <= 0.2975
    assert found["kind"] == "enclosed"
    assert account(capsys, f"{line} --neighbours replace-special")["epsilon at delta 1e-09"]["upper"] < found["lower"]
    told = account(capsys, line.replace(" ", ",domain-size=1000,most-ones=25 ", 1))
    assert told["rejected"] > 0
    assert told["epsilon at delta 1e-09"]["upper"] is None


def test_a_sample_with_a_threshold_names_its_view_and_its_worst_group(capsys):
    found = account(capsys, f"{SAMPLE} --epsilon 1 --delta 1e-8 --neighbours add-or-remove-one")
    assert found["delta at epsilon 1"]["kind"] == "exact"
    assert found["delta at epsilon 1"]["upper"] == pytest.approx(6.48e-15, rel=1e-3)
    assert found["worst group at epsilon 1"].startswith("28 others")
    assert found["epsilon at delta 1e-08"]["upper"] == pytest.approx(0.3180, rel=3e-4)
    assert "not visible" in found["view"]
    seen = account(capsys, f"{SAMPLE},tags=visible --epsilon 1 --delta 1e-8")
    assert seen["delta at epsilon 1"]["lower"] == pytest.approx(0.105**2, rel=1e-5)
    assert seen["epsilon at delta 1e-08"]["upper"] is None


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (f"{POISSON_LINE}", "--epsilon"),
        ("poisson:mean=100,copies=1 --epsilon 1", "pairs"),
        (f"{POISSON_LINE},wrong=1 --epsilon 1", "domain-size"),
        (f"{POISSON_LINE} {POISSON_LINE} --epsilon 1", "alone"),
        (f"{POISSON_LINE} --epsilon 1 --neighbours add-or-remove-one", "--users"),
        (f"{POISSON_LINE} --epsilon 1 --rounds 0", "rounds"),
        (
            "clustered:p=.5,mean=9,copies=1,pairs=1,domain-size=9 --users 9 --epsilon 1 --neighbours add-or-remove-one",
            "poisson",
        ),
        ("bit-sums:flip=0.1 --epsilon 1", "users"),
        ("bit-sums:flip=0.1 --users 100 --epsilon 1 --neighbours add-or-remove-one", "replace-special"),
        ("bit-sums:flip=0.1,most-ones=3 --users 100 --epsilon 1", "domain-size"),
        (f"{SAMPLE} --epsilon 1 --neighbours replace-special", "replace-one"),
        (f"{SAMPLE} --epsilon 1 --rounds 2", "left out"),
        ("krr:domain-size=2 --local-epsilon 1 --users 9 --epsilon 1 --neighbours replace-one", "left out"),
    ],
)
def test_what_is_missing_or_not_proven_is_refused(capsys, line, said):
    assert said in refusal(capsys, f"account --randomizer {line}")
