"""Every range of a parameter is the one that is written down: its ends are in or out, and the next number is not."""

import math

import numpy as np
import pytest

from segshuffle.accounting.collections import (
    calibration,
    composition,
    flipped_bits,
    full_view,
    product,
    published,
    shifted_noise,
)
from segshuffle.accounting.collections.blanket_cap import cap_overflow
from segshuffle.accounting.single_message import amplification
from segshuffle.accounting.single_message import variation_ratio as vr
from segshuffle.accounting.single_message import variation_ratio_tables as tables
from segshuffle.accounting.single_message.accountants import clones, erlingsson
from segshuffle.accounting.single_message.accountants.personalized import PersonalizedUsers, gaussian_of_equals
from segshuffle.accounting.single_message.mechanisms import mechanism
from segshuffle.accounting.single_message.randomizers import subsets
from segshuffle.blankets import pairs, poisson
from segshuffle.blankets.clustered import Clustered
from segshuffle.blankets.signed import Signed
from segshuffle.errors import InfeasibleError, ParameterError
from segshuffle.numerics import hockey_stick, laws, ranges
from segshuffle.numerics.poisson_binomial import PoissonBinomialLaw

GENERAL = tables.general(local_epsilon=1.0)


def published_item(**changed):
    usual = {"domain_size": 4, "n_users": 10, "blanket_per_user": 1.0, "sampling_rate": 0.5, "epsilon": 1.0}
    return published.published_item_delta(**usual | changed)


def view(**changed):
    usual = {"domain_size": 4, "n_users": 10, "blanket_per_user": 1.0, "sampling_rate": 0.5}
    return full_view.FullView(**usual | changed)


def of_budgets(*, n, epsilon=1.0):
    return amplification.compare_budgets(budgets=[(1.0, n)], epsilon=epsilon)


def users(**changed):
    return PersonalizedUsers(**{"local_epsilons": [1.0, 2.0]} | changed)


#: What takes a value; the name that an error has; the range, with "(" or ")" where an end is outside.
REALS = {
    # numerics/ranges.py
    "epsilon": (ranges.check_epsilon, "epsilon", "[", 0.0, 300.0, "]"),
    "target": (ranges.check_target, "delta", "[", 1e-280, 1.0, ")"),
    "local": (ranges.check_local, "local_epsilon", "[", 1e-6, 50.0, "]"),
    "guarantee": (lambda x: ranges.check_guarantee(epsilon=x, delta=0.5), "epsilon", "(", 0.0, 100.0, "]"),
    "blanket": (ranges.blanket_slots, "blanket_per_user", "(", 0.0, 1e9, "]"),
    # laws and pairs of counts
    "binomial": (lambda x: laws.BinomialLaw(3, x), "probability", "(", 0.0, 1.0, "]"),
    "speak": (lambda x: hockey_stick.CountPair(x, math.inf, laws.BinomialLaw(3, 1)), "difference", "(", 0.0, 1.0, "]"),
    "split": (lambda x: hockey_stick.CountPair(0.5, math.inf, laws.BinomialLaw(3, 1), x), "split", "(", 0.0, 1.0, ")"),
    "bernoulli": (lambda x: PoissonBinomialLaw([0.5, x]), "probabilities", "[", 0.0, 1.0, "]"),
    # collections
    "mean": (lambda mean: poisson.ItemPair(mean, 0.5), "blanket_mean", "[", 1e-3, 1e12, "]"),
    "copies": (pairs.check_copies, "copies", "[", 1e-120, 64.0, "]"),
    "product": (lambda x: product.check_product(epsilon=x), "epsilon", "[", 0.0, 100.0, "]"),
    "p": (Clustered, "p", "(", 0.0, 0.99, "]"),
    "signed p": (lambda x: Signed(x, 0.5, 0.5), "p", "[", 0.0, 0.99, "]"),
    "flood": (lambda x: Signed(0.5, 0.5, x), "flood", "(", 0.0, 1.0, ")"),
    "exponent": (lambda x: shifted_noise.ShiftPair(x, 1.0), "exponent", "[", 1.0, 2.0, "]"),
    "shift": (lambda x: shifted_noise.ShiftPair(1.5, x), "copies", "[", 1e-12, 1e3, "]"),
    "flip": (lambda x: flipped_bits.FlippedPair(5, x), "flip", "[", 1e-9, 0.4999, "]"),
    "rate": (lambda x: published_item(sampling_rate=x), "sampling_rate", "[", 1e-290, 1.0, "]"),
    "honest": (
        lambda x: calibration.epsilon_over_honesty(
            blanket_mean=1e4, copies=0.0, pairs=1, delta=0.1, fractions=(x,), blanket=Clustered(0.5)
        ),
        "fractions", "(", 0.0, 1.0, "]",
    ),
    # single messages
    "log q": (lambda x: vr.VariationRatio(log_p=1.0, beta=0.0, log_q=x), "log_q", "[", 0.0, 600.0, "]"),
    "accuracy": (
        lambda x: vr.VariationBound(variation=GENERAL, n_users=9).epsilon(delta=0.9, rtol=x),
        "rtol", "[", 1e-9, 0.1, "]",
    ),
    "failure": (lambda x: users(local_delta=x), "local_delta", "[", 0.0, 1.0, ")"),
    "budget": (lambda x: users(local_epsilons=[x]), "local_epsilons", "[", 1e-50, 50.0, "]"),
    "early": (
        lambda x: erlingsson.erlingsson_epsilon(local_epsilon=x, n_users=1000, delta=1e-3),
        "local_epsilon", "[", 1e-6, 0.5, ")",
    ),
    "loss": (
        lambda x: composition.counter_losses(poisson.ItemPair(1e4, 1e-3), 0.5)
        and composition.privacy_loss_distribution([], interval=x),
        "interval", "[", 1e-7, 1.0, "]",
    ),
}  # fmt: skip


#: Parameters that are lists themselves.
LISTS = ("bernoulli", "budget")
#: What errors have said.
said = []


def accepts(call, value):
    """Return True if the value is taken, even if no answer is feasible, else the name that the error has."""
    try:
        call(value)
    except ParameterError as error:
        said.append(str(error))
        return error.name
    except InfeasibleError:
        return True
    return True


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("case", REALS)
def test_a_range_of_numbers_ends_where_it_says(case):
    call, name, left, low, high, right = REALS[case]
    least = low if left == "[" else math.nextafter(low, math.inf)
    most = high if right == "]" else math.nextafter(high, -math.inf)
    expected = {least: True, most: True}
    expected |= dict.fromkeys([math.nextafter(least, -math.inf), -1.0, math.nextafter(most, math.inf)], name)
    said.clear()
    found = {value: accepts(call, value) for value in expected}
    assert found == expected
    assert accepts(call, math.nan) == name
    if case not in LISTS:
        for wrong in ("1", None, [0.5], np.array([0.5, 0.6])):
            assert accepts(call, wrong) == name, wrong
    for message in said:
        for end in (low, high):
            assert says(message, end), message


def says(message, number):
    """Return whether an error names an end of the allowed range, in one of the ways that people write it."""
    words = {f"{number:g}", f"{number:g}".replace("e-0", "e-"), str(number)}
    words |= {{0.0: "positive", math.inf: "finite", 0.5: "1/2"}.get(number, f"{number:g}")}
    return any(word in message.partition(": ")[2] for word in words)


#: The same of integers: least and largest, None for none that is tried.
INTEGERS = {
    "users": (ranges.check_users, "n_users", 1, 10**15),
    "sizes": (lambda n: ranges.check_sizes(domain_size=2, n_users=n), "n_users", 1, 4_000_000_000_000_000),
    "set": (lambda s: ranges.check_sizes(domain_size=7, n_users=1, set_size=s), "set_size", 1, 7),
    "held": (lambda s: subsets.check_subset(domain_size=7, set_size=s, subset_size=1), "set_size", 1, 6),
    "pairs": (lambda t: product.check_product(pairs=t), "pairs", 1, None),
    "trials": (lambda n: laws.BinomialLaw(n, 0.5), "trials", 0, None),
    "fakes": (lambda k: flipped_bits.FlippedPair(k, 0.1), "fakes", 1, None),
    "cap": (
        lambda c: cap_overflow(blanket_per_user=1.0, cap=c, honest_users=9, epsilon=1.0, delta=1e-6),
        "blanket_cap", 0, None,
    ),
    "covered": (lambda h: view(covered_items=h), "covered_items", 0, 2),
    "iterations": (
        lambda t: vr.VariationBound(variation=GENERAL, n_users=1).bisected_epsilon(delta=0.9, iterations=t),
        "iterations", 0, 60,
    ),
    "mechanism": (lambda d: mechanism("krr", local_epsilon=1.0, domain_size=d), "domain_size", 2, 10**15),
    "few": (
        lambda n: erlingsson.erlingsson_epsilon(local_epsilon=0.1, n_users=n, delta=1e-3), "n_users", 1000, 10**15
    ),
    "equal": (lambda n: gaussian_of_equals(local_epsilon=1.0, n_users=n).mu, "n_users", 2, 10**15),
    "budgets": (lambda n: of_budgets(n=n), "budgets", 2, None),
}  # fmt: skip


@pytest.mark.parametrize("case", INTEGERS)
def test_a_range_of_integers_ends_where_it_says(case):
    call, name, least, largest = INTEGERS[case]
    expected = {least: True, least - 1: name}
    if largest is not None:
        expected |= {largest: True, largest + 1: name}
    said.clear()
    assert {value: accepts(call, value) for value in expected} == expected
    for message, end in zip(said, (least, largest), strict=False):
        assert says(message, end) or says(message, end + 1), message


@pytest.mark.parametrize("log_p", [1e-6, 1.0, 20.0])
def test_total_variation_is_at_most_what_the_ratio_allows(log_p):
    largest = math.tanh(0.5 * log_p)
    for beta in (0.0, 0.5 * largest, largest):
        assert vr.VariationRatio(log_p=log_p, beta=beta, log_q=log_p).beta == beta
    for beta in (-1e-300, largest * (1 + 1e-11)):
        with pytest.raises(ParameterError, match="beta"):
            vr.VariationRatio(log_p=log_p, beta=beta, log_q=600.0)


def test_budgets_are_between_two_users_and_a_list_that_is_not_too_long():
    for counts in ([(1.0, -1), (2.0, 9)], [(1.0, 100_000), (2.0, 100_001)]):
        with pytest.raises(ParameterError, match="budgets"):
            amplification.compare_budgets(budgets=counts, epsilon=1.0)
    with pytest.raises(ParameterError, match="a list of at most 200000"):
        PoissonBinomialLaw(np.zeros(200_001))
    assert PoissonBinomialLaw(np.zeros(0)).largest == 0


def test_the_closed_form_of_clones_holds_up_to_its_condition():
    room = math.log(10_000 / (16 * math.log(2 / 1e-6)))
    for share, named in ((1 - 1e-12, True), (1 + 1e-12, "local_epsilon")):
        asked = accepts(
            lambda x: clones.standard_clone_closed_form(local_epsilon=x, n_users=10_000, delta=1e-6), room * share
        )
        assert asked == named
    # with fewer than 16 log(2/delta) users there is no local epsilon at all
    with pytest.raises(ParameterError, match="local_epsilon"):
        clones.standard_clone_closed_form(local_epsilon=1e-6, n_users=232, delta=1e-6)
