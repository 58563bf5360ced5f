"""The files of jobs: CSV, JSON and Markdown with ten digits, each written completely or not at all, with a digest."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from segshuffle.digits import rounded, rounded_down, rounded_up
from segshuffle.errors import DataError
from segshuffle.files import sha256_of, write_atomically

if TYPE_CHECKING:
    import pandas as pd

#: A table as rows with the same columns: jobs that make no more of theirs need no pandas.
Rows = list[dict[str, Any]]


def record_digests(paths: Iterable[str]) -> None:
    """Write the SHA-256 of each file beside it, as `sha256sum` does: `check_digests` compares them."""
    for path in map(Path, paths):
        write_atomically(_digest_of(path), f"{sha256_of(path)}  {path.name}\n")


def check_digests(paths: Iterable[str]) -> None:
    """Refuse files that are not those that a job wrote; files that no job wrote have no digest, and pass.

    Raises
    ------
    DataError
        If a file was damaged, edited, or replaced by another one.
    """
    for path in map(Path, paths):
        recorded = _digest_of(path)
        if recorded.is_file() and recorded.read_text(encoding="utf-8").split()[:1] != [sha256_of(path)]:
            raise DataError(
                f"{path}: is not the file that its job wrote ({recorded.name} beside it has another SHA-256): it "
                "was damaged, edited or replaced. Remove it, and run the same command again: it is then made anew."
            )


def _digest_of(path: Path) -> Path:
    return path.with_name(f".{path.name}.sha256")


def read_tables(paths: Iterable[str]) -> pd.DataFrame:
    """Read several CSV files of the same columns as one table, in this order."""
    import pandas as pd

    return pd.concat([pd.read_csv(path) for path in paths], ignore_index=True)


def read_json(path: Path | str) -> Any:
    """Read a JSON file."""
    return json.loads(Path(path).read_text(encoding="utf-8"))


def read_json_files(paths: Iterable[str]) -> dict[str, Any]:
    """Read several JSON files, by their names without ending."""
    return {Path(path).stem: read_json(path) for path in paths}


def read_yaml(path: Path | str) -> Any:
    """Read a YAML file."""
    import yaml

    return yaml.safe_load(Path(path).read_text(encoding="utf-8"))


def write_table(path: str, table: pd.DataFrame | Rows, **bounds: Collection[str]) -> None:
    """Write a table as CSV; `bounds` are the columns `lower` and `upper` of `to_csv`."""
    write_atomically(path, to_csv(table, **bounds))


def write_json(path: str, value: Any) -> None:
    """Write JSON with ten significant digits."""
    write_atomically(path, to_json(value, indent=1) + "\n")


def write_markdown(path: str, text: str, edition: str) -> None:
    """Write a Markdown text; below its title stands the edition, unless it is the full one."""
    remark = f"This is the edition **{edition}**, with data or settings of its own."
    if edition == "quick":
        remark = "This is a **quick** run: it shows that everything works, and is not a result."
    if edition != "full":
        title, _, rest = text.partition("\n")
        text = f"{title}\n\n{remark}\n{rest}"
    write_atomically(path, text)


def to_csv(table: pd.DataFrame | Rows, *, lower: Collection[str] = (), upper: Collection[str] = ()) -> str:
    """Return CSV text, newline at the end; numbers have ten significant digits, and read back they give the same text.

    Parameters
    ----------
    lower, upper : collection of str
        Columns of certified lower and upper bounds, which are rounded down and up; all others to the nearest.
    """
    sides = {**dict.fromkeys(lower, rounded_down), **dict.fromkeys(upper, rounded_up)}
    names: Any = table[0] if isinstance(table, list) else table
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    for row in table if isinstance(table, list) else table.to_dict("records"):
        writer.writerow(_cell(row[name], sides.get(name, rounded)) for name in names)
    return text.getvalue()


def _cell(value: Any, safe: Any) -> Any:
    """Round a float; nan leaves a cell empty."""
    if not isinstance(value, float):
        return value
    return "" if math.isnan(value) else safe(value)


def to_json(values: Any, **options: Any) -> str:
    """Return JSON text; numbers are rounded to ten significant digits, which the parameters of plans have already.

    Parameters
    ----------
    values : object
        Dicts, lists and tuples of JSON values.
    **options : object
        What `json.dumps` takes.
    """
    return json.dumps(_with_digits(values), **options)


def _with_digits(values: Any) -> Any:
    if isinstance(values, Mapping):
        return {key: _with_digits(value) for key, value in values.items()}
    if isinstance(values, list | tuple):
        return [_with_digits(value) for value in values]
    return rounded(values) if isinstance(values, float) else values
