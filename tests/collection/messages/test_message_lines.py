"""Messages as lines: counted as Python reads them one after another, and garbage refused by line and value."""

import io
import itertools
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from segshuffle.collection.messages.message_lines import read_counts
from segshuffle.errors import DataError

D = 6


@given(st.lists(st.one_of(st.integers(-3, 9).map(str), st.text(alphabet="+-0123 \r,x٣", max_size=4)), max_size=30))
def test_lines_are_counted_or_named(lines):
    """Lines are also read one after another, by Python's own rules."""
    content = "".join(f"{line}\n" for line in lines).encode()
    read = [line.decode().removesuffix("\r") for line in content.split(b"\n")[:-1]]
    good = [line for line in read if line in {str(item) for item in range(D)}]
    found = read_counts(io.BytesIO(content), "f", D, drop=True)
    assert found.counts.tolist() == [good.count(str(item)) for item in range(D)]
    assert (found.messages, found.dropped) == (len(good), len(read) - len(good))
    if found.dropped:
        first = next(number for number, line in enumerate(read, start=1) if line not in good)
        with pytest.raises(DataError, match=f"f, line {first}: .*--unknown drop"):
            read_counts(io.BytesIO(content), "f", D)


@given(st.lists(st.integers(-5, 10**12), min_size=D, max_size=D))
def test_counts_are_read_back(counts):
    signed = min(counts) < 0
    text = "item,count\n" + "".join(f"{item},{count}\n" for item, count in enumerate(counts))
    found = read_counts(io.BytesIO(text.encode()), "f", D, signed=signed)
    assert found.counts.tolist() == counts


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("item,count\n1,2\n1,3\n", "f: 0 lines for item 0; every item"),
        ("1\n2\n".encode("utf-16"), "f: this is text in UTF-16: convert it by iconv -f utf-16"),
        ("1\n2\n".encode("utf-16-le"), "f: this is text in UTF-16"),
        ("item,count\n1;2\n", "line 2: '1;2' is no line ITEM,COUNT"),
        ("item,count\n6,2\n", r"an item in 0\.\.5"),
        ("item,count\n0,1\n1,1\n2,1\n4,1\n5,1\n", r"f: 0 lines for item 3; every item in 0\.\.5 needs one"),
        ("item,count\n0,1\n1,1\n1,1\n2,1\n3,1\n4,1\n5,1\n", "f: 2 lines for item 1; every item"),
        ("item,count\n1,-2\n", "as count an integer >= 0"),
        ("item,count\n0,1\n1,1\n2,1\n3,1\n4,1\n5,12", "f: the last line, '5,12', does not end: was the file cut off"),
        ("1\n2", "f: the last line, '2', does not end: was the file cut off"),
        ("1\n\n2\n", "line 2: '' is no message"),
        ("1\n2\n7\n", "line 3: '7' is no message"),
        ("1\n02\n", "line 2: '02' is no message"),
    ],
)
def test_what_is_no_message_is_refused_by_its_line(content, says):
    with pytest.raises(DataError, match=f"f, {says}" if says.startswith("line") else says):
        read_counts(io.BytesIO(content if isinstance(content, bytes) else content.encode()), "f", D)


def test_an_input_without_end_is_refused():
    for header, line in ((b"1\n", b"1\n"), (b"item,count\n", b"1,2\n")):
        parts = itertools.chain([header], itertools.repeat(line * 10**5))
        endless = SimpleNamespace(read=lambda size, parts=parts: next(parts))
        with pytest.raises(DataError, match="f: has more than 1000 lines, ten times what the users of this plan"):
            read_counts(endless, "f", D, 1000)
