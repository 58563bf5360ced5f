"""Lines that look like something else than one user each: a description, a table, or another format."""

import re
from collections.abc import Sequence

from segshuffle.datasets.own.layout import shown
from segshuffle.errors import DataError

#: Characters that separate items or columns in many files.
MARKS = "\t,;|:=^~"
_COMMENT = r"[#%@!]|//|--"
#: What no line of one user has: the begin of a comment, of JSON or XML, a quoted entry, or a number below zero.
DOUBTFUL = rf'^\s*(?:{_COMMENT}|[\[{{<])|(?:^|[\s,;|])"|(?:^|\s)-\d+(?:\s|$)'
#: Names of columns that hold no users if nobody says so.
COUNTED = ("count", "counts", "n", "number", "quantity", "qty", "amount", "frequency", "share", "weight", "users")
# lines of comments, blank lines, and single lines between blank ones
_DESCRIBED = re.compile(rf"(?:{_COMMENT})[^\n]*\n(?:(?:{_COMMENT})[^\n]*\n|[ \t]*\n|(?<=\n\n)[^\n]+\n(?=[ \t]*\n))*")


def n_described(head: Sequence[str]) -> int:
    """Return the number of lines at the beginning that describe the data."""
    match = _DESCRIBED.match("\n".join(head) + "\n")
    return match.group().count("\n") if match else 0


def refuse_table(head: Sequence[str], separator: str | None) -> None:
    """Refuse lines that look like the rows of a table, unless somebody says that they are not.

    Raises
    ------
    DataError
        If the first line names columns, or every line has as many entries as all others, or what lines begin with is
        nowhere else.
    """
    said = "Give format = lines if every line is one user, who holds all entries of the line."
    if {"user", "item", "items"} & set(re.split(rf"[\s{MARKS}]+", head[0].lower())):
        raise DataError(f"{shown(head[0])} names columns, as in a table: give format = csv, tsv or jsonl. {said}")
    by = None if separator in (None, " ") else separator
    entries = [[each.strip() for each in line.split(by)] for line in head]
    first, others = {line[0] for line in entries if line}, {each for line in entries for each in line[1:]}
    if len(head) > 2 and others and not first & others:
        raise DataError(
            f"what lines begin with, such as {shown(head[0])}, is nowhere else, as users in a table. For a table give "
            f"format = csv, tsv or jsonl. {said}"
        )
    for mark in (separator or " ", *MARKS):
        width, *more = {len(line.split(None if mark == " " else mark)) for line in head}
        if width > 1 and not more and len(head) > 1:
            table = {",": "csv", "\t": "tsv"}.get(mark, f"csv and separator = {mark!r}")
            raise DataError(
                f"every line has {width} entries between {mark!r}, as in a table. For a table give format = {table}, "
                f"and header = no if the first line is data. {said}"
            )


def doubt(line: str) -> str:
    """Say why a line is not read as the items of one user, and what to do."""
    if re.search(DOUBTFUL, line):
        return (
            f"{shown(line)} begins with # or another mark of comments, or has quotes or a number below zero, or is "
            "JSON. Remove comments; quotes are read with format = csv (baskets: form = wide, header = no), JSON with "
            "format = jsonl."
        )
    return (
        f"{shown(line)} has one of the marks , ; | : = ^ ~ or a tab. If the mark separates items give separator = "
        "MARK; if it is part of a name give separator = ' '; if this is a table give format = csv, tsv or jsonl."
    )
