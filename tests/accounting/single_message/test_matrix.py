"""A randomizer of one's own: every dataset of a small group enumerated exactly, and what is refused."""

import math
from fractions import Fraction
from itertools import permutations, product

import numpy as np
import oracles as o
import pytest
from oracles import tables

from segshuffle.accounting.single_message.accountants.blanket_tails import TailBound
from segshuffle.accounting.single_message.amplification import compare
from segshuffle.accounting.single_message.decomposition import BlanketBound, DatasetsBound
from segshuffle.accounting.single_message.mechanisms import mechanism, of_matrix, subsampled
from segshuffle.accounting.single_message.randomizers.encodings import LocalHash
from segshuffle.accounting.single_message.randomizers.matrix import LARGEST_INPUTS, MatrixRandomizer, matrix_randomizer
from segshuffle.accounting.single_message.randomizers.subsets import KaryRandomizedResponse
from segshuffle.errors import DataError

F = Fraction
EXP_EPSILON = F(5, 4)
EPSILON = math.log(1.25)


def random_law(seed):
    """Return a law with 2 or 3 inputs and 2 to 4 outputs, without any symmetry, in rational numbers."""
    rng = np.random.default_rng(seed)
    inputs, outputs = int(rng.integers(2, 4)), int(rng.integers(2, 5))
    rows = rng.integers(1, 1000, size=(inputs, outputs))
    return [[F(int(x), int(row.sum())) for x in row] for row in rows]


def bounds(made, n_users):
    """Return the upper and the lower bound of a randomizer."""
    return [bound(randomizer=made, n_users=n_users) for bound in (BlanketBound, DatasetsBound)]


def largest_delta(law, n_users):
    """Return the exact largest divergence over all pairs of the victim's inputs and all inputs of the others."""
    found = F(0)
    for first, second in permutations(range(len(law)), 2):
        for others in product(range(len(law)), repeat=n_users - 1):
            views = [o.single_message_view(law, (own, *others)) for own in (first, second)]
            found = max(found, o.hockey_stick(*views, EXP_EPSILON))
    return found


@pytest.mark.quick(2)
@pytest.mark.parametrize("seed", range(120))
def test_every_dataset_of_a_small_group_is_within_the_bounds(seed):
    law, n_users = random_law(seed), 1 + seed % 3
    exact = largest_delta(law, n_users)
    made = matrix_randomizer([[float(p) for p in row] for row in law])
    above, below = (bound.delta(epsilon=EPSILON) for bound in bounds(made, n_users))
    upper = above.upper
    assert F(below.lower) <= exact <= F(upper)
    if n_users == 1:
        assert upper <= float(exact) * (1 + 1e-3) + 1e-12
    for each in ("hoeffding", "bennett"):
        assert TailBound(inequality=each, randomizer=made, n_users=n_users).delta(epsilon=EPSILON).upper >= exact
    ratios = [row[y] / other[y] for row in law for other in law for y in range(len(row))]
    assert math.log(max(ratios)) <= made.local_epsilon <= math.log(max(ratios)) * (1 + 1e-9) + 1e-12


@pytest.mark.quick(1)
@pytest.mark.parametrize(("n_users", "delta"), [(3, 1e-3), (10**4, 1e-7), (10**12, 1e-20)])
def test_a_known_randomizer_as_a_matrix_has_its_numbers(n_users, delta):
    known = KaryRandomizedResponse(local_epsilon=2.0, domain_size=5)
    made = matrix_randomizer(known.laws([(x,) for x in range(5)]))
    assert len(made.blankets("upper")) == 1
    sampled = [
        subsampled(each, 0.3).randomizer
        for each in (mechanism("krr", local_epsilon=2.0, domain_size=5), of_matrix(made))
    ]
    for pair, bound in (((known, made), BlanketBound), ((known, made), DatasetsBound), (sampled, BlanketBound)):
        one, other = (bound(randomizer=each, n_users=n_users).epsilon(delta=delta) for each in pair)
        assert other == pytest.approx(one, rel=1e-5, abs=0)
    entries, _ = compare(mechanism=of_matrix(made), n_users=n_users, delta=delta)
    names = {entry.accountant for entry in entries}
    assert {"blanket", "blanket-lower", "bennett", "standard-clone", "variation-ratio"} <= names


def test_the_search_over_pairs_ends_where_no_pair_misses_the_target():
    rng = np.random.default_rng(7)
    law = rng.dirichlet(np.full(6, 3.0), size=5) * 0.9 + 0.1 / 6
    made = matrix_randomizer(law / law.sum(axis=1, keepdims=True))
    upper, lower = bounds(made, 1000)
    found, excluded = upper.epsilon(delta=1e-5), lower.epsilon(delta=1e-5)
    assert upper.delta(epsilon=found).upper <= 1e-5 * (1 + 1e-3)
    assert upper.delta(epsilon=0.999 * found).upper > 1e-5
    assert lower.delta(epsilon=0.999 * excluded).lower > 1e-5
    assert 0 < excluded <= found


@pytest.mark.parametrize("n_users", [1, 100])
def test_epsilons_of_rows_in_error_are_of_the_end_that_counts(n_users):
    """Errors of 0.001 in the entries move both epsilons far more than the search does; each stays on its safe side."""
    rows = np.array([[0.5, 0.3, 0.2], [0.25, 0.35, 0.4], [0.3, 0.4, 0.3]])
    off = MatrixRandomizer(rows, 1e-3)
    upper, lower = bounds(off, n_users)
    most, least = upper.epsilon(delta=0.01), lower.epsilon(delta=0.01)
    assert upper.delta(epsilon=most).upper <= 0.01
    assert lower.delta(epsilon=least).lower >= 0.01
    # and both are close to their targets
    assert upper.delta(epsilon=0.999 * most).upper > 0.01
    assert lower.delta(epsilon=1.001 * least).lower < 0.01
    assert least < 0.999 * most


def test_what_the_rows_miss_makes_the_bound_larger():
    rows = np.array([[0.5, 0.3, 0.2], [0.25, 0.3, 0.45]])
    exact, off = matrix_randomizer(rows), matrix_randomizer(rows * (1 + np.array([[9e-10], [-9e-10]])))
    assert off.entry_error > 8e-10 > exact.entry_error
    for n_users, epsilon in ((1, 0.3), (100, 0.1), (10**6, 1e-3)):
        tight, loose = (BlanketBound(randomizer=m, n_users=n_users).delta(epsilon=epsilon).upper for m in (exact, off))
        moved = rows * (1 + np.array([[8e-10], [-8e-10]]))
        inside = matrix_randomizer(moved / moved.sum(axis=1, keepdims=True))
        assert loose > tight
        assert loose > BlanketBound(randomizer=inside, n_users=n_users).delta(epsilon=epsilon).lower
    assert off.local_epsilon > exact.local_epsilon > math.log(0.45 / 0.2)


GOOD = [[0.5, 0.5], [0.25, 0.75]]


@pytest.mark.parametrize(
    ("law", "claim", "said"),
    [
        ([[1.5, -0.5], [0.5, 0.5]], None, r"row 1, column 1: 1.5 is no probability"),
        ([[0.5, 0.5], [0.3, 0.699999]], None, r"row 2: its probabilities sum to 0.999999; .* \(to 1e-09\)"),
        (
            [[0.5, 0.5], [1.0, 0.0]],
            None,
            "row 2, column 2: 0 is the probability of an output that another input can send",
        ),
        ([[0.5, 0.5]], None, "between 2 and 30 rows"),
        (np.full((LARGEST_INPUTS + 1, 2), 0.5), None, r"shape is \(31, 2\)"),
        (np.full((2, 1001), 1 / 1001), None, "between 1 and 1000 columns"),
        ([[1 - 1e-23, 1e-23], [0.5, 0.5]], None, "the local epsilon is 52.26630996, more than the 50 that is allowed"),
        (
            GOOD,
            0.69,
            r"row 1 sends .* 0.5, .* row 2 with 0.25: .* 0.6931471806, more than the 0.69 that is claimed",
        ),
    ],
)
def test_what_is_no_law_or_claims_too_little_is_refused(law, claim, said):
    with pytest.raises(DataError, match=said):
        matrix_randomizer(law, claimed_epsilon=claim)


# -- local hash into any number of values ------------------------------------------------------------------------------


@pytest.mark.parametrize(("domain_size", "hash_size"), [(2, 3), (3, 3), (4, 2)])
def test_the_limit_of_a_large_domain_is_above_every_small_one(domain_size, hash_size):
    gain = F(3)
    law = tables.local_hash(domain_size, hash_size, gain)
    small = matrix_randomizer([[float(p) for p in row] for row in law])
    limit = LocalHash(local_epsilon=math.log(3), hash_size=hash_size)
    for n_users in (1, 2, 50):
        upper = BlanketBound(randomizer=limit, n_users=n_users).delta(epsilon=EPSILON).upper
        assert BlanketBound(randomizer=small, n_users=n_users).delta(epsilon=EPSILON).lower <= upper
    # a message alone: the two inputs collide with probability 1/g, whatever the domain
    alone = (1 - F(1, hash_size)) * (gain - EXP_EPSILON) / (gain + hash_size - 1)
    assert BlanketBound(randomizer=limit, n_users=1).delta(epsilon=EPSILON).upper >= alone


def test_the_variation_of_a_matrix_is_its_own_and_at_most_what_its_ratio_allows():
    rows = np.array([[0.5, 0.3, 0.2], [0.25, 0.35, 0.4], [0.3, 0.4, 0.3]])
    made = of_matrix(MatrixRandomizer(rows, 0.0))
    # largest ratio 2 in the first and in the last column
    assert made.variation.log_p == made.variation.log_q == pytest.approx(math.log(2), rel=1e-12)
    assert made.variation.beta == pytest.approx(0.25, rel=1e-12)
    binary = of_matrix(MatrixRandomizer(np.array([[0.75, 0.25], [0.25, 0.75]]), 0.0))
    assert binary.variation.beta == math.tanh(0.5 * binary.variation.log_p) == pytest.approx(0.5, rel=1e-12)
