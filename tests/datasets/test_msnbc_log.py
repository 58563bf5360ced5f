"""The parser of the MSNBC file, on hand-made files and on the real one."""

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from segshuffle.datasets import msnbc, msnbc_log
from segshuffle.datasets.archive import read_sessions_file
from segshuffle.errors import DataError

HEADER = (
    b"% Different categories found in input file:\r\n\r\n"
    + " ".join(msnbc_log.CATEGORIES).encode()
    + b"\r\n\r\n\r\n% Sequences:\r\n\r\n"
)


def real_file():
    given_path = os.environ.get("SEGSHUFFLE_MSNBC")
    default = Path(__file__).parents[2].parent / "shared" / "data" / "msnbc990928.seq.gz"
    return Path(given_path) if given_path else default


@pytest.fixture(scope="module")
def real_masks():
    path = real_file()
    if not path.is_file():
        pytest.skip("the real MSNBC file is not here; set SEGSHUFFLE_MSNBC to its path")
    return msnbc_log.parse_sessions(read_sessions_file(path))


def test_constants_agree_with_each_other():
    assert sum(msnbc_log.USERS_PER_SET_SIZE) == msnbc.N_SESSIONS
    assert (
        len(msnbc_log.CATEGORIES)
        == len(msnbc_log.USERS_PER_CATEGORY)
        == len(msnbc_log.USERS_PER_SET_SIZE)
        == msnbc.DOMAIN_SIZE
    )
    # Both marginals count the pairs (user, distinct category).
    pairs = sum(size * users for size, users in enumerate(msnbc_log.USERS_PER_SET_SIZE, start=1))
    assert pairs == sum(msnbc_log.USERS_PER_CATEGORY)


def test_real_file_has_the_published_counts(real_masks):
    assert real_masks.dtype == np.uint32
    assert real_masks.shape == (msnbc.N_SESSIONS,)
    assert tuple(np.bincount(msnbc_log.set_sizes(real_masks))[1:]) == msnbc_log.USERS_PER_SET_SIZE
    assert tuple(msnbc_log.masks_to_matrix(real_masks).sum(axis=0)) == msnbc_log.USERS_PER_CATEGORY


def test_real_file_begins_as_read_by_eye(real_masks):
    # Sessions "1 1", "2", "3 2 2 4 2 2 2 3 3", "5"; the last one is "6", without a newline.
    assert real_masks[:4].tolist() == [1, 2, 2 + 4 + 8, 16]
    assert real_masks[-1] == 1 << 5


@pytest.mark.parametrize("newline", [b"\r\n", b"\n"])
@pytest.mark.parametrize("space", [b" ", b""])
@pytest.mark.parametrize("end", [b"", b"\n", b"\r\n\r\n"])
def test_line_ends_trailing_spaces_and_final_newline_do_not_matter(newline, space, end):
    lines = [b"1 1", b"17", b"3 2 2 10 3"]
    raw = HEADER.replace(b"\r\n", newline) + newline.join(line + space for line in lines) + end
    assert msnbc_log.parse_sessions(raw).tolist() == [1, 1 << 16, 4 + 2 + (1 << 9)]


def test_helpers_on_a_small_example():
    masks = np.array([0b1, 0b101, (1 << 17) - 1], dtype=np.uint32)
    assert msnbc_log.set_sizes(masks).tolist() == [1, 2, 17]
    matrix = msnbc_log.masks_to_matrix(masks)
    assert matrix.shape == (3, 17)
    assert matrix.sum(axis=0).tolist() == [3, 1, 2, *[1] * 14]


@pytest.mark.parametrize(
    ("body", "line", "shown"),
    [
        (b"1\r\n18 \r\n", 9, "'18'"),
        (b"0", 8, "'0'"),
        (b"1\n2\n3 117 4", 10, "'117'"),
        (b"1 \n2 01", 9, "'01'"),
        (b"1 -2", 8, "'-2'"),
        (b"1 2.5", 8, "'2.5'"),
        (b"1\n2\nnews 3", 10, "'news'"),
        (b"1\t2", 8, r"'1\\t2'"),
        (b"1\r2\n3", 8, r"'1\\r2'"),
        (b"1 \xff\n", 8, r"'\\xff'"),
        (b"1\n\n2", 9, "empty session"),
        (b"1\r\n \r\n2", 9, "empty session"),
        (b"\r\n1\r\n2", 8, "empty session"),
        (b"  \r\n1", 8, "empty session"),
    ],
)
def test_malformed_session_is_refused_with_line_and_value(body, line, shown):
    with pytest.raises(DataError) as caught:
        msnbc_log.parse_sessions(HEADER + body, source="mine.seq")
    assert f"mine.seq, line {line}:" in str(caught.value)
    assert shown.replace("\\\\", "\\") in str(caught.value).replace("\\\\", "\\")


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"", "no line '% Sequences:'"),
        (b"1 2\n3\n", "no line '% Sequences:'"),
        (b"x % Sequences:\n1\n", "no line '% Sequences:'"),
        (b"% Sequences:\n\n1\n", "header has 0 lines"),
        (HEADER.replace(b"frontpage news", b"news frontpage") + b"1", "line 3: 'news frontpage"),
        (HEADER.replace(b"% Diff", b"Diff") + b"1", "line 1: 'Different"),
        (HEADER.replace(b"% Sequences:", b"another line\n% Sequences:") + b"1", "header has 3 lines"),
        (HEADER.replace(b"% Sequences:", b"% Sequences: 1 2") + b"1", "line 6: '% Sequences: 1 2'"),
        (HEADER, "no session follows"),
        (HEADER.rstrip(), "no session follows"),
    ],
)
def test_malformed_header_is_refused(raw, message):
    with pytest.raises(DataError, match=r"^msnbc990928\.seq") as caught:
        msnbc_log.parse_sessions(raw)
    assert message in str(caught.value)


@given(st.binary(max_size=300))
def test_arbitrary_bytes_raise_nothing_but_data_error(raw):
    with pytest.raises(DataError):
        msnbc_log.parse_sessions(raw)


def slow_parse(body):
    """Parse session lines one by one; None if malformed."""
    masks = []
    for line in body.rstrip(b" \r\n").split(b"\n"):
        tokens = [token for token in line.removesuffix(b"\r").split(b" ") if token]
        if not tokens or not all(token in {str(c).encode() for c in range(1, 18)} for token in tokens):
            return None
        masks.append(sum({1 << (int(token) - 1) for token in tokens}))
    return masks


fragments = st.sampled_from(
    [b"1", b"7", b"10", b"17", b"2 ", b" ", b"\n", b"\r\n", b"3 \r\n", b"16\n", b"0", b"18", b"\r", b"x", b"\x00"]
)


@given(st.lists(fragments, max_size=12).map(b"".join))
def test_vectorised_parser_agrees_with_a_slow_one(body):
    expected = slow_parse(body)
    raw = HEADER + body
    if expected is None:
        with pytest.raises(DataError):
            msnbc_log.parse_sessions(raw)
    else:
        assert msnbc_log.parse_sessions(raw).tolist() == expected
