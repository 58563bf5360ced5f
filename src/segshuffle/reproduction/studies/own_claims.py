"""Whether the numbers of README and docs/ are those of a run, claim by claim.

config/reference/claims-own.yaml has the claims, each under the experiment that it rests on, and explains its keys.
"""

import functools
import os
import re
import shlex
import sqlite3
import subprocess
import sys
from collections.abc import Collection
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd

from segshuffle.reproduction.code import PACKAGE
from segshuffle.reproduction.rows import table_of


def check(experiments: list[dict[str, Any]], folder: Path, stand_ins: Collection[str] = ()) -> list[str]:
    """Compare every claim with the results of a run.

    Parameters
    ----------
    experiments : list of dict
        As in config/reference/claims-own.yaml.
    folder : Path
        Results of the run.
    stand_ins : collection of str
        Datasets of the run that are not the real ones: claims on them are not judged.

    Returns
    -------
    list of str
        A line for each claim, "held", "NOT HELD" or "not judged", with the numbers that were found; then their count.
    """
    lines = []
    for experiment in experiments:
        drawn = stand_ins if "dataset" in experiment["rules"] else ()
        for claim in experiment["claims"]:
            if drawn and _rests_on(drawn, claim, folder):
                lines.append(f"not judged: {claim['document']}: {claim['claim']} (a stand-in, no real data)")
                continue
            numbers = [_found(claim, number, folder) for number in claim["numbers"]]
            stated = [number["stated"] for number in claim["numbers"]]
            held = all(map(is_held, stated, numbers))
            values = ", ".join(f"{value:.6g}" for value in numbers)
            lines.append(f"{'held' if held else 'NOT HELD'}: {claim['document']}: {claim['claim']} (found: {values})")
    unjudged = sum(line.startswith("not judged") for line in lines)
    count = sum(line.startswith("held") for line in lines)
    others = f" {unjudged} are not judged: they rest on stand-ins for {', '.join(stand_ins)}." if unjudged else ""
    return [*lines, f"{count} of {len(lines) - unjudged} claims are held.{others}"]


def is_held(stated: str, value: float) -> bool:
    """Say whether a number of a document is less than a unit of its last digit away from that of a run.

    Privacy numbers are rounded to the safe side, so half a unit would be too little.

    Parameters
    ----------
    stated : str
        The number as printed, such as "15,040" or "2.15e-4".
    value : float
        The number of the run; nan if there is none.
    """
    exact = Decimal(stated.replace(",", ""))
    unit = Decimal(1).scaleb(int(exact.as_tuple().exponent))
    return abs(value - float(exact)) < float(unit)


def _rests_on(stand_ins: Collection[str], claim: dict[str, Any], folder: Path) -> bool:
    """Say whether a number of a claim is made of rows of these datasets; a table without a column of datasets is."""
    if "table" not in claim:
        return False
    table = _table(folder / claim["table"])
    columns = [column[1] for column in table.execute("PRAGMA table_info(results)")]
    if "dataset" not in columns:
        return True
    named = f"dataset IN ({', '.join(map(repr, stand_ins))})"
    rows = [f"{named} AND {_rows(claim, number)}" for number in claim["numbers"]]
    return any(table.execute(f"SELECT 1 FROM results WHERE {each}").fetchone() for each in rows)


def _rows(claim: dict[str, Any], number: dict[str, str]) -> str:
    """Return the condition on the rows of a number."""
    return " AND ".join(each["rows"] for each in (claim, number) if "rows" in each) or "1"


def _found(claim: dict[str, Any], number: dict[str, str], folder: Path) -> float:
    if "value" in number:
        asked = f"SELECT {number['value']} AS value FROM results WHERE {_rows(claim, number)}"
        asked += f" ORDER BY {number['first_by']}" if "first_by" in number else ""
        answer = _table(folder / claim["table"]).execute(asked).fetchone()
        return float("nan") if answer in (None, (None,)) else float(answer[0])
    text = _printed(claim["command"]) if "command" in claim else (folder / claim["table"]).read_text(encoding="utf-8")
    place = re.search(number["printed"], text)
    return float(place[1]) if place else float("nan")


@functools.cache
def _table(path: Path) -> sqlite3.Connection:
    """Return a database with a CSV file as its table `results`."""
    database = sqlite3.connect(":memory:")
    pd.read_csv(path).to_sql("results", database)
    return database


@functools.cache
def _printed(command: str) -> str:
    """Return what a command of segshuffle, or of Python, prints."""
    program, *arguments = shlex.split(command)
    module = ["-m", program] if program == "segshuffle" else []
    environ = {**os.environ, "PYTHONPATH": str(PACKAGE.parent), "COLUMNS": "80"}
    run = [sys.executable, *module, *arguments]
    return subprocess.run(run, env=environ, capture_output=True, text=True, check=True).stdout


def appendix(text: str, experiments: list[dict[str, Any]], runtimes: pd.DataFrame) -> str:
    """Return the artifact appendix with the times of a run, and a list of all claims, between its marks.

    Parameters
    ----------
    text : str
        The appendix so far.
    experiments : list of dict
        As in `check`.
    runtimes : DataFrame
        Table runtimes.csv of the run.
    """
    seconds = runtimes.set_index("rule")["seconds_total"]
    people = sum(each["minutes"] for each in experiments)
    times = [("everything", "all", people, f"{seconds.sum() / 60:.1f}", "all of the following")]
    claims = []
    for each in experiments:
        compute = seconds.reindex(each["rules"]).sum() / 60
        told = f"{compute:.1f}" if compute else "< 1"
        times.append((each["title"], each["targets"], each["minutes"], told, each["expected"]))
        for claim in each["claims"]:
            source = f"`{claim.get('command') or claim['table']}`"
            claims.append((claim["document"], claim["claim"], each["title"], source))
    tables = {
        "times": table_of(("experiment", "targets", "human minutes", "compute minutes", "what to expect"), times),
        "claims": table_of(("document", "claim", "experiment", "where the number is"), claims),
    }
    for name, table in tables.items():
        before, _, rest = text.partition(f"<!-- {name} -->")
        after = rest.partition("<!-- end -->")[2]
        text = f"{before}<!-- {name} -->\n{table}\n<!-- end -->{after}"
    return text
