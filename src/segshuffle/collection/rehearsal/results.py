"""The files of a rehearsal: tables, figures and a page, in a folder that is written completely or not at all."""

import contextlib
import itertools
import json
import math
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from segshuffle.collection.planning.documents import save_plan
from segshuffle.collection.rehearsal.figures import write_figures
from segshuffle.collection.rehearsal.run import NOT_PRIVATE, Recovery, Rehearsal
from segshuffle.drawing.inline import data_uri, rendered
from segshuffle.errors import DataError

#: A folder with this file may be replaced by a new result.
MARK = "rehearsal.json"
#: Most items on the page.
_MOST_ROWS = 200

#: Meanings of the columns of all tables, on the page.
COLUMNS = {
    "rank": "rank of the item in the data; 1 is the most frequent item",
    "item": "name of the item",
    "users": "users who hold the item in the data",
    "true": "share of the users who hold the item in the data",
    "sent": "share of the users who still hold the item after sets are cut to the set size",
    "estimate": "share that the first repetition's collection estimates",
    "low, high": "ends of the 95 % interval for the share that is sent",
    "standard_error": "standard deviation of the estimate",
    "bias": "mean error of the estimate, because users' levels depend on their items",
    "rmse": "root of the mean squared error against the data, over all repetitions",
    "error": "rmse divided by the true share; in a group, the root of the mean square",
    "cut": "root of the mean squared difference of true and sent; more users do not make it smaller",
    "expected": "root of the mean variance of the estimates: the rmse that is expected without cutting",
    "covered": "share of the intervals that contain the share in the data",
    "covered_sent": "share of the intervals that contain the share that is sent; 95 % if levels are random",
    "told_from_zero": "whether, or how often, the estimate is above a threshold; with probability 0.95 the estimates "
    "of all items that nobody holds are below it",
    "group": "items by their share of the users in the data",
    "items": "number of items in the group",
    "k": "the k most frequent items are looked for among the k largest estimates",
    "first, mean, least": "share of these k items that is found: in the first repetition, on average, in the worst one",
}


def tables_of(rehearsal: Rehearsal) -> dict[str, pl.DataFrame]:
    """Make the tables: of items, of groups of items, and how many of the most frequent items are found."""
    recovery = pl.DataFrame(rehearsal.recovery, schema=Recovery._fields, orient="row")
    return {"items": _items(rehearsal), "groups": _groups(rehearsal), "recovery": recovery}


def _items(rehearsal: Rehearsal) -> pl.DataFrame:
    """Make a row per item, from the most frequent one."""
    first, columns = rehearsal.first, rehearsal.columns()
    # not as Python's texts, which take most of the memory in a large domain
    names = pl.Series(first.names) if first.names else pl.int_range(rehearsal.true.size, eager=True).cast(pl.String)
    return pl.DataFrame({"rank": columns.pop("rank"), "item": names[rehearsal.order], **columns})


def _groups(rehearsal: Rehearsal) -> pl.DataFrame:
    """Make a row per power of ten of the true share, and one for the items that nobody holds."""
    true, squared, first = rehearsal.true, rehearsal.squared_error, rehearsal.first
    powers = 10.0 ** -np.arange(math.ceil(math.log10(first.plan.problem.n_users)) + 2)
    names = [f"{100 * low:.6g} % to {100 * high:.6g} %" for high, low in itertools.pairwise(powers)]
    group = np.digitize(true, powers[1:])
    of_items = {
        "group": group,
        "rmse": squared,
        "error": np.divide(squared, true**2, where=true > 0, out=np.full(true.size, math.nan)),
        "cut": (rehearsal.sent - true) ** 2,
        "expected": first.variance.at(rehearsal.sent),
        "covered": rehearsal.covered_true,
        "covered_sent": rehearsal.covered_sent,
        "told_from_zero": first.told_from_zero,
    }
    groups = (
        pl.DataFrame(of_items)
        .group_by("group")
        .agg(
            pl.len().cast(pl.Int64).alias("items"),
            pl.col("rmse", "error", "cut", "expected").mean().sqrt(),
            pl.col("covered", "covered_sent", "told_from_zero").mean(),
        )
    )
    return groups.sort("group").with_columns(
        pl.Series([*names, "held by nobody"])[groups["group"].sort()].alias("group")
    )


def summary(rehearsal: Rehearsal, top: int) -> dict[str, Any]:
    """Return the numbers that matter most, JSON-ready; see `Rehearsal`."""
    first, cutting = rehearsal.first, (rehearsal.sent - rehearsal.true) ** 2
    held, told = rehearsal.true > 0, rehearsal.told_from_zero
    most_held = rehearsal.order[:top]
    most_held = most_held[held[most_held]]
    largest: dict[str, Any] = dict.fromkeys(("top_error", "top_error_from_cutting", "top_error_simulated"), math.nan)
    largest["top_worst"] = None
    if most_held.size:
        worst = int(most_held[np.argmax(rehearsal.expected[most_held] / rehearsal.true[most_held] ** 2)])
        squares = (rehearsal.expected[worst], cutting[worst], rehearsal.squared_error[worst])
        relative = (np.sqrt(squares) / rehearsal.true[worst]).tolist()
        largest = dict(zip(largest, (*relative, first.name(worst)), strict=True))
    return {
        "users": first.plan.problem.n_users,
        "items": first.plan.problem.domain_size,
        "items_held": int(held.sum()),
        "repetitions": rehearsal.repetitions,
        "top": int(most_held.size),
        **largest,
        "top_found": next((each.mean for each in rehearsal.recovery if each.k == most_held.size), None),
        "users_cut": rehearsal.users_cut,
        "entries_lost": rehearsal.entries_lost,
        "largest_bias": None if rehearsal.bias is None else float(np.abs(rehearsal.bias).max()),
        "told_from_zero_above": first.threshold,
        "told_from_zero": float(told.sum()),
        "told_from_zero_but_held_by_nobody": float(told[~held].sum()),
        "held_but_not_told_from_zero": float((1 - told)[held].sum()),
        "covered": float(rehearsal.covered_true.mean()),
        "covered_sent": float(rehearsal.covered_sent.mean()),
        "squared_error": float(rehearsal.squared_error.sum()),
        "squared_error_from_cutting": float(cutting.sum()),
    }


def write(
    folder: Path,
    rehearsal: Rehearsal,
    answer: Mapping[str, Any],
    *,
    tables: Mapping[str, pl.DataFrame],
    headline: Sequence[str],
    top: int,
    command: str,
) -> None:
    """Write the folder.

    Parameters
    ----------
    folder : pathlib.Path
        A new folder, or one of an earlier rehearsal.
    rehearsal : Rehearsal
        The results.
    answer : mapping
        All results except those by item, JSON-ready.
    tables : mapping of str to polars.DataFrame
        As `tables_of` makes them.
    headline : sequence of str
        The main results, in sentences.
    top : int
        Number of most frequent items in the figure and on the page.
    command : str
        The command that was entered.
    """
    with new_folder(folder) as place:
        for name, rows in tables.items():
            with (place / f"{name}.csv").open("wb") as file:
                file.write(f"# {NOT_PRIVATE}\n".encode())
                rows.write_csv(file)
            rows.write_parquet(place / f"{name}.parquet", metadata={"note": NOT_PRIVATE})
        page = rendered(
            Path(__file__).with_name("assets") / "rehearsal.html.j2",
            answer=answer,
            notes=[*(f"Assumed: {each}." for each in answer["assumed"]), *answer["notes"], *answer["warnings"]],
            items=tables["items"].head(min(top, _MOST_ROWS)),
            groups=tables["groups"],
            recovery=tables["recovery"],
            headline=headline,
            figures=[
                (data_uri(svg), sentence)
                for svg, sentence in write_figures(rehearsal, top, place, answer.get("over_epsilon"))
            ],
            columns=COLUMNS,
            cell=_cell,
            command=command,
        )
        (place / "index.html").write_text(page, encoding="utf-8")
        if not rehearsal.first.plan.problem.assumptions.private_levels:
            save_plan(rehearsal.first.plan, place / "plan.json", rehearsal.first.names)
        (place / MARK).write_text(json.dumps(answer, indent=2) + "\n", encoding="utf-8")


def _cell(value: bool | str | float) -> str:
    """Write a value of a table on the page; numbers that are not whole are shares."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return value
    if isinstance(value, int):
        return f"{value:,}"
    return f"{100 * value:.4g} %" if math.isfinite(value) else "-"


def check_place(folder: Path) -> None:
    """Refuse a path with other files, before anything is computed.

    Raises
    ------
    DataError
        If the path is a file, or a folder with other content than an earlier result.
    """
    try:
        free = not any(folder.iterdir()) or (folder / MARK).is_file()
    except FileNotFoundError:
        return
    except (OSError, ValueError) as error:  # ValueError: a NUL character in the name
        raise DataError(f"{folder}: no folder can be made here ({error}). Give another by --out.") from error
    if not free:
        raise DataError(f"{folder}: holds something other than a rehearsal. Give another folder by --out.")


@contextlib.contextmanager
def new_folder(folder: Path) -> Iterator[Path]:
    """Yield a temporary folder to fill, which replaces `folder` at the end.

    Raises
    ------
    DataError
        If the folder cannot be written; an earlier result then remains.
    """
    check_place(folder)
    folder = folder.absolute()
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        # not the temporary folder itself, which only its owner may open
        with tempfile.TemporaryDirectory(prefix=f".{folder.name}.", dir=folder.parent) as work:
            new, old = Path(work, "new"), Path(work, "old")
            new.mkdir()
            yield new
            if folder.exists():
                folder.rename(old)
            try:
                new.rename(folder)
            except OSError:
                if old.exists():  # the earlier results must not go with the temporary folder
                    old.rename(folder)
                raise
    except OSError as error:
        raise DataError(
            f"{folder}: cannot be written ({error.strerror or error}). Make room, or give another folder by --out."
        ) from error
