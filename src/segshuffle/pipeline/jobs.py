"""A job of the pipeline: functions of the package that read and write files; their output goes to the rule's log."""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import sys
import traceback
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from segshuffle.digits import rounded, rounded_down, rounded_up
from segshuffle.errors import SegshuffleError
from segshuffle.files import write_atomically
from segshuffle.pipeline.processors import workers

if TYPE_CHECKING:
    import pandas as pd

#: Ending of a file -> module that reads or writes such files.
MODULES = {".npz": "datasets.population", ".svg": "pipeline.style"}


def modules_of(job: Sequence[Mapping[str, Any]]) -> list[str]:
    """List the modules below the package that a job loads."""
    files = json.dumps([[step["outputs"], list(step["inputs"].values()) if step["read"] else []] for step in job])
    functions = [step["function"].partition(":")[0] for step in job]
    return ["pipeline.jobs", *functions, *(module for suffix, module in MODULES.items() if f'{suffix}"' in files)]


def run(job: Sequence[Mapping[str, Any]], log: str, threads: int = 1, edition: str = "full") -> None:
    """Run the steps of a job, as `manifest.Rule.job` gives them, on this many cores; their output goes to the log.

    Markdown texts name their edition, unless it is the full one. Figures name the quick edition only.
    """
    with logged(log), workers(threads):
        made: dict[str, Any] = {}
        for step in job:
            read = (lambda path: made[path] if path in made else _content(path)) if step["read"] else str
            given = {name: _given(files, read) for name, files in step["inputs"].items()}
            found = _function(step["function"])(**given, **step["arguments"])
            for files, value in zip(step["outputs"], found if len(step["outputs"]) > 1 else (found,), strict=True):
                _write(files, value, edition, lower=step["lower"], upper=step["upper"])
                made[files[0]] = value


def same(table: Any) -> Any:
    """Return the input unchanged, for a step that only joins tables: they are joined when they are read."""
    return table


def _function(name: str) -> Callable[..., Any]:
    module, _, function = name.partition(":")
    found: Callable[..., Any] = getattr(importlib.import_module(f"segshuffle.{module}"), function)
    return found


def _given(files: str | Sequence[str], read: Callable[[str], Any]) -> Any:
    if isinstance(files, str):
        return read(files)
    if read is str:
        return list(files)
    if all(file.endswith(".csv") for file in files):
        import pandas as pd

        return pd.concat([read(file) for file in files], ignore_index=True)
    return {Path(file).stem: read(file) for file in files}


def _content(path: str) -> Any:
    """Read a file in the way that its ending tells."""
    suffix = Path(path).suffix
    if suffix == ".csv":
        import pandas as pd

        return pd.read_csv(path)
    if suffix == ".npz":
        return _function(f"{MODULES[suffix]}:load_population")(Path(path))
    if suffix == ".npy":
        import numpy as np

        return np.load(path)
    text = Path(path).read_text(encoding="utf-8")
    if suffix == ".json":
        return json.loads(text)
    import yaml

    return yaml.safe_load(text)


def _write(files: Sequence[str], value: Any, edition: str, *, lower: Collection[str], upper: Collection[str]) -> None:
    """Write a value by the ending of its file."""
    path = Path(files[0])
    if len(files) > 1:
        _function(f"{MODULES['.svg']}:save")(value, files, edition)
    elif path.suffix == ".npz":
        _function(f"{MODULES[path.suffix]}:save_population")(path, value)
    elif path.suffix == ".npy":
        import numpy as np

        # by way of memory: on a full disk numpy's own writer does not say why it failed
        np.save(packed := io.BytesIO(), value)
        write_atomically(path, packed.getvalue())
    elif path.suffix == ".csv":
        write_atomically(path, to_csv(value, lower=lower, upper=upper))
    elif path.suffix == ".md":
        write_atomically(path, remarked(value, edition))
    else:
        write_atomically(path, value if isinstance(value, str) else to_json(value, indent=1) + "\n")


def remarked(text: str, edition: str) -> str:
    """Name the edition below the title of a Markdown text, unless it is the full one."""
    if edition == "full":
        return text
    remark = f"This is the edition **{edition}**, with data or settings of its own."
    if edition == "quick":
        remark = "This is a **quick** run: it shows that everything works, and is not a result."
    title, _, rest = text.partition("\n")
    return f"{title}\n\n{remark}\n{rest}"


@contextlib.contextmanager
def logged(path: str | Path) -> Iterator[None]:
    """Send standard output, standard error and a traceback to the log; the terminal shows only an error's message.

    Raises
    ------
    SystemExit
        With status 1, after an error: its traceback is in the log, its message on the original standard error.
    """
    terminal = sys.stderr
    log = Path(path).open("w", encoding="utf-8", buffering=1)  # noqa: SIM115  closing it may fail as well
    try:
        with contextlib.redirect_stdout(log), contextlib.redirect_stderr(log):
            try:
                yield
                return
            except Exception as error:
                message = str(error) if isinstance(error, SegshuffleError) else f"{type(error).__name__}: {error}"
                # a full disk has no room for the log either
                with contextlib.suppress(OSError):
                    traceback.print_exc()
    finally:
        with contextlib.suppress(OSError):
            log.close()
    print(f"{message}\n(log: {path})", file=terminal)
    raise SystemExit(1)


def to_csv(table: pd.DataFrame, *, lower: Collection[str] = (), upper: Collection[str] = ()) -> str:
    """Return CSV text, newline at the end; numbers have ten significant digits, and read back they give the same text.

    Parameters
    ----------
    lower, upper : collection of str
        Columns of certified lower and upper bounds, which are rounded down and up; all others to the nearest.
    """
    sides = {**dict.fromkeys(lower, rounded_down), **dict.fromkeys(upper, rounded_up)}
    table = table.copy()
    for name, column in table.items():
        if column.dtype.kind == "f":
            table[name] = column.map(sides.get(str(name), rounded))
    return str(table.to_csv(index=False, lineterminator="\n"))


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
    if isinstance(values, dict):
        return {key: _with_digits(value) for key, value in values.items()}
    if isinstance(values, list | tuple):
        return [_with_digits(value) for value in values]
    return rounded(values) if isinstance(values, float) else values
