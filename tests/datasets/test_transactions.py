"""A user's own data: what is read, and what is refused with which words."""

import contextlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from segshuffle.datasets.population import Population
from segshuffle.datasets.transactions import read_transactions
from segshuffle.errors import DataError, ParameterError


def test_file_with_spaces_commas_tabs_and_comments(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_bytes(b"\xef\xbb\xbf# my users\r\n3 1\r\n4,  2\r\n 0\t9 \r\n\r\n\r\n")
    population = read_transactions(path)
    assert population.items.tolist() == [[1, 3], [2, 4], [0, 9]]
    assert (population.domain_size, population.label, population.source) == (10, "mine", "real")
    assert read_transactions(str(path), domain_size=20, label="shop").label == "shop"
    assert read_transactions(str(path), domain_size=20).domain_size == 20


def test_lines():
    population = read_transactions(["0 1\n", "1 2"], domain_size=3)
    assert population.items.tolist() == [[0, 1], [1, 2]]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["0 1", "2 5"], r"line 2: '5' is not an item; allowed are the integers 0\.\.4"),
        (["0 -1"], "line 1: '-1' is not an item"),
        (["# c", "0 x"], "line 2: 'x' is not an item"),
        (["0 1.0"], "'1.0' is not an item"),
        (["0 1_0"], "'1_0' is not an item"),
        (["0 ٣"], "'٣' is not an item"),
        (["1,,2"], "'' is not an item"),
        (["9" * 5000], "'9{37}...' is not an item"),
        (["0 1", "2"], "line 2: 1 items, but line 1 has 2"),
        (["0 1", "3 3"], "line 2: item 3 is there twice"),
        (["0 1", "", "2 3"], "line 2: blank"),
        ([], "holds no user"),
        (["", "# nothing"], "holds no user"),
    ],
)
def test_malformed_lines_are_refused(lines, message):
    with pytest.raises(DataError, match=r"^<lines>") as caught:
        read_transactions(lines, domain_size=5)
    assert caught.match(message)


def test_item_beyond_the_largest_domain_is_refused_without_a_domain_size():
    assert read_transactions(["32766"]).domain_size == 32767
    with pytest.raises(DataError, match=r"'32767' is not an item; allowed are the integers 0\.\.32766"):
        read_transactions(["32767"])


def test_file_that_is_not_text_is_refused(tmp_path):
    path = tmp_path / "mine.txt"
    path.write_bytes(b"1 2\n\x1f\x8b\x08")
    with pytest.raises(DataError, match=r"mine\.txt, line 2: byte 0x8b is not text"):
        read_transactions(path)


def test_missing_file_and_folder_are_refused(tmp_path):
    for path in (tmp_path / "none.txt", tmp_path):
        with pytest.raises(DataError, match="cannot be read"):
            read_transactions(path)
    with pytest.raises(DataError, match="cannot be read"):
        read_transactions("a\0b")


@pytest.mark.parametrize("domain_size", [0, -1, 40_000, 1.5])
def test_bad_domain_size_is_refused(domain_size):
    with pytest.raises(ParameterError, match="domain_size = "):
        read_transactions(["0"], domain_size=domain_size)


@given(
    st.one_of(
        st.binary(max_size=60),
        st.lists(st.sampled_from([b"0", b"12", b" ", b",", b"\n", b"\r\n", b"#", b"-", b"40000", b"\t"])).map(b"".join),
    )
)
def test_arbitrary_files_raise_nothing_but_data_error(tmp_path_factory, content):
    path: Path = tmp_path_factory.getbasetemp() / "fuzz.txt"
    path.write_bytes(content)
    with contextlib.suppress(DataError):
        assert isinstance(read_transactions(path), Population)
