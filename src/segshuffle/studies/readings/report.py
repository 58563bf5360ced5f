"""The readings as Markdown and as a figure."""

from collections.abc import Mapping

import pandas as pd
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from segshuffle.looks import PALETTE, TINTS
from segshuffle.pipeline.rows import table_of
from segshuffle.pipeline.style import finished, panel_grid
from segshuffle.studies.readings.choices import CHOICES, place_of_ours
from segshuffle.studies.verdicts import NOT, OPEN, PARTLY, REPRODUCED

#: Verdict -> mark in the table, and colour in the figure.
MARKS = {REPRODUCED: "+", PARTLY: "(+)", NOT: "-", OPEN: "?"}
_COLORS = {
    REPRODUCED: PALETTE["blue"],
    PARTLY: PALETTE["sky"],
    NOT: TINTS["refuted"],
    OPEN: TINTS["white"],
}
#: Columns of `compute.verdicts` that are not statements.
_FACTS = (*CHOICES, "ours", REPRODUCED, PARTLY, NOT)

_HEAD = """# Which reading of the paper reproduces its statements

The paper leaves choices open ([deviations.md](deviations.md)). This page judges its statements under every combination
of those that matter most. The statements and the rules are those of [claims.md](claims.md), and the same code judges
them. Errors are closed forms.

- `analysis`: privacy analysis of balls into bins (MM and SepMM). `numerical` is the exact condition for the least m, by
  the variation-ratio reduction; `closed-form` is the original sufficient bound, n m = 32 ln(2/delta') d/eps'^2.
- `weight_users`: what n is in the weights of Weighted SepMM, the users of the `level` or `all` users.
- `padding`: what fills the sets of MSNBC users with fewer than s items, other items of the domain or dummy items.
- `error`: the squared error against the shares of the simulated `users`, that against the `distribution` from which
  they are drawn, or the paper's `bound` of the latter (section 5.2; Subexp has no bound, and keeps its exact error).

Ours is numerical, because the paper says that its experiments use numerical bounds. Its weights have the users of the
level, because they are made of the error bound of a protocol with n users, which each level runs on its own. Its
padding keeps the number of items that the paper gives. Its error is against the simulated users, because what the
choice of these users adds is the same for every method and every m. What n is in the delta of SepMM is not open: in
"25% · n users run the balls-into-bins protocol with (0.5, 0.01/n)-DP" it is the number of all users."""


def markdown(table: pd.DataFrame) -> str:
    """Write all readings, and statements over readings.

    Parameters
    ----------
    table : DataFrame
        As `compute.verdicts` returns it.
    """
    rows = table.to_dict("records")
    names = [f"**{number}**" if row["ours"] else str(number) for number, row in enumerate(rows, start=1)]
    facts = [[name, *(row[each] for each in _FACTS if each != "ours")] for name, row in zip(names, rows, strict=True)]
    statements = [[each, *(MARKS[row[each]] for row in rows)] for each in _statements(table)]
    legend = ", ".join(f"`{mark}` {verdict}" for verdict, mark in MARKS.items())
    lines = [
        _HEAD,
        "",
        place_of_ours(table),
        "",
        "![Readings](figures/readings.png)",
        "",
        "## The readings, best first (ours in bold)",
        "",
        *table_of(["reading", *CHOICES, REPRODUCED, PARTLY, NOT], facts),
        "",
        "## Statements over readings",
        "",
        f"{legend}.",
        "",
        *table_of(["statement", *names], statements),
        "",
        "## What one choice changes",
        "",
        "Each line changes one choice of our reading, and lists the verdicts that change.",
        "",
        *_changes(table),
    ]
    return "\n".join(lines) + "\n"


def _statements(table: pd.DataFrame) -> list[str]:
    return [name for name in table.columns if name not in _FACTS]


def _changes(table: pd.DataFrame) -> list[str]:
    """Compare our reading with those that differ from it in one choice."""
    (ours,) = table[table["ours"]].to_dict("records")
    lines = []
    for row in table.to_dict("records"):
        changed = [choice for choice in CHOICES if row[choice] != ours[choice]]
        if len(changed) != 1:
            continue
        moved = [f"{name} ({ours[name]} -> {row[name]})" for name in _statements(table) if row[name] != ours[name]]
        lines.append(f"- `{changed[0]}: {row[changed[0]]}`: {', '.join(moved) or 'nothing'}.")
    return lines


def draw(table: pd.DataFrame) -> Figure:
    """Draw the verdict on every statement (rows) under every reading (columns), and what each reading chooses."""
    statements, order = _statements(table), list(_COLORS)
    cells = table[statements].map(order.index).to_numpy().T
    figure, (axis, chosen) = panel_grid(2, 1, height=3.1, width=7.2, foot=0.6)
    axis.imshow(cells, cmap=ListedColormap(list(_COLORS.values())), vmin=0, vmax=len(order) - 1, aspect="auto")
    axis.set_yticks(range(len(statements)), statements, fontsize=6)
    options = [(choice, value) for choice, values in CHOICES.items() for value in values]
    for row, (choice, value) in enumerate(options):
        places = [column for column, taken in enumerate(table[choice]) if taken == value]
        chosen.plot(places, [row] * len(places), "o", color=PALETTE["black"], ms=4)
    chosen.set_yticks(range(len(options)), [f"{choice}: {value}" for choice, value in options], fontsize=6)
    chosen.invert_yaxis()
    chosen.set_xlabel("reading, best first; ours is framed")
    for each in (axis, chosen):
        each.set_xticks(range(len(table)), map(str, range(1, len(table) + 1)), fontsize=6)
        each.set_xlim(-0.5, len(table) - 0.5)
        each.grid(visible=False)
        each.axvspan(*_around(table), fill=False, color=PALETTE["vermilion"], lw=1.5)
    return finished(figure, [Patch(fc=color, ec=TINTS["frame"], label=name) for name, color in _COLORS.items()])


def _around(table: pd.DataFrame) -> tuple[float, float]:
    """Return the ends of the column of our reading."""
    place = list(table["ours"]).index(True)
    return place - 0.5, place + 0.5


def words(figure: str, tables: Mapping[str, pd.DataFrame]) -> str | None:
    """Say how many statements ours and the best reading reproduce."""
    if figure != "readings":
        return None
    table = tables["readings.csv"]
    (ours,) = table[table["ours"]][REPRODUCED]
    return (
        f"Table of colours: the verdict on {len(_statements(table))} statements under {len(table)} readings. Ours "
        f"reproduces {ours}, the best {table[REPRODUCED].max()}."
    )
