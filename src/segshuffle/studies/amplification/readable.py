"""The tables of the amplification papers in readable form."""

from __future__ import annotations

import json

import pandas as pd

from segshuffle.pipeline.rows import common
from segshuffle.studies.amplification.exhibits import EXHIBITS, PAPERS


def to_markdown(name: str, table: pd.DataFrame) -> str:
    """Readable form of a table of the papers."""
    exhibit = EXHIBITS[name]
    lines = [f"# Table {exhibit.number}: {exhibit.shows}", "", f"*{PAPERS[exhibit.paper]}*", ""]
    lines += _table5(table) if exhibit.paper == "variation" else _table2(table)
    return "\n".join(lines) + "\n"


def _table5(table: pd.DataFrame) -> list[str]:
    lines = ["| local epsilon | n | T | printed | here | here / printed | without bisection |", _rule(7)]
    for row, known in zip(table.to_dict("records"), map(json.loads, table["parameters"]), strict=True):
        lines.append(
            f"| {known['local_epsilon']:g} | {row['x']:,.0f} | {known['iterations']} | {known['printed']:g} | "
            f"{row['y']:.6g} | {row['y'] / known['printed']:.4f} | {known['without_bisection']:.6g} |"
        )
    kind, status = common(table, "kind", "status")
    lines += ["", "delta = 0.01/n. *Here* is the same bisection of [0, local epsilon] in T steps, upper end; every "]
    lines[-1] += f"comparison is decided by certified intervals. Kind: {kind} ({status})."
    lines += ["", "Running times: `python benchmarks/variation_ratio.py`."]
    return lines


def _table2(table: pd.DataFrame) -> list[str]:
    epsilons = sorted(table["x"].unique())
    lines = ["| bound | " + " | ".join(f"epsilon = {x:g}" for x in epsilons) + " | kind |", _rule(len(epsilons) + 2)]
    for name, rows in table.groupby("accountant", sort=False):
        values = rows.set_index("x")["y"]
        cells = " | ".join(f"{values[x]:.3g}" for x in epsilons)
        lines.append(f"| {name} | {cells} | {': '.join(common(rows, 'kind', 'status'))} |")
    (users,) = {json.loads(text)["n_users"] for text in table["parameters"]}
    (panel,) = common(table, "panel")
    return [
        *lines,
        "",
        f"Delta; n = {users:,}, {panel.replace('$', '')}. The printed values are not in our copy.",
    ]


def _rule(columns: int) -> str:
    return "|" + "---|" * columns
