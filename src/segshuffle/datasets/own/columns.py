"""Which columns of a table hold the users, the items and the levels, and how cells become entries."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import polars as pl

from segshuffle.datasets.own.doubts import COUNTED
from segshuffle.datasets.own.layout import BLANKS, MISSING, Layout, shown, tidied
from segshuffle.errors import DataError

#: Rows at the beginning whose looks say what a file is.
HEAD = 1000


class RowError(DataError):
    """Something is wrong with a row, which is given by its place in the part that is read."""

    def __init__(self, row: int, reason: object) -> None:
        super().__init__(str(reason))
        self.row = row


def refuse(wrong: pl.Series, reason: Callable[[int], str]) -> None:
    """Raise an error about the first row that is marked as wrong, if there is one, with the reason."""
    if wrong.any():
        row = wrong.fill_null(False).arg_max() or 0
        raise RowError(row, reason(row))


class Columns(NamedTuple):
    """The columns of the user, the items and the level."""

    form: str  # "long", "list", "wide" or "matrix"
    user: str | None
    items: tuple[str, ...]
    level: str | None
    #: Whether the column of users is only the one that is left over.
    left_over: bool = False

    @property
    def kinds(self) -> dict[str, Any]:
        """Types of all columns that are read, by name: text, or lists of texts."""
        named = [each for each in (self.user, *self.items, self.level) if each is not None]
        is_list = {self.items[0]} if self.form == "list" else set()
        return {each: pl.List(pl.String) if each in is_list else pl.String for each in named}

    def said(self) -> str:
        """Say who is a user and where the items are."""
        who = "every row is a user" if self.user is None else f"users in column {shown(self.user)}"
        where = f"column {shown(self.items[0])}" if self.items[1:] == () else f"{len(self.items):,} columns"
        level = "" if self.level is None else f", levels in column {shown(self.level)}"
        return f"form {self.form}, {who}, items in {where}{level}"

    def cells(self) -> list[pl.Expr]:
        """Select the cells from a table with these columns: user, level, and item (in wide forms a list of all)."""
        user, level = (
            (pl.lit(None, pl.String) if each is None else pl.col(each)).alias(name)
            for name, each in (("user", self.user), ("level", self.level))
        )
        item = pl.col(self.items[0]) if self.form in ("long", "list") else pl.concat_list(self.items)
        return [user, level, item.alias("item")]

    def check(self, head: pl.DataFrame) -> None:
        """Refuse columns that seem to hold something else, by the first rows.

        Raises
        ------
        RowError
            If the first column of a wide table names the users or the kinds of rows, or users that nobody named are
            numbers, and every item is on one row.
        """
        if self.left_over:
            counts = head["user"].str.contains(r"^\s*[\d.]+\s*$").all() and head["item"].n_unique() == head.height > 2
            if counts or str(self.user).lower() in COUNTED:
                raise RowError(
                    0,
                    f"column {shown(str(self.user))} seems to count, and not to name users. Give a table with a row "
                    f"for each user and item; if the column does name users give user = {self.user}.",
                )
        if self.form != "wide" or self.user is not None or head.height < 3:
            return
        first, others = head["item"].list.first(), head["item"].list.slice(1).explode().drop_nulls()
        if others.len() and not first.is_in(others.implode()).any():
            raise RowError(
                0,
                f"no entry of the first column, such as {shown(first[0] or '')}, is in another column, so it seems to "
                "hold no items. If it names the users give user = COLUMN, else remove it, or add a column of users.",
            )

    def entries(self, cells: pl.DataFrame) -> pl.DataFrame:
        """Return who holds which item: an entry per item (null if a row has none), with the number of its row."""
        if self.user is not None:
            user = cells["user"]
            # Polars reads an escape of JSON that is no character as NUL
            blank = user.str.strip_chars(BLANKS).is_in(["", *MISSING]) | user.str.contains("\0", literal=True)
            refuse(blank.fill_null(True), lambda row: _nobody(user[row]))
        entries = cells.with_row_index("number")
        if self.form == "long":
            return entries
        if self.form == "matrix":
            entries = entries.with_columns(item=self._held(cells["item"]))
        texts = pl.element().str.strip_chars(BLANKS).replace("", None)
        return entries.with_columns(pl.col("item").list.eval(texts).list.drop_nulls()).explode(
            "item", empty_as_null=True
        )

    def _held(self, cells: pl.Series) -> pl.Series:
        """Return the names of the items that every user of a matrix holds, null for the others."""
        flat, width = cells.explode(), len(self.items)
        answers = flat.fill_null("").str.strip_chars(BLANKS).str.to_lowercase()
        holds = answers.is_in(["1", "true", "yes", "1.0"])
        wrong = ~holds & ~answers.is_in(["0", "false", "no", "", "0.0"])
        if wrong.any():
            row, column = divmod(wrong.arg_max() or 0, width)
            raise RowError(
                row,
                f"{shown(cells[row][column])} in column {self.items[column]!r}; in form matrix a cell is 1 or 0 and "
                "says whether the user holds that item. If cells are names of items, give form = wide.",
            )
        names = pl.Series(self.items).gather(pl.int_range(flat.len(), eager=True) % width)
        return pl.select(pl.when(holds).then(names)).to_series().reshape((-1, width)).arr.to_list()


def _nobody(user: str | None) -> str:
    given = "" if user is None else f" ({shown(user)})"
    return f"no user, or no text as the user{given}. Give one, or remove the line."


def columns_of(kinds: Mapping[str, pl.DataType], layout: Layout) -> Columns:
    """Decide which columns hold what, by their names and types; if that is unclear, the error says what to give."""
    for option in ("user", "item", "level_column"):
        asked = getattr(layout, option)
        if asked is not None and asked not in kinds:
            raise DataError(f"{option} = {asked!r}: there is no such column; the columns are {listed([*kinds])}.")
    lists = {each for each, kind in kinds.items() if isinstance(kind, (pl.List, pl.Array))}
    rest = [each for each in kinds if each != layout.level_column]
    user = layout.user or ("user" if "user" in rest else None)
    if wrong := lists & {user, layout.level_column}:
        raise DataError(f"{min(wrong)!r} holds lists; expected is text or a number.")
    others = tuple(each for each in rest if each != user)
    if layout.form in ("wide", "matrix") and layout.item is None and others and not lists & set(rest):
        if "" in others:
            raise DataError(
                "a column has no name, as one with numbers of rows. Name it, and give user = COLUMN if it is the user; "
                "or remove it."
            )
        return Columns(layout.form, user, others, layout.level_column)
    item = layout.item or next((each for each in ("item", "items") if each in rest), None)
    if item in lists:
        return Columns("list", user, (item,), layout.level_column)
    left_over = user is None and len(rest) == 2
    if left_over:
        user = next(each for each in rest if each != item)
    if item is not None and user not in (None, item):
        return Columns("long", user, (item,), layout.level_column, left_over)
    raise DataError(
        f"the columns are {listed([*kinds])}. Give item = COLUMN, and user = COLUMN unless it is the only other one; "
        "or form = wide (a row per user, items in all other columns) or form = matrix (a column per item, 1 or "
        "0), header = no (the first line is data), format = lines (one line per user), or separator = CHARACTER."
    )


def refuse_twice(names: Iterable[str]) -> None:
    """Refuse two columns of one name."""
    seen = set[str]()
    for name in map(tidied, names):
        if name in seen:
            raise DataError(f"two columns are called {name!r}; rename one.")
        seen.add(name)


def listed(names: Sequence[str]) -> str:
    """List some names, at most eight of them."""
    return ", ".join(map(shown, names[:8])) + (f" and {len(names) - 8} more" if len(names) > 8 else "")
