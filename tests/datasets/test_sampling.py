"""Populations: validation, exact uniformity of subsets and padding, files of stable bytes."""

import contextlib
import itertools
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from segshuffle.arrays import LARGEST_DOMAIN
from segshuffle.datasets import msnbc_log
from segshuffle.datasets.declared import ITEMS
from segshuffle.datasets.population import Population, load_population, save_population
from segshuffle.datasets.sampling import msnbc_population, uniform_population
from segshuffle.errors import DataError, ParameterError

FALSE_ALARM = 1e-6  # of each chi-square test, had the seed not been fixed


def make(items, domain_size=10, label="test", source="synthetic"):
    return Population(items=items, domain_size=domain_size, label=label, source=source)


def masks_of(*sets):
    return np.array([sum(1 << item for item in items) for items in sets], dtype=np.uint32)


def assert_uniform(rows, all_rows):
    """Every row of `all_rows` is equally likely among `rows`."""
    index = {tuple(row): i for i, row in enumerate(all_rows)}
    observed = np.bincount([index[tuple(row)] for row in rows.tolist()], minlength=len(index))
    assert stats.chisquare(observed).pvalue > FALSE_ALARM


def test_properties():
    population = make([[0, 3], [3, 9], [1, 2]])
    assert (population.n_users, population.set_size, population.domain_size) == (3, 2, 10)
    assert population.items.dtype == np.int16
    assert population.item_counts.dtype == np.int64
    assert population.item_counts.tolist() == [1, 1, 1, 2, 0, 0, 0, 0, 0, 1]
    assert population.frequencies.sum() == pytest.approx(2)


@pytest.mark.parametrize(
    ("domain_size", "stored"), [(32_767, np.int16), (32_768, np.int32), (LARGEST_DOMAIN, np.int32)]
)
def test_items_take_the_space_that_they_need(tmp_path, domain_size, stored):
    population = uniform_population(domain_size=domain_size, set_size=3, n_users=50, rng=np.random.default_rng(1))
    assert population.items.dtype == stored
    assert population.items.max() > 0.8 * domain_size
    save_population(tmp_path / "users.npz", population)
    read = load_population(tmp_path / "users.npz")
    assert read.items.dtype == stored
    assert (read.items == population.items).all()
    last = make([[0, domain_size - 1]], domain_size)
    assert last.items.tolist() == [[0, domain_size - 1]]


def test_the_configuration_allows_as_many_items_as_a_population():
    assert ITEMS["maximum"] == LARGEST_DOMAIN


def test_items_are_a_read_only_copy():
    items = np.array([[0, 1]], dtype=np.int16)
    population = make(items)
    items[0, 0] = 5
    assert population.items.tolist() == [[0, 1]]
    with pytest.raises(ValueError, match="read-only"):
        population.items[0, 0] = 2


@pytest.mark.parametrize(
    ("items", "message"),
    [
        ([[0, 1], [2, 10]], r"user 1 holds item 10, .*allowed are 0\.\.9"),
        ([[0, 1], [-1, 2]], "user 1 holds item -1"),
        ([[0, 70_000]], "user 0 holds item 70000"),  # would wrap around in int16
        ([[0, 1], [2, 3], [4, 4]], "user 2 holds item 4 twice"),
        ([[3, 1]], "user 0 has item 1 after 3"),
        ([[0.0, 1.0]], "type float64"),
        ([0, 1], r"shape \(2,\)"),
        ([[]], r"shape \(1, 0\)"),
        ([[1, 2], [3]], "different lengths"),
        ([list(range(11))], "11 items, but the domain has only 10"),
    ],
)
def test_bad_items_are_refused(items, message):
    with pytest.raises(DataError, match=message):
        make(items)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *(("domain_size", value) for value in (0, 2.5, True, LARGEST_DOMAIN + 1)),
        ("label", ""),
        ("label", None),
        ("source", "simulated"),
    ],
)
def test_bad_fields_are_refused(field, value):
    with pytest.raises(ParameterError, match=f"{field} = "):
        make([[0]], **{field: value})


@pytest.mark.parametrize(("domain_size", "set_size"), [(6, 1), (6, 2), (6, 5), (7, 3)])
def test_uniform_population_is_uniform_over_subsets(domain_size, set_size):
    rng = np.random.default_rng(11)
    population = uniform_population(domain_size=domain_size, set_size=set_size, n_users=40_000, rng=rng)
    assert_uniform(population.items, list(itertools.combinations(range(domain_size), set_size)))


def test_uniform_population_with_the_whole_domain():
    population = uniform_population(domain_size=5, set_size=5, n_users=3, rng=np.random.default_rng(1))
    assert population.items.tolist() == [[0, 1, 2, 3, 4]] * 3
    assert population.source == "synthetic"


def test_uniform_population_of_the_papers_size_is_quick():
    start = time.process_time()
    population = uniform_population(domain_size=128, set_size=8, n_users=50_000, rng=np.random.default_rng(1))
    assert time.process_time() - start < 0.3
    assert population.items.shape == (50_000, 8)
    # Counts are Binomial(n, s/d) each: 7 standard deviations have a false-alarm rate below 128 * 3e-12.
    law = stats.binom(50_000, 8 / 128)
    assert np.abs(population.item_counts - law.mean()).max() < 7 * law.std()


@pytest.mark.parametrize(("name", "value"), [("domain_size", 0), ("set_size", 6), ("set_size", 0), ("n_users", 0)])
def test_uniform_population_refuses(name, value):
    arguments = {"domain_size": 5, "set_size": 2, "n_users": 3, name: value}
    with pytest.raises(ParameterError, match=f"{name} = {value}"):
        uniform_population(**arguments, rng=np.random.default_rng(1))


@pytest.mark.parametrize("padding", ["in-domain", "dummy"])
def test_surplus_categories_leave_a_uniform_subset(padding):
    masks = np.repeat(masks_of({0, 3, 8, 12, 16}), 40_000)
    population = msnbc_population(
        masks, n_users=40_000, set_size=3, padding=padding, rng=np.random.default_rng(12), label="x"
    )
    assert_uniform(population.items, list(itertools.combinations((0, 3, 8, 12, 16), 3)))


def test_in_domain_padding_is_uniform_over_the_items_not_held():
    masks = np.repeat(masks_of({2, 5}), 60_000)
    population = msnbc_population(
        masks, n_users=60_000, set_size=4, padding="in-domain", rng=np.random.default_rng(13), label="x"
    )
    assert population.domain_size == 17
    others = [item for item in range(17) if item not in (2, 5)]
    assert_uniform(population.items, [sorted((2, 5, *pair)) for pair in itertools.combinations(others, 2)])


def test_dummy_padding_appends_17_18_and_so_on():
    masks = masks_of({4}, {1, 2}, {0, 8, 16})
    population = msnbc_population(masks, n_users=3, set_size=3, padding="dummy", rng=np.random.default_rng(1))
    assert population.domain_size == 20
    assert sorted(population.items.tolist()) == [[0, 8, 16], [1, 2, 17], [4, 17, 18]]
    assert population.item_counts[19] == 0


def test_dummy_padding_beyond_the_domain():
    masks = masks_of({4}, set(range(17)))
    population = msnbc_population(masks, n_users=2, set_size=20, padding="dummy", rng=np.random.default_rng(1))
    expected = [[*range(17), 17, 18, 19], [4, *range(17, 36)]]
    assert sorted(population.items.tolist()) == expected
    assert population.domain_size == 37


def test_in_domain_padding_up_to_the_whole_domain():
    population = msnbc_population(
        masks_of({4}), n_users=1, set_size=17, padding="in-domain", rng=np.random.default_rng(1), source="stand-in"
    )
    assert population.items.tolist() == [list(range(17))]
    assert population.source == "stand-in"


@pytest.mark.quick(0)
def test_users_are_sampled_without_replacement_and_uniformly():
    masks = masks_of(*({item} for item in range(17)))
    everyone = msnbc_population(masks, n_users=17, set_size=1, padding="in-domain", rng=np.random.default_rng(1))
    assert sorted(everyone.items.ravel().tolist()) == list(range(17))
    rng = np.random.default_rng(14)
    draws = [
        msnbc_population(masks, n_users=2, set_size=1, padding="dummy", rng=rng).items.ravel() for _ in range(4000)
    ]
    assert all(first != second for first, second in draws)
    assert_uniform(np.sort(draws, axis=1), list(itertools.combinations(range(17), 2)))


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("n_users", 4, r"n_users = 4 .*1\.\.3"),
        ("n_users", 0, "n_users = 0"),
        ("set_size", 18, r"set_size = 18 .*1\.\.17"),
        ("padding", "zeros", "padding = 'zeros' .*'in-domain' or 'dummy'"),
    ],
)
def test_msnbc_population_refuses_parameters(name, value, message):
    arguments = {"n_users": 2, "set_size": 2, "padding": "in-domain", name: value}
    with pytest.raises(ParameterError, match=message):
        msnbc_population(masks_of({1}, {2}, {3}), **arguments, rng=np.random.default_rng(1))


@pytest.mark.parametrize("masks", [[1, 0, 2], [1, 1 << 17], [], [[1, 2]]])
def test_msnbc_population_refuses_masks(masks):
    with pytest.raises(DataError, match="mask"):
        msnbc_population(
            np.array(masks, dtype=np.uint32), n_users=1, set_size=1, padding="dummy", rng=np.random.default_rng(1)
        )


def test_matrix_and_population_count_the_same_categories():
    rng = np.random.default_rng(2)
    masks = rng.integers(1, 1 << 17, size=500, dtype=np.uint32)
    population = msnbc_population(masks, n_users=500, set_size=17, padding="dummy", rng=rng)
    assert population.item_counts[:17].tolist() == msnbc_log.masks_to_matrix(masks).sum(axis=0).tolist()


def test_saved_population_is_restored(tmp_path):
    population = make([[0, 3], [3, 9]], label="café №1", source="real")
    save_population(tmp_path / "new" / "p.npz", population)
    loaded = load_population(tmp_path / "new" / "p.npz")
    np.testing.assert_array_equal(loaded.items, population.items)
    assert (loaded.domain_size, loaded.label, loaded.source) == (10, "café №1", "real")
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["p.npz"]


def test_same_population_same_bytes(tmp_path, monkeypatch):
    population = make([[0, 3], [3, 9]])
    save_population(tmp_path / "a.npz", population)
    later = time.localtime(2_000_000_000)
    monkeypatch.setattr(time, "localtime", lambda *_: later)
    monkeypatch.setattr(time, "time", lambda: 2e9)
    save_population(tmp_path / "b.npz", population)
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


def test_population_that_cannot_be_written_leaves_nothing(tmp_path):
    (tmp_path / "taken").mkdir()
    with pytest.raises(DataError, match="cannot be written"):
        save_population(tmp_path / "taken", make([[0]]))
    assert [path.name for path in tmp_path.iterdir()] == ["taken"]


def test_missing_population_is_refused(tmp_path):
    with pytest.raises(DataError, match=r"none\.npz: cannot be read"):
        load_population(tmp_path / "none.npz")


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


def test_other_arrays_are_not_a_population(tmp_path):
    np.savez(tmp_path / "other.npz", x=np.arange(3))
    np.save(tmp_path / "other.npy", np.arange(3))
    for name in ("other.npz", "other.npy"):
        with pytest.raises(DataError, match="not a population"):
            load_population(tmp_path / name)
