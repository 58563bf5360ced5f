"""Files in other layouts: what looks like a table is read as one or refused, and what errors propose reads it right."""

import dataclasses
import re

import numpy as np
import pytest

from segshuffle.datasets.msnbc import USERS_PER_CATEGORY, USERS_PER_SET_SIZE
from segshuffle.datasets.own.layout import Layout
from segshuffle.datasets.own.reading import read_transactions
from segshuffle.errors import DataError

#: Users ann (bread, milk), ben (milk) and cem (bread, tea).
ROWS = [("ann", "milk"), ("ann", "bread"), ("ben", "milk"), ("cem", "tea"), ("cem", "bread")]
SETS = [{"milk", "bread"}, {"milk"}, {"tea", "bread"}]
#: The same users as lines.
LINES = ["milk bread", "milk", "tea bread"]


def held(users):
    return [
        {users.name(code) for code in users.codes[slice(*ends)]}
        for ends in zip(users.offsets, users.offsets[1:], strict=False)
    ]


def read(tmp_path, text, **layout):
    path = tmp_path / "shop.txt"
    path.write_text(text)
    return read_transactions(path, layout=Layout(**layout))


def rows(mark, *, header=True):
    return "".join(f"{user}{mark}{item}\n" for user, item in ([("user", "item")] if header else []) + ROWS)


def proposed(error):
    """Return every set of options that an error proposes, alone and all together."""
    text = str(error).partition("shop.txt")[2]
    found = {
        "format": re.findall(r"format = (\w+)", text),
        "form": re.findall(r"form = (wide|matrix|long)", text),
        "separator": [mark.encode().decode("unicode_escape") for mark in re.findall(r"separator = '([^']+)'", text)],
        "header": [False] if "header = no" in text else [],
        "skip_lines": [int(number) for number in re.findall(r"skip_lines = (\d+)", text)],
        "repeated": re.findall(r"repeated = (merge)", text),
        "empty": re.findall(r"empty = (keep)", text),
    }
    if "separator = MARK" in text or "separator = CHARACTER" in text:
        found["separator"] = [*",;|\t:"]
    return found


def outcomes(tmp_path, text, layout, depth=4):
    """Follow what the errors propose, one option at a time and all together; give what is read in the end."""
    try:
        yield layout, held(read(tmp_path, text, **layout))
        return
    except DataError as error:
        options = proposed(error)
    if not depth:
        return
    steps = [{name: value} for name, values in options.items() for value in values if name not in layout]
    steps.append({name: values[0] for name, values in options.items() if values and name not in layout})
    for step in steps:
        # a person who says that every line is one user has said so
        if step.get("format") != "lines" and step:
            yield from outcomes(tmp_path, text, layout | step, depth - 1)


TABLES = {
    "tabs": rows("\t"),
    "tabs without header": rows("\t", header=False),
    "semicolons": rows(";"),
    "bars without header": rows("|", header=False),
    "blanks": rows(" "),
    "colons, doubled": "".join(f"{user}::{item}::5::978\n" for user, item in ROWS),
    "comments": "# a shop\n" + rows("\t"),
    "ARFF": "@relation shop\n@attribute user string\n@attribute item string\n\n@data\n" + rows(",", header=False),
}


@pytest.mark.parametrize("name", TABLES)
def test_a_table_is_never_read_as_lines_whatever_is_tried_of_what_errors_propose(tmp_path, name):
    """What is read in the end, if anything, is what the users hold."""
    assert all(found == SETS for _, found in outcomes(tmp_path, TABLES[name], {}))


@pytest.mark.parametrize("mark", ["\t", ",", ";", "|", " ", ":"])
@pytest.mark.parametrize("header", [True, False])
def test_a_table_called_txt_is_refused_until_its_format_is_given(tmp_path, mark, header):
    text = rows(mark, header=header)
    for said in ({}, {"separator": mark}, {"separator": " "}):
        with pytest.raises(DataError, match=r"table.*format = (csv|tsv)"):
            read(tmp_path, text, **said)
    columns = {} if header else {"header": False, "user": "1", "item": "2"}
    users = read(tmp_path, text, format="csv", separator=mark, **columns)
    assert held(users) == SETS
    said = f"Read as csv, separator {mark!r}, {'header' if header else 'no header'}, form long, users in column"
    assert users.notes[0].startswith(said)
    assert users.notes[0].endswith("3 users, 3 items, at most 2 of them held by one user.")


@pytest.mark.parametrize(
    "text", ["1 whole milk\n1 bread\n2 oat milk\n", "1 milk\n1 bread\n2 milk\n", "user item\n1 a b\n"]
)
def test_lines_that_may_be_a_table_are_read_if_the_format_says_so(tmp_path, text):
    with pytest.raises(DataError, match=r"table.*Give format = lines if every line is one user, who holds all entries"):
        read(tmp_path, text)
    users = read(tmp_path, text, format="lines")
    assert held(users) == [set(line.split()) for line in text.splitlines()]
    assert "Read as lines, separator blanks, no header, every line is a user: " in users.notes[0]


MSNBC = "% Different categories found in input file:\n\nfront news tech\n\n\n% Sequences:\n\n1 1 \n2 \n3 2 2 4\n2\n"
LOG = [{"1"}, {"2"}, {"2", "3", "4"}, {"2"}]


def test_a_description_before_the_lines_is_left_out_only_on_request(tmp_path):
    """What the errors propose, one after the other, gives the users and items of the log."""
    for options in ({}, {"empty": "keep", "repeated": "merge"}, {"format": "lines"}, {"separator": " "}):
        with pytest.raises(
            DataError, match=r"line 1: .* begins a description. .* line 8, with '1 1 ': .* skip_lines = 7"
        ):
            read(tmp_path, MSNBC, **options)
    found = list(outcomes(tmp_path, MSNBC, {}))
    assert found
    assert all(each == LOG for _, each in found)


def test_the_errors_about_the_msnbc_log_lead_to_its_users(msnbc_file):
    """Users per category and per set size are the published ones."""
    layout = Layout()
    for option, says in (("skip_lines", 7), ("repeated", "merge")):
        with pytest.raises(DataError, match=f"give {option} = {says}|Give {option} = {says}"):
            read_transactions(msnbc_file, layout=layout)
        layout = dataclasses.replace(layout, **{option: says})
    users = read_transactions(msnbc_file, layout=layout)
    assert tuple(users.item_counts.tolist()) == USERS_PER_CATEGORY
    assert tuple(np.bincount(users.sizes)[1:].tolist()) == USERS_PER_SET_SIZE
    (how, *_) = users.notes
    assert how.endswith(": 989,818 users, 17 items, at most 17 of them held by one user.")


@pytest.mark.parametrize(
    ("text", "layout", "says"),
    [
        ("milk,bread\nmilk\ntea,bread\n", {}, "first line names a column 'milk', which is also an item"),
        ("milk,bread\nmilk,tea,bread\n", {}, "has 3 columns, but there should be 2.*give form = wide and header = no"),
        ("id,a,b\n1,x,y\n1,y\n3,x,z\n", {}, "no entry of the first column, such as '1', is in another column"),
        ("I,4\nA,5,6\nC,4,5\n", {"header": False}, "no entry of the first column, such as 'I', is in another column"),
        (",0,1\n7,x,y\n8,y\n", {}, "a column has no name"),
        ("1,2\n1,3\n2,3\n", {"form": "long", "item": "2"}, "'1', '2': are they data"),
        ("user,item\nann,milk\n", {"form": "long", "header": False, "item": "2"}, "the first line names columns"),
        ("ann,milk\nben,milk\n", {"form": "long", "item": "milk"}, "first line names a column 'milk'"),
        ("% shop\nuser,item\nann,milk\n", {"form": "long"}, r"begins a description.*skip_lines = 1"),
        ('user,items\nann,"milk,tea"\nben,milk\n', {"form": "long"}, "'milk,tea' looks like a list of items"),
        ("user,items\nann,milk|tea\nann,milk\nben,tea\n", {"form": "long"}, r"'milk\|tea' looks like a list"),
        ("user,items\nann,['milk']\nann,bread\n", {"form": "long"}, "looks like a list of items"),
        ("user,items\nann,1 2\nann,1\nben,2\n", {"form": "long"}, "'1 2' looks like a list of items"),
    ],
)  # fmt: skip
def test_a_table_that_is_read_in_a_wrong_way_is_refused(tmp_path, text, layout, says):
    with pytest.raises(DataError, match=says):
        read(tmp_path, text, format="csv", **({"form": "wide"} | layout))


@pytest.mark.parametrize("unknown", ["refuse", "drop"])
@pytest.mark.parametrize("cell", ["milk;tea", "['milk', 'tea']", "{milk,tea}"])
def test_a_list_in_a_cell_is_no_unknown_item(tmp_path, cell, unknown):
    (tmp_path / "shop.csv").write_text(f'user,item\nann,"{cell}"\nben,milk\n')
    with pytest.raises(DataError, match=r"line 2: the item .* is a list of items in one cell"):
        read_transactions(tmp_path / "shop.csv", items=["milk", "tea"], layout=Layout(unknown=unknown))


def test_names_with_commas_are_items_if_their_parts_are_not(tmp_path):
    text = 'user,item\nann,"milk, whole"\nann,"milk, skim"\nben,tea\n'
    assert held(read(tmp_path, text, format="csv")) == [{"milk, whole", "milk, skim"}, {"tea"}]


def test_baskets_without_header_may_have_any_length(tmp_path):
    users = read(tmp_path, 'milk,bread\n"milk"\nbread, "tea",\n', format="csv", form="wide", header=False)
    assert held(users) == SETS
    assert "no header, form wide, every row is a user: 3 users, 3 items" in users.notes[0]


@pytest.mark.parametrize(
    "text", ['[["a","b"],["c"]]\n', "<rows>\n", '{"user": 1}\n', "a b -1 c -2\n", '"a b" c\n', "x\n// no\n"]
)
@pytest.mark.parametrize("separator", [None, " ", ","])
def test_what_is_no_line_of_items_is_refused_whatever_the_separator(tmp_path, text, separator):
    with pytest.raises(DataError, match=r"begins with # or another mark|begins a description"):
        read(tmp_path, text, format="lines", separator=separator)
