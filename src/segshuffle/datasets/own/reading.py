"""Read who holds what from a file, from standard input or from a table in memory.

`sources` opens any layout with Polars, and `collector` makes users of what it finds. This module does not need Polars.
"""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import IO

from segshuffle.arrays import LARGEST_DOMAIN, Table
from segshuffle.datasets.own.layout import Layout, read_items
from segshuffle.datasets.own.transactions import Transactions, numbered, texts
from segshuffle.errors import DataError, ParameterError
from segshuffle.numerics.ranges import check_integer, check_kind, numbers


def read_transactions(
    data: Path | str | IO[bytes] | Table,
    *,
    items: Sequence[str] | Path | None = None,
    domain_size: int | None = None,
    levels: Sequence[float] = (),
    layout: Layout | None = None,
    label: str | None = None,
    progress: Callable[[int], object] = lambda entries: None,
) -> Transactions:
    """Read users and what they hold. This needs the extra ``data``.

    Parameters
    ----------
    data : path, binary stream, or table
        A file in any format of `Layout`; text may be packed by gzip or zstd. "-" is standard input. Or a table in
        memory: of Polars, Arrow, pandas, or any library that offers Arrow's C stream.
    items : sequence of str or Path, optional
        All items that exist: a public list, or a file with one item per line. Without it and without `domain_size`, the
        items are those found in the data, in alphabetical order (in the order of numbers if all are integers). This is
        not private, and a note says so.
    domain_size : int, optional
        The items are the integers 0..domain_size - 1; at most 10,000,000 items.
    levels : sequence of float
        The levels on offer, which are public; needed if the layout names a column of levels.
    layout : Layout, optional
        How the data are laid out.
    label : str, optional
        Name in figures and tables; by default the file's name without folder and endings.
    progress : callable
        Called after every part with the number of rows so far.

    Returns
    -------
    Transactions
        Users in the order of their first appearance.

    Raises
    ------
    DataError
        If the data are not as described; names the file, the line, the value and what to do.
    ParameterError
        If an option is outside its range.

    Notes
    -----
    Users are told apart by a 64-bit hash of their names. An entry (one item of one user) takes 4 bytes while reading,
    and 8 more at the end; a run of neighbouring lines of one user takes 20 bytes.
    """
    # polars, which these need, is no dependency of the core
    from segshuffle.datasets.own.sources import opened  # isort: skip  it says what to do where polars is missing
    from segshuffle.datasets.own.collector import Collector

    check_kind("layout", layout, Layout, type(None))
    check_kind("label", label, str, type(None))
    check_kind("progress", progress, Callable)
    levels = numbers("levels", levels).ravel().tolist()
    layout = layout or Layout()
    if layout.level_column is not None and not levels:
        raise ParameterError("levels", tuple(levels), "the public list of all levels if a column has the users' levels")
    if domain_size is not None:
        check_integer("domain_size", domain_size, 1, most=LARGEST_DOMAIN)
        if items is not None:
            raise ParameterError("domain_size", domain_size, "left out if the list of items is given")
    elif items is None and layout.unknown == "drop":
        raise ParameterError("unknown", "drop", "'refuse' if neither items nor domain_size is given")
    codes = None
    if items is not None:
        codes = numbered(read_items(Path(items)) if isinstance(items, (str, Path)) else texts(items))
        check_integer("number of items", len(codes), 1, most=LARGEST_DOMAIN)
    with opened(data, layout) as source:
        collected = Collector(source, layout, codes, domain_size, levels)
        collected.take(progress)
        return collected.transactions(label or Path(source.name).name.partition(".")[0] or "transactions")


def users_of(users: Iterable[Iterable[object]] | Table, items: Iterable[object]) -> Transactions:
    """Make users of a table in memory by `read_transactions`, or of sets or lists by `Transactions.from_sets`.

    Parameters
    ----------
    users : iterable of iterables, or table
        The items of each user; or a table of Polars, Arrow or pandas.
    items : iterable
        All items, which are taken by their text.

    Raises
    ------
    DataError
        If the data are not as described.
    """
    if isinstance(users, Table):
        try:
            return read_transactions(users, items=texts(items), label="transactions")
        except DataError as error:
            raise DataError(
                f"{error} Such options are those of segshuffle.Layout: instead of the table, give what "
                "read_transactions(table, items=..., layout=Layout(...)) returns."
            ) from error
    return Transactions.from_sets(users, items)
