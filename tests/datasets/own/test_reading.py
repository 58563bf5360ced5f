"""Files of one's own: every format gives the same users, odd lines are named, and errors are one sentence."""

import bz2
import csv
import gzip
import io
import json
import lzma
import os
import subprocess
import sys
import unicodedata

import pandas as pd
import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from segshuffle.arrays import NO_ITEM
from segshuffle.datasets.own.layout import Layout, read_items
from segshuffle.datasets.own.reading import read_transactions, users_of
from segshuffle.errors import DataError, ParameterError

USERS = {"u1": ["whole milk", "café"], "u2": ["rolls/buns"], "u10": ["café", "rolls/buns", "soda"]}
LEVELS = {"u1": 0.5, "u2": 2.0, "u10": 0.5}
LONG = [f"{user},{item},{LEVELS[user]}" for user, items in USERS.items() for item in items]
LISTS = [{"user": user, "items": items, "level": LEVELS[user]} for user, items in USERS.items()]
TEXTS = {
    "long.csv": (["user,item,level", *LONG], {"level_column": "level"}),
    "long.tsv": ([line.replace(",", "\t") for line in ("user,item,level", *LONG)], {"level_column": "level"}),
    "semicolon.csv": (
        [line.replace(",", ";") for line in ("user,item,level", *LONG)],
        {"level_column": "level", "separator": ";"},
    ),
    "bare.csv": ([line.rpartition(",")[0] for line in LONG], {"header": False, "item": "2"}),
    "wide.csv": (
        ["user,a,b,c,level", "u1,whole milk,café,,0.5", "u2,,rolls/buns, ,2.0", "u10,café,rolls/buns,soda,0.5"],
        {"form": "wide", "level_column": "level"},
    ),
    "matrix.csv": (
        ["user,soda,café,whole milk,rolls/buns,level", "u1,0,1,Yes,,0.5", "u2,no,0,0,1,2.0", "u10,1,1,0,true,0.5"],
        {"form": "matrix", "level_column": "level"},
    ),
    "long.jsonl": (
        [json.dumps(dict(zip(("user", "item", "level"), line.split(","), strict=True))) for line in LONG],
        {"level_column": "level"},
    ),
    "lists.jsonl": ([json.dumps(each) for each in LISTS], {"level_column": "level"}),
    "baskets.txt": (["# shop", *(", ".join(items) for items in USERS.values())], {"separator": ",", "skip_lines": 1}),
}


def held(users):
    return [{users.name(code) for code in row if code != NO_ITEM} for row in users.rows().tolist()]


def as_expected(users, levels):
    assert held(users) == [set(items) for items in USERS.values()]
    assert list(users.names) == ["café", "rolls/buns", "soda", "whole milk"]
    assert "3 users, 4 items, at most 3 of them" in users.notes[0]
    assert "not private" in users.notes[1]
    assert users.label == "shop"
    if levels:
        assert users.levels.tolist() == [0, 1, 0]


def write(path, lines, packing="", ends="\n"):
    """Write lines to a file, packed under whatever name it has."""
    if packing == "zstd":
        frame = pl.DataFrame({"line": lines})
        frame.write_csv(path, include_header=False, quote_style="never", line_terminator=ends, compression="zstd")
    else:
        content = "".join(line + ends for line in lines).encode()
        path.write_bytes(gzip.compress(content) if packing else content)
    return path


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize(("packing", "ends"), [("", "\r\n"), ("gzip", "\n"), ("zstd", "\n")])
def test_every_text_format_gives_the_same_users(tmp_path, name, packing, ends):
    lines, layout = TEXTS[name]
    marked = ["\ufeff" + lines[0], *lines[1:]] if ends == "\r\n" else lines
    ending = name.partition(".")[2] + (".zst" if packing == "zstd" else "")  # gzip is known by its content
    path = write(tmp_path / f"shop.{ending}", marked, packing, ends)
    as_expected(read_transactions(path, levels=(0.5, 2.0), layout=Layout(**layout)), "level_column" in layout)


def table(kind):
    if kind == "lists":
        return pl.DataFrame(LISTS)
    user, item, level = zip(*(line.split(",") for line in LONG), strict=True)
    return pl.DataFrame({"user": user, "item": item, "level": list(map(float, level))})


@pytest.mark.parametrize("kind", ["long", "lists"])
def test_parquet_and_tables_in_memory(tmp_path, kind):
    table(kind).write_parquet(path := tmp_path / "shop.pq")
    columns = {name: column.to_list() for name, column in table(kind).to_dict().items()}
    for data in (path, io.BytesIO(path.read_bytes()), table(kind), pd.DataFrame(columns)):
        users = read_transactions(
            data, levels=(0.5, 2.0), layout=Layout(level_column="level", format="parquet"), label="shop"
        )
        as_expected(users, True)


def test_tables_with_categories_integers_and_gaps():
    frame = pd.DataFrame({"user": [1, 1, 2], "item": pd.Categorical(["b", "a", "b"])})
    assert held(read_transactions(frame)) == [{"a", "b"}, {"b"}]
    frame = pd.DataFrame({"user": [1, 1, 2], "item": pd.array([3, 4, None], dtype="Int64")})
    assert held(read_transactions(frame, layout=Layout(empty="keep"))) == [{"3", "4"}, set()]
    for series in (
        pd.DataFrame({"user": [1, 1, 2], "item": ["b", "a", "b"]}).groupby("user")["item"].agg(list),
        pl.Series("items", [["b", "a"], ["b"]]),
    ):
        assert held(read_transactions(series)) == [{"a", "b"}, {"b"}]
    frame = pd.DataFrame({"a": [1.0, 0.0], "b": [1.0, 1.0]})
    assert held(read_transactions(frame, layout=Layout(form="matrix"))) == [{"a", "b"}, {"b"}]
    for other in (pl.LazyFrame({"user": [1]}), [[1]], 5, None):
        with pytest.raises(ParameterError, match=r"data .* must be a file, a binary stream, or a table of Polars"):
            read_transactions(other)
    with pytest.raises(DataError, match="mixed or unknown types"):
        read_transactions(pd.DataFrame({"user": [1, 2], "item": ["a", 7]}))


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame([[1, 0, 1]], columns=["milk", "tea", "milk"]),
        pd.DataFrame([[1, 0]], columns=[1, "1"]),
        pd.DataFrame([[1, 0]], columns=["milk", " milk"]),
        pl.DataFrame({"milk": [1], "milk ": [0]}),
    ],
)
def test_columns_of_equal_names_are_refused(frame):
    with pytest.raises(DataError, match=r"table: two columns are called '(milk|1)'; rename one"):
        read_transactions(frame, layout=Layout(form="matrix"))


def test_what_is_proposed_for_a_table_can_be_done():
    """Whoever gives a table to `rehearse` or `simulate` has no options of a layout there."""
    frame = pd.DataFrame({"who": ["u", "v"], "what": ["a", "b"]})
    with pytest.raises(
        DataError, match=r"Give item = COLUMN.*give what read_transactions\(table, .*layout=Layout"
    ) as said:
        users_of(frame, ["a", "b"])
    assert "segshuffle.Layout" in str(said.value)
    users = read_transactions(frame, items=["a", "b"], layout=Layout(user="who", item="what"))
    assert users_of([["a"], ["b"]], ["a", "b"]).codes.tolist() == users.codes.tolist()


@pytest.mark.parametrize("make", [pl.DataFrame, pd.DataFrame])
def test_what_is_missing_is_the_same_in_all_tables(make):
    nan = float("nan")
    users = read_transactions(make({"a": [1.0, nan], "b": [nan, 1.0]}), layout=Layout(form="matrix"))
    assert held(users) == [{"a"}, {"b"}]
    frame = make({"user": ["u", "u", "v"], "item": ["a", None, "b"]})
    assert held(read_transactions(frame, layout=Layout(empty="keep"))) == [{"a"}, {"b"}]
    with pytest.raises(DataError, match=r"row 0 \(from 0\): the item 'NaN' looks like a missing value"):
        read_transactions(make({"user": ["u"], "item": ["NaN"]}))
    with pytest.raises(DataError, match=r"row 1 \(from 0\): no user, or no text as the user"):
        read_transactions(make({"user": ["u", None], "item": ["a", "b"]}))


def test_blanks_around_quotes_are_no_part_of_a_name(tmp_path):
    lines = ["user,item", 'u, "a, b"', 'v,\t"a, b" ', 'w,"a, b"', 'x,"a ""b"", c"', 'y , " "', "z, a"]
    users = read_transactions(
        write(tmp_path / "shop.csv", lines), layout=Layout(empty="keep"), items=["a, b", 'a "b", c', "a"]
    )
    assert held(users) == [{"a, b"}, {"a, b"}, {"a, b"}, {'a "b", c'}, set(), {"a"}]


def test_a_line_without_end_is_refused_in_little_memory(tmp_path):
    """A small packed file may be one line of many gigabytes."""
    with gzip.open(tmp_path / "long.txt.gz", "wb", compresslevel=1) as file:
        file.write(b"a\n")
        for _ in range(40):
            file.write(b"b" * 2**21)
    with pytest.raises(DataError, match="line 2: has more than 67108864 bytes, the most of a line"):
        read_transactions(tmp_path / "long.txt.gz", layout=Layout(format="lines"))


def test_standard_input_and_pipes(monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(gzip.compress(b"a b\nc\n"))))
    users = read_transactions("-")
    assert held(users) == [{"a", "b"}, {"c"}]
    assert users.label == "standard input"
    assert not sys.stdin.closed
    os.mkfifo(tmp_path / "pipe.csv")
    writer = subprocess.Popen(["sh", "-c", f"printf 'user,item\\nu,a\\nu,a\\n' > {tmp_path / 'pipe.csv'}"])
    with pytest.raises(DataError, match=r"pipe\.csv, line 3: the user has the item 'a' twice"):
        read_transactions(tmp_path / "pipe.csv")
    assert writer.wait() == 0


def test_users_that_come_back_are_one(tmp_path):
    path = write(tmp_path / "shop.csv", ["user,item,level", "u1,b,2", "u2,c,1", "u1,a,2", "u3,a,1", "u2,a,1"])
    users = read_transactions(path, levels=(1.0, 2.0), layout=Layout(level_column="level"))
    assert held(users) == [{"a", "b"}, {"a", "c"}, {"a"}]
    assert users.levels.tolist() == [1, 0, 0]


def test_integers_are_sorted_as_numbers(tmp_path):
    path = write(tmp_path / "shop.txt", ["10 9", "2 10", "9"])
    assert list(read_transactions(path).names) == ["2", "9", "10"]
    assert read_transactions(path, domain_size=11).names is None
    assert read_transactions(path, domain_size=10**7).domain_size == 10**7


def test_a_public_list_of_items(tmp_path):
    path = write(tmp_path / "shop.txt", ["a c", "b x", "x"])
    items = write(tmp_path / "items.txt", ["c\r", " b", "a", "d"])
    users = read_transactions(path, items=items, layout=Layout(unknown="drop"))
    assert (users.names, users.domain_size) == (["c", "b", "a", "d"], 4)
    assert held(users) == [{"a", "c"}, {"b"}, set()]
    assert users.notes[1:] == ("2 entries with items that are not in the list were left out.",)
    with pytest.raises(DataError, match=r"line 2: the item 'x' is not allowed; allowed are the 4 of the list of items"):
        read_transactions(path, items=items)
    for content, says in (
        ("a\n\nb\n", "line 2: ''"),
        ("a\nb\na\n", "line 3: 'a' is on line 1"),
        ("\xff", "line 1.* UTF-8"),
    ):
        items.write_bytes(content.encode("latin1"))
        with pytest.raises(DataError, match=says):
            read_items(items)


@pytest.mark.parametrize("name", ["shop.txt", "shop.csv"])
def test_what_is_counted_once_or_kept_is_said(tmp_path, name):
    lines = ["a a b", "", "b b b"] if name == "shop.txt" else ["user,item", "u,a", "u,a", "u,b", "v,", "w,b", "w,b"]
    users = read_transactions(write(tmp_path / name, lines), layout=Layout(repeated="merge", empty="keep"))
    assert held(users) == [{"a", "b"}, set(), {"b"}]
    assert users.notes[2:] == ("2 users had an item more than once; it counts once.", "1 lines had no item.")


#: File, what is in it, and what is said of it.
BAD = [
    ("a.txt", b"1 2\n1,2\n", r"line 2: '1,2' has one of the marks.*separator"),
    ("a.txt", b"1 2\n2\n# no\n", "line 3: '# no' begins with #"),
    ("a.txt", b"1 2\n2\n3 3\n", "line 3: the user has the item '3' twice. Give repeated = merge"),
    ("a.txt", b"1 2\n\n2\n", "line 2: no item. Give empty = keep"),
    ("a.txt", b"1 2\n3 \xff\n", "line 2: .* is not UTF-8"),
    ("a.txt", b"1 2\n2\n3 a\x00b\n", "line 3: the item .* cannot be shown"),
    ("a.txt", b"", "there is no user"),
    ("a.txt", b"\n1 2\n", "line 1: there is no user, or a blank line"),
    ("a.txt", b"1 2\n\n", "line 2: no item"),
    ("a.csv", b"user,item\n", "there is no user"),
    ("a.csv", b"user,item\nu,a\nu,b,c\n", "line 3: 'u,b,c' has 3 columns, but there should be 2: 'user'"),
    ("a.csv", b"user,item\nu,a\n\nv,b\n", "line 3: no user"),
    ("a.csv", b'user,item\nu,"a\nv,b\n', "line 2: .* has a quote that is not closed"),
    ("a.csv", b'user,item\nu,"a\nb"\nv,b\n', "line 2: .* an entry must be on one line"),
    ("a.csv", b"user,item\nu,a\rv,b\n", "line 2: has a carriage return"),
    ("a.csv", b"user,item\nu,b\nv,c\nu,a\nv,c\n", "line 5: the user has the item 'c' twice"),
    ("a.csv", b"user,item\nu,\n", "line 2: no item"),
    ("a.csv", b"user,item\nu\n", "line 2: no item"),
    ("a.csv", b"user,item\n,a\n", "line 2: no user"),
    ("a.csv", b"user,item\nu,a\nu,\xe9\n", "line 3: .* is not UTF-8"),
    ("a.csv", b"who,what\nu,a\n", r"columns are 'who', 'what'\. Give item = COLUMN, and user = COLUMN unless"),
    ("a.csv", b"user;item\nu;a\n", "line 1: 'user;item' and the next lines have no ','. Give separator = CHARACTER"),
    ("a.csv", b"user,item,item\nu,a,b\n", "two columns are called 'item'"),
    ("a.jsonl", b'{"user":1,"item":"a"}\n{"user":2,"item":}\n', "line 2: .* is not JSON"),
    ("a.jsonl", b'{"user":1,"item":"a"}\n{"user":2}\n', "line 2: no item"),
    ("a.jsonl", b'{"user":1,"item":"a"}\n{"user":2,"item":{}}\n', "line 2: .* is not JSON with text"),
    ("a.jsonl", b'{"user":["x"],"item":"a"}\n', "line 1: 'user' holds lists"),
    ("a.jsonl", b'{"user":1,"item":"a"}\n{"user":["x"],"item":"a"}\n', "line 2: .* is not JSON with text"),
    ("a.jsonl", b'{"user":"x","item":"a"}\n\n{"user":"z","item":"a"}\n', "line 2: '' is not JSON"),
    ("a.jsonl", b'{"user":"x","items":["a"]}\n{"user":"","items":["a"]}\n', "line 2: no user"),
    ("a.jsonl", b'{"user":1,"item":"\xff"}\n', "line 1: .* is not UTF-8"),
    ("a.jsonl", b'{"user":1,"item":"a"}\n{"user":1.5,"item":"\\ud800"}\n', "line 2: the item"),
    ("a.jsonl", b'{"user":1,"item":"a"}\n{"user":"\\ud800","item":"a"}\n', "line 2: no user, or no text"),
    ("a.parquet", b"PAR1 no", "damaged or end early"),
    ("a.parquet", gzip.compress(b"PAR1", mtime=0), "damaged or end early"),
    ("a.csv", gzip.compress(b"user,item\nu,a\n" * 9, mtime=0)[:-9], "damaged or end early"),
    ("a.xlsx", b"PK\x03\x04....", r"line 1: this is a zip archive, or a workbook \(xlsx\): unpack it"),
    ("a.csv", gzip.compress(b"PK\x03\x04....", mtime=0), "line 1: this is a zip archive"),
    ("a.csv", bz2.compress(b"user,item\nu,a\n"), "line 1: this is a file packed by bzip2: unpack it by bunzip2"),
    ("a.csv", lzma.compress(b"user,item\nu,a\n"), "line 1: this is a file packed by xz: unpack it by unxz"),
    ("a.csv", "user,item\nu,a\n".encode("utf-16"), "line 1: this is text in UTF-16: convert it by iconv -f utf-16"),
    ("a.csv", "user,item\nu,a\n".encode("utf-16-le"), "line 1: this is text in UTF-16"),
    ("a.csv", "user,item\nu,a\n".encode("utf-16-be"), "line 1: this is text in UTF-16"),
    ("a.csv", b"item,Count\ntea,5\nmilk,7\n", "line 2: column 'Count' seems to count, .* give user = Count"),
    ("a.csv", b"item,sold\ntea,5\nmilk,7\nrice,7\n", "line 2: column 'sold' seems to count"),
    ("a.jsonl", 3 * b'{"n":2,"item":"a"}\n', "line 1: column 'n' seems to count"),
    ("a.txt", b"PAR1", "line 1: this is Parquet, a table of users: give format = parquet"),
    ("a.txt", b"caf\xe9\n", "line 1: .* is converted by iconv -f latin1"),
]  # fmt: skip
#: The same, with a layout as the third entry.
BAD_SO_LAID_OUT = [
    ("a.txt", b"1 2\n", {"item": "x"}, "item = 'x' is for tables"),
    ("a.csv", b"user,item\nu,a\n", {"item": "thing"}, r"item = 'thing': there is no such column; the columns are"),
    ("a.csv", b"user,x,y\nu,1,0\nv,1,2\n", {"form": "matrix"}, "line 3: '2' in column 'y'; in form matrix"),
    ("a.csv", b"user,item,level\nu,a,3\n", {"level_column": "level"}, "line 2: '3' is not a level"),
    ("a.csv", b"user,item,level\nu,a,\n", {"level_column": "level"}, "line 2: no level"),
    ("a.csv", b"user,item,level\nu,a,2\nu,b,0.5\n", {"level_column": "level"}, "line 3: level 0.5, but the same user"),
    ("a.csv", b"user,item,level\nu,b,2\nv,c,0.5\nu,a,0.5\n", {"level_column": "level"}, "line 4: level 0.5, but"),
    ("a.jsonl", b'[{"user":1}]\n', {"format": "jsonl"}, "line 1: .* an object on every line"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "content", "layout", "says"),
    [*((name, content, {}, says) for name, content, says in BAD), *BAD_SO_LAID_OUT],
)
def test_bad_input_is_one_sentence_with_the_line(tmp_path, name, content, layout, says):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(DataError, match=says) as caught:
        read_transactions(path, levels=(0.5, 2.0), layout=Layout(**layout))
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


def test_a_mistake_far_down_is_named_by_its_line(tmp_path):
    """It is beyond the first part that is read at a time."""
    lines = ["user,item", *(f"u{number},{number % 7}" for number in range(300_000))]
    path = write(tmp_path / "shop.csv", [*lines, "u299999,x"])
    with pytest.raises(DataError, match=r"line 300002: the item 'x' is not allowed; allowed are the integers 0\.\.6"):
        read_transactions(path, domain_size=7)
    write(path, [*lines, "u0,0"])
    with pytest.raises(DataError, match=r"line 300002: the user has the item '0' twice"):
        read_transactions(path)
    assert read_transactions(path, layout=Layout(repeated="merge")).n_users == 300_000


@pytest.mark.parametrize("last", ['{"user":"z","items":["c"],"more":1}', '{"items":["c"],"user":"z","more":1}'])
@pytest.mark.parametrize(
    ("line", "holds"),
    [
        (r'{"user":"y","items":["caf\u00e9", "a\"\\b\/"],"more":-0.5}', {"café", 'a"\\b/'}),
        (r'{"user":12345678901234567890123,"items":["\ud83d\ude00"],"more":null}', {"\U0001f600"}),
        ('{"user":"y","user":"w","items":[1,2.0,1e2],"more":{"a":[1]}}', {"1", "2", "100"}),
        ('\t{ "user" : "y" , "items" : [ 7 , "b" ] , "more" : true } ', {"7", "b"}),
    ],
)
def test_json_is_read_alike_whether_or_not_all_lines_have_the_same_keys_in_the_same_order(tmp_path, line, holds, last):
    path = write(tmp_path / "shop.jsonl", ['{"user":"x","items":["a"],"more":0}', line, last])
    assert held(read_transactions(path)) == [{"a"}, holds, {"c"}]


# --- against what the standard library writes -----------------------------------------------------------------------

NAMES = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Z"]), min_size=1, max_size=4).filter(
    lambda name: "\ufffd" not in name
)


def written(kind, sets):
    """Write users u0, u1, ... in one format with the standard library."""
    named = [(f"u{number}", sorted(items)) for number, items in enumerate(sets)]
    if kind == "lists.jsonl":
        return "".join(json.dumps({"user": user, "items": items}) + "\n" for user, items in named)
    if kind == "long.jsonl":
        return "".join(json.dumps({"item": item, "user": user}) + "\n" for user, items in named for item in items)
    rows = [[user, item] for user, items in named for item in items]
    if kind == "wide.csv":
        width = max(map(len, sets))
        rows = [[user, *items, *[""] * (width - len(items))] for user, items in named]
    separator = "\t" if kind == "long.tsv" else ","
    csv.writer(sink := io.StringIO(), delimiter=separator, lineterminator="\n").writerows(rows)
    return sink.getvalue()


@pytest.mark.quick("long.csv")
@pytest.mark.parametrize("kind", ["long.csv", "long.tsv", "wide.csv", "long.jsonl", "lists.jsonl"])
@given(sets=st.lists(st.sets(NAMES, min_size=1, max_size=4), min_size=1, max_size=8))
def test_what_the_standard_library_writes_is_read(kind, sets):
    """Names may have quotes, separators and any letters; they are read in Unicode's form NFC."""
    composed = [{unicodedata.normalize("NFC", item) for item in items} for items in sets]
    # two spellings of one name are an item twice
    assume(list(map(len, composed)) == list(map(len, sets)))
    layout = {"header": False, "user": "1"} if kind.endswith("sv") else {}
    layout |= {"form": "wide"} if kind == "wide.csv" else {"item": "2"} if layout else {}
    stream, items = io.BytesIO(written(kind, sets).encode()), sorted(set().union(*composed))
    users = read_transactions(stream, items=items, layout=Layout(format=kind.partition(".")[2], **layout))
    assert held(users) == composed


@pytest.mark.parametrize(("form", "head", "row"), [("lines", b"", b"a b"), ("csv", b"user,item\n", b"u%d,a")])
def test_a_control_character_is_refused_at_its_line(form, head, row):
    """One of the readers would take the character for the end of a column."""
    rows = [row.replace(b"%d", b"%d" % i) for i in range(200)]
    rows[150] += b"\x1fb"
    line = 151 + head.count(b"\n")
    with pytest.raises(DataError, match=f"line {line}: .* has a character that cannot be shown"):
        read_transactions(io.BytesIO(head + b"\n".join(rows)), layout=Layout(format=form, repeated="merge"))
    rows[199] += b"\xff"
    with pytest.raises(DataError, match=r"cannot be shown|is not UTF-8"):
        read_transactions(io.BytesIO(head + b"\n".join(rows)), layout=Layout(format=form, repeated="merge"))


@pytest.mark.exhaustive
def test_many_rows_are_read_in_bounded_memory(root):
    """A million users, five million rows, packed: less than 24 bytes a row beside what one thread of Polars holds."""
    # Polars gives memory back at once, or it would hold more on a busy machine
    polars = {"POLARS_MAX_THREADS": "1", "_RJEM_MALLOC_CONF": "dirty_decay_ms:0,muzzy_decay_ms:0"}
    done = subprocess.run(
        [sys.executable, root / "benchmarks/reading.py", "--users", "1e6"],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | polars,
    )
    assert "1000000 users, 5000000 rows, 1000 items" in done.stdout
    gigabytes = float(done.stdout.rpartition("\n")[0].rpartition("\n")[2].partition(" GiB")[0])
    assert gigabytes * 2**30 < 24 * 5 * 10**6 + 250 * 2**20


def test_the_baskets_of_a_shop(groceries_file):
    users = read_transactions(groceries_file)
    assert (users.n_users, users.domain_size, users.codes.size, users.largest_set) == (9835, 169, 43367, 32)
    assert users.name(int(users.item_counts.argmax())) == "whole milk"
