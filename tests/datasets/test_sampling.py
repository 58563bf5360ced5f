"""Populations: validation, exact uniformity of subsets and padding, files of stable bytes."""

import contextlib
import itertools
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from segshuffle.arrays import NO_ITEM
from segshuffle.datasets.population import Population, load_population, save_population
from segshuffle.datasets.sampling import padded_population, uniform_population
from segshuffle.errors import DataError, ParameterError

FALSE_ALARM = 1e-6  # of each chi-square test, had the seed not been fixed
D = 7


def make(items, domain_size=10, source="synthetic"):
    return Population(items=items, domain_size=domain_size, source=source)


def assert_uniform(rows, all_rows):
    """Check that every row of `all_rows` is equally likely among `rows`."""
    index = {tuple(row): i for i, row in enumerate(all_rows)}
    observed = np.bincount([index[tuple(row)] for row in rows.tolist()], minlength=len(index))
    assert stats.chisquare(observed).pvalue > FALSE_ALARM


@pytest.mark.parametrize(
    ("items", "message"),
    [
        ([[0, 1], [2, 10]], r"user 1 holds \[2, 10\]; required are distinct items in 0\.\.9"),
        ([[0, 1], [-1, 2]], r"user 1 holds \[-1, 2\]"),
        ([[0, 70_000]], "user 0 holds"),  # would wrap around in int16
        ([[0, 1], [2, 3], [4, 4]], r"user 2 holds \[4, 4\]"),
        ([[3, 1]], "user 0 .* increasing order"),
        ([[0.0, 1.0]], "type float64"),
        ([0, 1], r"shape \(2,\)"),
        ([[]], r"shape \(1, 0\)"),
        ([[1, 2], [3]], "different lengths"),
        ([list(range(11))], "user 0 holds"),
    ],
)
def test_bad_items_are_refused(items, message):
    with pytest.raises(DataError, match=message):
        make(items)


# --- uniform users ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("domain_size", "set_size"), [(6, 1), (6, 2), (6, 5), (7, 3)])
def test_uniform_population_is_uniform_over_subsets(domain_size, set_size):
    rng = np.random.default_rng(11)
    population = uniform_population(domain_size=domain_size, set_size=set_size, n_users=40_000, rng=rng)
    assert_uniform(population.items, list(itertools.combinations(range(domain_size), set_size)))
    assert population.source == "synthetic"


# --- users of data, as rows of truth values (every item has a column) and of items -----------------------------------


def table(sets):
    return np.array([[item in items for item in range(D)] for items in sets])


def lists(sets):
    width = max(map(len, sets))
    return np.array([[*items, *[NO_ITEM] * (width - len(items))] for items in sets])


@pytest.fixture(params=[table, lists])
def padded(request):
    def draw(sets, set_size, padding, n_users=None, seed=12):
        return padded_population(
            data=request.param(sets),
            domain_size=D,
            n_users=n_users or len(sets),
            set_size=set_size,
            padding=padding,
            rng=np.random.default_rng(seed),
        )

    return draw


@pytest.mark.parametrize("padding", ["in-domain", "dummy"])
def test_surplus_items_leave_a_uniform_subset(padded, padding):
    population = padded([(0, 2, 3, 5, 6)] * 40_000, 3, padding)
    assert_uniform(population.items, list(itertools.combinations((0, 2, 3, 5, 6), 3)))
    assert population.domain_size == (D if padding == "in-domain" else D + 3)


def test_in_domain_padding_is_uniform_over_the_items_not_held(padded):
    population = padded([(2, 5)] * 40_000, 4, "in-domain")
    others = [item for item in range(D) if item not in (2, 5)]
    assert_uniform(population.items, [sorted((2, 5, *pair)) for pair in itertools.combinations(others, 2)])
    assert padded([(4,)], D, "in-domain").items.tolist() == [list(range(D))]


def test_dummy_padding_appends_items_of_its_own(padded):
    population = padded([(4,), (1, 2), (0, 3, 6), ()], 3, "dummy")
    assert population.domain_size == D + 3
    assert sorted(population.items.tolist()) == [[0, 3, 6], [1, 2, 7], [4, 7, 8], [7, 8, 9]]
    beyond = padded([(4,), tuple(range(D))], D + 2, "dummy")
    assert sorted(beyond.items.tolist()) == [[*range(D), 7, 8], [4, *range(7, 15)]]


@pytest.mark.quick(0)
def test_users_are_sampled_without_replacement_and_uniformly(padded):
    singles = [(item,) for item in range(D)]
    assert sorted(padded(singles, 1, "in-domain").items.ravel().tolist()) == list(range(D))
    draws = [padded(singles, 1, "dummy", n_users=2, seed=seed).items.ravel() for seed in range(4000)]
    assert all(first != second for first, second in draws)
    assert_uniform(np.sort(draws, axis=1), list(itertools.combinations(range(D), 2)))


def test_more_users_than_the_data_have_are_refused(padded):
    with pytest.raises(ParameterError, match=r"n_users = 4 .*\[1, 3\]"):
        padded([(1,), (2,), (3,)], 2, "in-domain", n_users=4)


# --- files -----------------------------------------------------------------------------------------------------------


def test_saved_population_is_restored(tmp_path):
    population = make([[0, 3], [3, 9]], source="real")
    save_population(tmp_path / "new" / "p.npz", population)
    loaded = load_population(tmp_path / "new" / "p.npz")
    np.testing.assert_array_equal(loaded.items, population.items)
    assert (loaded.domain_size, loaded.source) == (10, "real")
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["p.npz"]


def test_same_population_same_bytes(tmp_path, monkeypatch):
    population = make([[0, 3], [3, 9]])
    save_population(tmp_path / "a.npz", population)
    later = time.localtime(2_000_000_000)
    monkeypatch.setattr(time, "localtime", lambda *_: later)
    monkeypatch.setattr(time, "time", lambda: 2e9)
    save_population(tmp_path / "b.npz", population)
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


@given(st.data())
def test_damaged_population_files_raise_nothing_but_data_error(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("damaged") / "p.npz"
    save_population(path, make([[0, 3], [3, 9]]))
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 3))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(bytes(content[: data.draw(st.integers(0, len(content)))]))
    with contextlib.suppress(DataError):
        load_population(path)


def test_other_files_are_not_a_population(tmp_path):
    np.savez(tmp_path / "other.npz", x=np.arange(3))
    np.save(tmp_path / "other.npy", np.arange(3))
    for name in ("other.npz", "other.npy"):
        with pytest.raises(DataError, match="not a population"):
            load_population(tmp_path / name)
    with pytest.raises(DataError, match=r"none\.npz: cannot be read"):
        load_population(tmp_path / "none.npz")
