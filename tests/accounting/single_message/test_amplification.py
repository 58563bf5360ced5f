"""One suite for every accountant of one shuffled message: order, limits, arrays, extremes, refusals."""

from dataclasses import replace

import numpy as np
import pytest

from segshuffle.accounting.single_message import amplification as am
from segshuffle.accounting.single_message.mechanisms import (
    COMPOSABLE,
    MECHANISMS,
    MULTI_MESSAGE,
    composed,
    mechanism,
    subsampled,
)
from segshuffle.accounting.single_message.randomizers.laplace import Laplace
from segshuffle.errors import ParameterError

NAMES = ("general", *COMPOSABLE)
SIZES = {
    "local-hash": {"hash_size": 4},
    "krr": {"domain_size": 5},
    "hadamard": {"order": 8},
    "subset-selection": {"domain_size": 6, "subset_size": 2},
    "subset-exponential": {"domain_size": 9, "set_size": 2, "subset_size": 2},
}


def made(name, local_epsilon):
    found = mechanism(name, local_epsilon=local_epsilon, **SIZES.get(name, {}))
    # a tenth of the classes: coarser, and as valid
    return replace(found, randomizer=Laplace(local_epsilon=local_epsilon, cells=40)) if name == "laplace" else found


#: A mechanism of every shape: all accountants see these in every run of the suite, and the others where time allows.
COMMON = ("general", "krr", "oue", "laplace")


#: Accountants that know the local epsilon alone: to them all mechanisms are one.
BLIND = {each.name for each in am.applicable(am.Mechanism(name="anything", local_epsilon=1.0))}


#: Every accountant with every mechanism it applies to; only some are tried with Laplace noise.
PAIRS = [
    pytest.param(
        name,
        each.name,
        marks=() if name == "general" or (name in COMMON and each.name not in BLIND) else pytest.mark.exhaustive,
    )
    for name in NAMES
    for each in am.applicable(made(name, 1.0))
    if name != "laplace" or each.name in ("blanket", "blanket-lower", "bennett", "personalized")
]
#: Conditions of the theorems; within them all accountants apply.
INSIDE = {"local_epsilon": 0.4, "n_users": 40_000, "delta": 1e-8}


def epsilon(accountant, name, *, local_epsilon, n_users, delta):
    return am.values(accountant=accountant, mechanism=made(name, local_epsilon), n_users=n_users, delta=delta)


@pytest.mark.quick(2)
@pytest.mark.parametrize(("name", "accountant"), PAIRS)
def test_epsilon_falls_with_users_and_with_delta_and_never_exceeds_the_local_one(name, accountant):
    slack = 1 + 1e-3  # searches stop within 1e-4 in delta
    base = epsilon(accountant, name, **INSIDE)
    assert 0 < base <= INSIDE["local_epsilon"]
    assert epsilon(accountant, name, **{**INSIDE, "n_users": 160_000}) <= base * slack
    assert epsilon(accountant, name, **{**INSIDE, "delta": 1e-5}) <= base * slack
    assert epsilon(accountant, name, **{**INSIDE, "local_epsilon": 0.2}) <= base * slack


@pytest.mark.quick("laplace-2.0-7-0.001")
@pytest.mark.parametrize(
    ("name", "local_epsilon", "n_users", "delta"),
    [
        pytest.param(name, *setting, marks=() if name in COMMON or setting[1] == 7 else pytest.mark.exhaustive)
        for name in NAMES
        for setting in [(0.3, 5000, 1e-6), (4.0, 1000, 1e-6), (2.0, 7, 1e-3)]
        if name != "general"
    ],
)
def test_no_guarantee_is_below_the_lower_bound(name, local_epsilon, n_users, delta):
    entries, _ = am.compare(mechanism=made(name, local_epsilon), n_users=n_users, delta=delta)
    (least,) = [entry.value for entry in entries if entry.kind == "lower"]
    guarantees = {entry.accountant: entry.value for entry in entries if entry.kind == "upper"}
    assert len(guarantees) >= 5
    assert all(value >= least for value in guarantees.values()), (least, guarantees)


def asked(accountant, name, **arguments):
    """Return epsilon, or None where the accountant refuses: only formulas with conditions of their own may."""
    try:
        return epsilon(accountant, name, **arguments)
    except ParameterError:
        chosen = am.ACCOUNTANTS[accountant]
        if chosen.kind == "lower" or (chosen.delta is not None and arguments["n_users"] > 1):
            raise
        return None


@pytest.mark.parametrize(("name", "accountant"), PAIRS)
def test_one_user_has_the_local_guarantee(name, accountant):
    """An upper bound is equal to it; a lower one misses it by one cell of noise at most."""
    found = asked(accountant, name, local_epsilon=0.4, n_users=1, delta=1e-12)
    kind = am.ACCOUNTANTS[accountant].kind_for(made(name, 0.4))
    if kind == "upper" and found is not None:
        assert found == pytest.approx(0.4, rel=1e-6)
    if kind == "lower":
        assert 0.4 * (1 - 2 / 40) < found <= 0.4


def test_arrays_are_scalars_side_by_side():
    krr, users, deltas, epsilons = made("krr", 0.4), [50, 200_000], [1e-9, 1e-6, 1e-3], [0.01, 0.1]
    found = am.values(accountant="blanket", mechanism=krr, n_users=np.array([users]).T, delta=deltas)
    ones = [[epsilon("blanket", "krr", local_epsilon=0.4, n_users=n, delta=delta) for delta in deltas] for n in users]
    assert found.tolist() == ones
    assert isinstance(ones[0][0], float)
    for name in ("blanket", "blanket-lower"):
        ends = am.values(accountant=name, mechanism=krr, n_users=users, epsilon=epsilons)
        assert ends.tolist() == [
            am.ask(am.ACCOUNTANTS[name], krr, n, epsilon=level) for n, level in zip(users, epsilons, strict=True)
        ]


@pytest.mark.quick(7)
@pytest.mark.parametrize(("name", "accountant"), PAIRS)
@pytest.mark.parametrize("local_epsilon", [1e-6, 20.0])
@pytest.mark.parametrize("delta", [1e-280, 1e-100])
def test_extreme_but_legal_input_gives_a_number(name, accountant, local_epsilon, delta):
    n_users = 100_000 if accountant == "personalized" else 10**12
    found = asked(accountant, name, local_epsilon=local_epsilon, n_users=n_users, delta=delta)
    assert found is None or 0 <= found <= local_epsilon


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"n_users": 2.5}, "n_users = 2.5"),
        ({"delta": -1.0}, "delta = -1.0 is not allowed: it must be in [1e-280, 1)."),
        ({"delta": 1e-290}, "in [1e-280, 1): below that, double precision ends, and only the local epsilon"),
        ({"delta": "1e-6x"}, "delta = '1e-6x' is not allowed: it must be a number, or an array"),
        ({"n_users": "ten"}, "n_users = 'ten' is not allowed: it must be an integer in [1, 1e+15]"),
        ({"mechanism": "krr"}, "mechanism = 'krr' is not allowed: it must be a Mechanism"),
        ({"accountant": "magic"}, "accountant = 'magic'"),
        ({"accountant": "personalized"}, "applies to krr"),
    ],
)
def test_what_is_not_legal_is_refused_by_name(changes, named):
    arguments = {"accountant": "blanket", "mechanism": made("krr", 1.0), "n_users": 10, "delta": 1e-3, **changes}
    with pytest.raises(ParameterError) as caught:
        am.values(**arguments)
    assert named in str(caught.value)


@pytest.mark.parametrize(
    ("name", "parameters", "named"),
    [
        ("magic", {}, "randomizer = 'magic'"),
        ("krr", {"domain_size": "5"}, "domain_size = '5' is not allowed: it must be an integer in [2, 1e+15] for krr"),
        ("wheel", {"set_size": 2, "arc_length": "x"}, "arc_length = 'x' is not allowed: it must be a number in (0, "),
        ("krr", {}, "krr needs domain_size"),
        ("krr", {"domain_size": 5, "order": 4}, "order = 4"),
        ("hadamard", {"order": 6}, "order"),
        ("subset-selection", {"domain_size": 5, "subset_size": 5}, "subset_size = 5"),
    ],
)
def test_a_mechanism_that_does_not_exist_is_refused(name, parameters, named):
    with pytest.raises(ParameterError) as caught:
        mechanism(name, local_epsilon=1.0, **parameters)
    assert named in str(caught.value)


def test_a_formula_for_epsilon_has_no_delta():
    krr = made("krr", 0.4)
    with pytest.raises(ParameterError, match="formula for epsilon"):
        am.values(accountant="erlingsson", mechanism=krr, n_users=10_000, epsilon=0.1)
    entries, left_out = am.compare(mechanism=krr, n_users=10_000, epsilon=0.1)
    assert "erlingsson" not in {entry.accountant for entry in entries}
    assert "formula for epsilon" in left_out["erlingsson"]


def test_binary_randomized_response_is_where_the_published_bounds_are_proven():
    kinds, claimed = {}, ["stronger-clone", "variation-ratio"]
    for size in (2, 3):
        chosen = mechanism("krr", local_epsilon=1.0, domain_size=size)
        entries, _ = am.compare(mechanism=chosen, n_users=1000, delta=1e-6, only=[*claimed, "blanket"])
        kinds[size] = {entry.accountant: entry.kind for entry in entries}
        values = {entry.accountant: entry.value for entry in entries}
        if size == 2:
            assert values["stronger-clone"] == pytest.approx(values["blanket"], rel=1e-3)
            assert values["variation-ratio"] == pytest.approx(values["blanket"], rel=1e-3)
    assert [kinds[2][each] for each in claimed] == ["upper", "upper"]
    assert [kinds[3][each] for each in claimed] == ["published", "published"]


def test_every_accountant_says_what_it_is():
    order = [each.order for each in am.ACCOUNTANTS.values()]
    assert order == sorted(order)
    for each in am.ACCOUNTANTS.values():
        assert each.kind in ("upper", "lower", "published", "asymptotic")
        assert each.status.startswith("proven") == (each.kind in ("upper", "lower")), each.name
        assert each.source
    caveat = am.ACCOUNTANTS["blanket"].status_for(made("laplace", 1.0))
    assert "not proven to be the worst pair" in caveat
    for how in ("joint", "parallel"):
        both = composed([made("krr", 1.0), made("laplace", 1.0), made("laplace", 0.5)], how)
        for whole in (both, subsampled(both, 0.5)):
            status = am.ACCOUNTANTS["blanket"].status_for(whole)
            assert status.count("laplace for the inputs 0 and 1, which are not proven to be the worst pair") == 1


def test_the_largest_joint_epsilon_is_answered_without_a_warning():
    """e^150 times round-off says nothing: the local guarantee is what is left, and no lower bound."""
    three = composed([mechanism("rappor", local_epsilon=50.0)] * 3, "joint")
    with np.errstate(all="raise", under="ignore"):
        assert am.ask(am.ACCOUNTANTS["blanket"], three, 10, delta=1e-6) == 150.0
        assert am.ask(am.ACCOUNTANTS["blanket-lower"], three, 10, delta=1e-6) == 0.0


def test_of_multi_message_protocols_all_but_vectors_leave_the_victim_no_left_over():
    """Their messages are the bit, the bin or the item itself: only there the reduction mixes nothing."""
    given = {"coin": 0.3, "flip": 0.1, "domain_size": 16, "special_bins": 1}
    for name in MULTI_MESSAGE:
        chosen = mechanism(name, **{each: given[each] for each in MECHANISMS[name].parameters})
        assert chosen.no_left_over == (name != "flipped-one-hot"), name
        assert am.ACCOUNTANTS["variation-ratio"].kind_for(chosen) == ("upper" if chosen.no_left_over else "published")
    others = {"range-query": {"levels": 3}, "sampling-rappor": {"domain_size": 5, "set_size": 2}, "blh": {}}
    for name, sizes in others.items():
        assert not mechanism(name, local_epsilon=1.0, **sizes).no_left_over
