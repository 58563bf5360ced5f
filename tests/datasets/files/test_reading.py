"""Files of one's own: every format gives the same users, odd lines are named, and nothing but a sentence comes out."""

import contextlib
import csv
import gzip
import io
import json
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from segshuffle.arrays import NO_ITEM
from segshuffle.datasets.files import reading, streams
from segshuffle.datasets.files.reading import read_items, read_transactions
from segshuffle.datasets.files.rows import Marks
from segshuffle.datasets.layout import Layout
from segshuffle.datasets.msnbc_log import USERS_PER_CATEGORY, USERS_PER_SET_SIZE
from segshuffle.datasets.transactions import Transactions
from segshuffle.errors import DataError, ParameterError

USERS = {"u1": ["whole milk", "café"], "u2": ["rolls/buns"], "u10": ["café", "rolls/buns", "soda"]}
LEVELS = {"u1": 0.5, "u2": 2.0, "u10": 0.5}


def rows():
    return [(user, item, LEVELS[user]) for user, items in USERS.items() for item in items]


def lists():
    return [{"user": user, "items": items, "level": LEVELS[user]} for user, items in USERS.items()]


def held(users):
    return [{users.name(code) for code in row if code != NO_ITEM} for row in users.rows().tolist()]


def text_of(name):
    """The users as a text file."""
    long = [",".join(map(str, row)) for row in rows()]
    wide = [[user, *items, *[""] * (3 - len(items)), str(LEVELS[user])] for user, items in USERS.items()]
    items = sorted({item for each in USERS.values() for item in each})
    matrix = [[user, *("1" if item in USERS[user] else "0" for item in items), str(LEVELS[user])] for user in USERS]
    return {
        "long.csv": "\n".join(["user,item,level", *long]),
        "long.tsv": "\n".join(["user,item,level", *long]).replace(",", "\t"),
        "semicolon.csv": "\n".join(["user,item,level", *long]).replace(",", ";"),
        "bare.csv": "\n".join(line.rpartition(",")[0] for line in long),
        "wide.csv": "\n".join(["user,a,b,c,level", *map(",".join, wide)]),
        "matrix.csv": "\n".join([",".join(["user", *items, "level"]), *map(",".join, matrix)]),
        "long.jsonl": "\n".join(json.dumps({"user": u, "item": i, "level": str(v)}) for u, i, v in rows()),
        "lists.jsonl": "\n".join(json.dumps({**each, "level": str(each["level"])}) for each in lists()),
        "baskets.txt": "# shop\n" + "\n".join(", ".join(items) for items in USERS.values()),
    }[name]


LAYOUTS = {
    "long.csv": {"level": "level"},
    "long.tsv": {"level": "level"},
    "semicolon.csv": {"level": "level", "separator": ";"},
    "bare.csv": {"header": False},
    "wide.csv": {"form": "wide", "level": "level"},
    "matrix.csv": {"form": "matrix", "level": "level"},
    "long.jsonl": {"level": "level"},
    "lists.jsonl": {"level": "level"},
    "baskets.txt": {"separator": ","},
}
PACKINGS = {"": bytes, ".gz": gzip.compress, ".zst": lambda content: pa.compress(content, "zstd", asbytes=True)}


def as_expected(users, levels):
    assert held(users) == [set(items) for items in USERS.values()]
    assert list(users.names) == ["café", "rolls/buns", "soda", "whole milk"]
    assert "not private" in users.notes[0]
    assert users.label == "shop"
    if levels:
        assert users.levels.tolist() == [0, 1, 0]


@pytest.mark.parametrize("name", LAYOUTS)
@pytest.mark.parametrize("packing", PACKINGS)
@pytest.mark.parametrize("ends", ["\n", "\r\n"], ids=["lf", "crlf"])
def test_every_text_format_gives_the_same_users(tmp_path, name, packing, ends):
    path = tmp_path / f"shop.{name.partition('.')[2]}{packing}"
    path.write_bytes(
        PACKINGS[packing](b"\xef\xbb\xbf" * (ends == "\n") + (text_of(name) + "\n").replace("\n", ends).encode())
    )
    layout = Layout(**LAYOUTS[name])
    as_expected(read_transactions(path, levels=(0.5, 2.0), layout=layout), layout.level)


@pytest.mark.parametrize("size", [7, 16, 40])
@pytest.mark.parametrize("name", LAYOUTS)
def test_blocks_of_any_size_give_the_same_users(tmp_path, monkeypatch, name, size):
    monkeypatch.setattr(streams, "BLOCK", size)
    monkeypatch.setattr(reading, "_PART", 2)
    path = tmp_path / f"shop.{name.partition('.')[2]}"
    path.write_bytes(text_of(name).encode())
    layout = Layout(**LAYOUTS[name])
    as_expected(read_transactions(path, levels=(0.5, 2.0), layout=layout), layout.level)


def table(kind):
    if kind == "long":
        return pa.table(dict(zip(("user", "item", "level"), zip(*rows(), strict=True), strict=True)))
    return pa.Table.from_pylist(lists())


@pytest.mark.parametrize("kind", ["long", "lists"])
@pytest.mark.parametrize("packing", PACKINGS)
def test_parquet(tmp_path, kind, packing):
    pq.write_table(table(kind), plain := tmp_path / "plain")
    path = tmp_path / f"shop.parquet{packing}"
    path.write_bytes(PACKINGS[packing](plain.read_bytes()))
    as_expected(read_transactions(path, levels=(0.5, 2.0), layout=Layout(level="level")), True)


@pytest.mark.parametrize("make", [table, lambda kind: table(kind).to_pandas(), lambda kind: table(kind).to_reader()])
@pytest.mark.parametrize("kind", ["long", "lists"])
def test_tables_in_memory(make, kind):
    as_expected(read_transactions(make(kind), levels=(0.5, 2.0), layout=Layout(level="level"), label="shop"), True)


def test_tables_with_categories_integers_and_gaps():
    frame = pd.DataFrame({"user": [1, 1, 2], "item": pd.Categorical(["b", "a", "b"])})
    assert held(read_transactions(frame)) == [{"a", "b"}, {"b"}]
    frame = pd.DataFrame({"user": [1, 1, 2], "item": [3.0, 4.0, np.nan]})
    assert held(read_transactions(frame, layout=Layout(empty="keep"))) == [{"3", "4"}, set()]
    with pytest.raises(DataError, match=r"table, row 0.*0\.5 is a decimal number"):
        read_transactions(pd.DataFrame({"user": [1], "item": [0.5]}))
    with pytest.raises(DataError, match="mixed or unknown types"):
        read_transactions(pd.DataFrame({"user": [1, 2], "item": ["a", 7]}))


def test_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(gzip.compress(b"a b\nc\n"))))
    users = read_transactions("-")
    assert held(users) == [{"a", "b"}, {"c"}]
    assert users.label == "standard input"
    assert not sys.stdin.closed


def test_users_that_come_back_are_one(tmp_path):
    path = tmp_path / "shop.csv"
    path.write_text("user,item,level\nu1,b,2\nu2,c,1\nu1,a,2\nu3,a,1\nu2,a,1\n")
    users = read_transactions(path, levels=(1.0, 2.0), layout=Layout(level="level"))
    assert held(users) == [{"a", "b"}, {"a", "c"}, {"a"}]
    assert users.levels.tolist() == [1, 0, 0]
    path.write_text("user,item,level\nu1,b,2\nu2,c,1\nu1,a,1\n")
    with pytest.raises(DataError, match="line 4: level 1, but the same user has 2 on another line"):
        read_transactions(path, levels=(1.0, 2.0), layout=Layout(level="level"))
    path.write_text("user,item\nu1,b\nu2,c\nu1,a\nu2,c\n")
    with pytest.raises(DataError, match="line 5: the user has the item 'c' twice"):
        read_transactions(path)


def test_integers_are_sorted_as_numbers(tmp_path):
    path = tmp_path / "shop.txt"
    path.write_text("10 9\n2 10\n")
    assert list(read_transactions(path).names) == ["2", "9", "10"]
    assert read_transactions(path, domain_size=11).names is None
    assert read_transactions(path, domain_size=10**7).domain_size == 10**7


def test_a_public_list_of_items(tmp_path):
    path, items = tmp_path / "shop.txt", tmp_path / "items.txt"
    path.write_text("a c\nb x\nx\n")
    items.write_text("c\r\n b\na\nd\n")
    users = read_transactions(path, items=items, layout=Layout(unknown="drop"))
    assert (users.names, users.domain_size) == (["c", "b", "a", "d"], 4)
    assert held(users) == [{"a", "c"}, {"b"}, set()]
    assert users.notes == ("2 entries with items that are not in the list were left out.",)
    with pytest.raises(DataError, match=r"line 2: the item 'x' is not allowed; allowed are the 4 of the list .*items"):
        read_transactions(path, items=items)
    for content, says in (
        ("a\n\nb\n", "line 2: blank"),
        ("a\nb\na\n", "line 3: 'a' is on line 1"),
        ("\xff", "line 1: byte"),
    ):
        items.write_bytes(content.encode("latin1"))
        with pytest.raises(DataError, match=says):
            read_items(items)


def test_what_is_counted_once_or_kept_is_said(tmp_path):
    path = tmp_path / "shop.txt"
    path.write_text("a a b\n\nb b b\n")
    users = read_transactions(path, layout=Layout(repeated="merge", empty="keep"))
    assert held(users) == [{"a", "b"}, set(), {"b"}]
    assert users.notes[1:] == ("2 users had an item more than once; it counts once.", "1 lines had no item.")


@pytest.mark.parametrize(
    ("name", "content", "layout", "says"),
    [
        ("a.txt", b"1 2\n1,2\n", {}, r"line 2: the item '1,2' contains ','.*separator"),
        ("a.txt", b"1 2\n# no\n", {}, "line 2: '#': comments may stand at the beginning"),
        ("a.txt", b"1 2\n3 3\n", {}, "line 2: the user has the item '3' twice. Give repeated: merge"),
        ("a.txt", b"1 2\n\n3\n", {}, "line 2: no item. Give empty: keep"),
        ("a.txt", b"1 2\n3 \xff\n", {}, r"line 2: byte 0xff in the item .* is not UTF-8"),
        ("a.txt", b"1 2\n3 a\x00b\n", {}, "line 2: the item .* cannot be shown"),
        ("a.txt", b"", {}, "holds no user"),
        ("a.txt", b"# nothing\n\n", {}, "holds no user"),
        ("a.txt", b"1 2\n", {"item": "x"}, "item = 'x' is for tables"),
        ("a.csv", b"user,item\n", {}, "holds no user"),
        ("a.csv", b"user,item\nu,a\nu,b,c\n", {}, "line 3: 'u,b,c' has 3 columns, but there should be 2: 'user'"),
        ("a.csv", b"user,item\nu,a\n\nv,b\n", {}, "line 3: blank"),
        ("a.csv", b'user,item\nu,"a\nv,b\n', {}, "line 2: .* has a quote that is not closed"),
        ("a.csv", b"user,item\nu,a\rv,b\n", {}, "line 2: has a carriage return"),
        ("a.csv", b"user,item\nu,\n", {}, "line 2: no item"),
        ("a.csv", b"user,item\n,a\n", {}, "line 2: no user"),
        ("a.csv", b"user,item\nu,a\nu,\xe9\n", {}, r"line 3: byte 0xe9 in the item '\\xe9' is not UTF-8"),
        ("a.csv", b"who,what\nu,a\n", {}, r"columns are 'who', 'what'\. Say which hold"),
        ("a.csv", b"user;item\nu;a\n", {}, "Or is the separator ';'"),
        ("a.csv", b"user,item\nu,a\n", {"item": "thing"}, r"there is no column 'thing' \(item\); the columns are"),
        ("a.csv", b"user,item,item\nu,a,b\n", {}, "two columns are called 'item'"),
        ("a.csv", b"user,x,y\nu,1,0\nv,1,2\n", {"form": "matrix"}, "line 3: '2' in column 'y'; in form matrix"),
        ("a.csv", b"user,item,level\nu,a,3\n", {"level": "level"}, "line 2: '3' is not a level"),
        ("a.csv", b"user,item,level\nu,a,\n", {"level": "level"}, "line 2: no level"),
        ("a.csv", b"user,item,level\nu,a,2\nu,b,0.5\n", {"level": "level"}, "line 3: level 0.5, but the same user has"),
        ("a.jsonl", b'{"user":1,"item":"a"}\n{"user":2,"item":}\n', {}, "line 2: .* is not JSON"),
        ("a.jsonl", b'{"user":1,"item":"a"}\n{"user":2}\n', {}, "line 2: (there is no key|no item)"),
        ("a.jsonl", b'{"user":1,"item":"a"}\n{"user":2,"item":1.5}\n', {}, "line 2: 'item' holds '1.5'"),
        ("a.jsonl", b'{"user":1,"item":["a"]}\n{"user":2,"item":"b"}\n', {}, "line 2: 'item' is .*, but a list"),
        ("a.jsonl", b'[{"user":1}]\n', {}, "line 1: .* is no object"),
        ("a.jsonl", b'{"user":1,"item":"\xff"}\n', {}, "line 1: byte 0xff"),
        ("a.jsonl", b'{"user":1,"item":"\\ud800"}\n', {}, "line 1"),
        ("a.jsonl", b'{"user":1,"item":"a"}\n{"user":1.5,"item":"\\ud800"}\n', {}, "line 2"),
        ("a.parquet", b"PAR1 no", {}, "not a whole Parquet file"),
        ("a.csv", gzip.compress(b"user,item\nu,a\n" * 9, mtime=0)[:-9], {}, "damaged or end early"),
        ("a.csv", b"PK\x03\x04....", {}, "zip archive"),
        ("a.csv", "user,item\nu,a\n".encode("utf-16"), {}, "UTF-16"),
    ],
)  # fmt: skip
def test_bad_input_is_one_sentence_with_the_line(tmp_path, name, content, layout, says):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(DataError, match=says) as caught:
        read_transactions(path, levels=(0.5, 2.0), layout=Layout(**layout))
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


def test_numbers_and_texts_in_one_column_of_json_are_texts(tmp_path):
    path = tmp_path / "shop.jsonl"
    path.write_text('{"user":1,"item":"a"}\n{"user":"x","item":3}\n{"user":1,"item":3}\n')
    assert held(read_transactions(path)) == [{"a", "3"}, {"3"}]


def test_far_more_items_than_were_announced(tmp_path):
    path = tmp_path / "shop.txt"
    path.write_text("\n".join(map(str, range(100_000))))
    with pytest.raises(
        DataError,
        match=r"line 1001: the item '1000' is not allowed; allowed are the integers 0\.\.999.*a larger domain_size",
    ):
        read_transactions(path, domain_size=1000)
    assert read_transactions(path).domain_size == 100_000


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"domain_size": 0}, "domain_size"),
        ({"domain_size": 10**7 + 1}, "domain_size"),
        ({"domain_size": 3, "items": ["a"]}, "left out"),
        ({"items": []}, "items"),
        ({"items": ["a", "a"]}, "there twice"),
        ({"layout": Layout(level="level")}, "on offer"),
        ({"layout": Layout(unknown="drop")}, "'refuse'"),
    ],
)
def test_options_that_are_refused(options, says):
    with pytest.raises((ParameterError, DataError), match=says):
        read_transactions(io.BytesIO(b"a\n"), **options)


@pytest.mark.parametrize("wrong", [{"format": "xml"}, {"repeated": None}, {"separator": "::"}, {"skip_lines": -1}])
def test_layouts_that_are_refused(wrong):
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        Layout(**wrong)


def test_missing_files_and_folders_are_refused(tmp_path):
    for path in (tmp_path / "none.txt", tmp_path, "a\0b"):
        with pytest.raises(DataError, match="cannot be read"):
            read_transactions(path)


def test_marks_tell_names_apart():
    """Equal marks only for equal names, whatever is before and behind them; blanks are characters."""
    names = ["", "a", "b", "ab", "ba", "a\0", "\0a", "\0", "aa", "aaa", "ü", "x" * 5000, "x" * 4999, "ab"]
    marks = Marks().of(pa.array(["ignored", *names]).cast(pa.binary()).slice(1))
    assert len(set(marks.tolist())) == len(names) - 1
    assert marks[3] == marks[-1]
    assert Marks().of(pa.array([], pa.binary())).size == 0


# --- against a reader that is nothing but loops ---------------------------------------------------------------------

NAMES = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cc", "Z"], exclude_characters='",;|#'), min_size=1, max_size=5
)


@pytest.mark.quick(0)
@given(
    st.lists(st.tuples(st.sampled_from(["u", "v", "w", "", "ü"]), NAMES), min_size=1, max_size=30), st.integers(5, 60)
)
def test_long_csv_against_loops(entries, size):
    expected = {}
    for user, item in entries:
        expected.setdefault(user, []).append(item)
    text = "user,item\n" + "".join(f"{user},{item}\n" for user, item in entries)
    nobody = next((number for number, (user, _) in enumerate(entries, start=2) if not user), None)
    refused = contextlib.nullcontext() if nobody is None else pytest.raises(DataError, match=f"line {nobody}: no user")
    with pytest.MonkeyPatch.context() as patch, refused:
        patch.setattr(streams, "BLOCK", size)
        users = read_transactions(io.BytesIO(text.encode()), layout=Layout(format="csv", repeated="merge"))
        assert held(users) == [set(items) for items in expected.values()]
        again = sum(len(set(items)) < len(items) for items in expected.values())
        assert (f"{again} users had" in " ".join(users.notes)) == bool(again)


QUOTED = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Z"]), min_size=1, max_size=4)


def written(kind, sets):
    """Users u0, u1, ... as the standard library writes them, in one format."""
    named = [(f"u{number}", sorted(items)) for number, items in enumerate(sets)]
    if kind == "lists.jsonl":
        return "".join(json.dumps({"user": user, "items": items}) + "\n" for user, items in named)
    if kind == "long.jsonl":
        return "".join(json.dumps({"item": item, "user": user}) + "\n" for user, items in named for item in items)
    rows = [[user, item] for user, items in named for item in items]
    if kind == "wide.csv":
        width = max(map(len, sets))
        rows = [[user, *items, *[""] * (width - len(items))] for user, items in named]
    csv.writer(sink := io.StringIO(), delimiter="\t" if kind == "long.tsv" else ",", lineterminator="\n").writerows(
        rows
    )
    return sink.getvalue()


@pytest.mark.parametrize("kind", ["long.csv", "long.tsv", "wide.csv", "long.jsonl", "lists.jsonl"])
@given(sets=st.lists(st.sets(QUOTED, min_size=1, max_size=4), min_size=1, max_size=8), size=st.integers(5, 60))
def test_what_the_standard_library_writes_is_read(kind, sets, size):
    """Names with quotes, separators and any letters, in blocks of any size."""
    layout = {"header": False, "user": "1"} if kind.endswith("sv") else {}
    layout |= {"form": "wide"} if kind == "wide.csv" else {"item": "2"} if layout else {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(streams, "BLOCK", size)
        stream = io.BytesIO(written(kind, sets).encode())
        assert held(read_transactions(stream, layout=Layout(format=kind.partition(".")[2], **layout))) == sets


# --- anything at all ------------------------------------------------------------------------------------------------

PIECES = {
    "csv": [b"user,item\n", b"u", b"v", b"a", b",", b"\n", b"\r\n", b"\r", b'"', b"\xff", b"\0", b"\xef\xbb\xbf", b" "],
    "tsv": [b"user\titem\n", b"u", b"a", b"\t", b"\n", b'"', b"\xff", b"\0"],
    "jsonl": [
        b'{"user":1,"item":"a"}',
        b'{"user":"u","item":["a","b"]}',
        b"\n",
        b'{"user"',
        b":",
        b"null",
        b"}",
        b"[",
        b"\\ud800",
    ],
    "lines": [b"1", b"a", b" ", b",", b"\n", b"\r", b"#", b"\xff", b"\xc3", b"\t", b"\0"],
    "parquet": [b"PAR1", b"\0\0\0\0", b"\x15\x04", b"PAR1"],
}


@pytest.mark.parametrize("kind", PIECES)
@given(data=st.data(), size=st.integers(1, 50), packed=st.booleans())
def test_arbitrary_files_raise_nothing_but_data_error(kind, data, size, packed):
    pieces = st.lists(st.sampled_from(PIECES[kind]), max_size=25).map(b"".join)
    content = data.draw(st.one_of(st.binary(max_size=60), pieces))
    if packed:
        content = gzip.compress(content)[: len(content) * 2]
    with pytest.MonkeyPatch.context() as patch, contextlib.suppress(DataError):
        patch.setattr(streams, "BLOCK", size)
        users = read_transactions(io.BytesIO(content), layout=Layout(format=kind, repeated="merge", empty="keep"))
        assert isinstance(users, Transactions)
        assert users.n_users >= 1


@pytest.mark.parametrize("kind", ["long", "lists"])
@given(place=st.integers(0, 10**6), value=st.integers(0, 255))
def test_damaged_parquet_raises_nothing_but_data_error(kind, place, value):
    pq.write_table(table(kind), sink := io.BytesIO())
    content = bytearray(sink.getvalue())
    content[place % len(content)] = value
    with contextlib.suppress(DataError):
        assert isinstance(read_transactions(io.BytesIO(bytes(content))), Transactions)


@pytest.mark.exhaustive
def test_many_rows_are_read_in_bounded_memory(tmp_path):
    """A million users, five million rows, packed: less than 24 bytes a row beside the interpreter and its libraries."""
    path = tmp_path / "shop.csv.gz"
    with gzip.open(path, "wb", compresslevel=1) as stream:
        stream.write(b"user,item\n")
        for start in range(0, 10**6, 10**5):
            lines = (
                f"u{user},item-{(user * 7 + k * k * 13) % 1000}\n"
                for user in range(start, start + 10**5)
                for k in range(5)
            )
            stream.write("".join(lines).encode())
    code = """
import resource, sys
from segshuffle.datasets.files.reading import read_transactions
from segshuffle.datasets.layout import Layout
from segshuffle.datasets.msnbc_log import USERS_PER_CATEGORY, USERS_PER_SET_SIZE
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
users = read_transactions(sys.argv[1], layout=Layout(repeated="merge"))
print(users.n_users, users.domain_size, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True)
    n_users, domain_size, kilobytes = map(int, done.stdout.split())
    assert (n_users, domain_size) == (10**6, 1000)
    # blocks in flight take about 200 MB, whatever the size of the file
    assert kilobytes * 1024 < 24 * 5 * 10**6 + 250 * 2**20


@pytest.mark.skipif("SEGSHUFFLE_GROCERIES" not in os.environ, reason="the shop's baskets are not here")
def test_the_baskets_of_a_shop():
    users = read_transactions(os.environ["SEGSHUFFLE_GROCERIES"])
    assert (users.n_users, users.domain_size, users.codes.size, users.largest_set) == (9835, 169, 43367, 32)
    assert users.name(int(users.item_counts.argmax())) == "whole milk"


@pytest.mark.skipif(not os.environ.get("SEGSHUFFLE_MSNBC"), reason="the MSNBC log is not here")
def test_the_msnbc_log_as_it_is():
    """Users per category against the published ones."""
    layout = Layout(format="lines", skip_lines=7, repeated="merge")
    users = read_transactions(os.environ["SEGSHUFFLE_MSNBC"], layout=layout)
    assert tuple(users.item_counts.tolist()) == USERS_PER_CATEGORY
    assert tuple(np.bincount(users.sizes)[1:].tolist()) == USERS_PER_SET_SIZE
