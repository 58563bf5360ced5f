"""The readings as a section of claims.md, and as a figure."""

from collections.abc import Mapping

import pandas as pd
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from segshuffle.drawing.looks import PALETTE, TINTS
from segshuffle.drawing.style import finished, panel_grid
from segshuffle.reproduction.rows import table_of
from segshuffle.reproduction.studies.readings.choices import CHOICES, HEADING
from segshuffle.reproduction.studies.verdicts import NOT, OPEN, PARTLY, REPRODUCED

#: Verdict -> mark in the table, and colour in the figure.
MARKS = {REPRODUCED: "+", PARTLY: "(+)", NOT: "-", OPEN: "?"}
_COLORS = (PALETTE["blue"], PALETTE["sky"], TINTS["refuted"], TINTS["white"])
#: Columns of `compute.verdicts` that are not statements.
_FACTS = (*CHOICES, "ours", REPRODUCED, PARTLY, NOT)

_HEAD = f"""## {HEADING}

The paper leaves choices open ([deviations.md](deviations.md)). Here the same statements are judged by the same rules
under every combination of the choices that matter most. Errors are closed forms.

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


def section(table: pd.DataFrame) -> str:
    """Write what is chosen and what comes out, a column per reading.

    Parameters
    ----------
    table : DataFrame
        As `compute.verdicts` returns it.
    """
    names = [f"**{number}**" if ours else str(number) for number, ours in enumerate(table["ours"], start=1)]
    columns = table.drop(columns="ours").replace(MARKS)
    legend = ", ".join(f"`{mark}` {verdict}" for verdict, mark in MARKS.items())
    parts = [
        _HEAD,
        "![Readings](figures/readings.png)",
        "### Statements and readings",
        f"The reading with most statements reproduced is first, ours is bold: {legend}.",
        table_of(["reading", *names], ([name, *column] for name, column in columns.items())),
        "### What one choice changes",
        "Each line changes one choice of our reading, and lists the verdicts that change.",
        "\n".join(_changes(table)),
    ]
    return "\n\n".join(parts) + "\n"


def _changes(table: pd.DataFrame) -> list[str]:
    """Compare our reading with those that differ from it in one choice."""
    (ours,) = table[table["ours"]].to_dict("records")
    lines = []
    for row in table.to_dict("records"):
        differs = [name for name in table if row[name] != ours[name]]
        choices = [f"`{name}: {row[name]}`" for name in differs if name in CHOICES]
        moved = [f"{name} ({ours[name]} -> {row[name]})" for name in differs if name not in _FACTS]
        if len(choices) == 1:
            lines.append(f"- {choices[0]}: {', '.join(moved) or 'nothing'}.")
    return lines


def draw(table: pd.DataFrame) -> Figure:
    """Draw what every reading (column) chooses, in black, and the verdict on every statement under it."""
    last = len(_COLORS)
    # black, or white as what is not evaluated
    cells = {
        f"{choice}: {value}": last - (table[choice] != value) for choice, values in CHOICES.items() for value in values
    }
    rows = pd.DataFrame(cells).join(table.drop(columns=[*_FACTS]).map([*MARKS].index))
    figure, (axis,) = panel_grid(1, height=5.2, width=7.2, foot=0.6)
    axis.imshow(rows.T, cmap=ListedColormap([*_COLORS, PALETTE["black"]]), vmin=0, vmax=last, aspect="auto")
    axis.axhline(len(cells) - 0.5, color=PALETTE["black"])
    ours = list(table["ours"]).index(True)
    axis.axvspan(ours - 0.5, ours + 0.5, fill=False, color=PALETTE["vermilion"], lw=1.5)
    axis.set_yticks(range(len(rows.columns)), rows.columns, fontsize=6)
    axis.set_xticks(range(len(rows)), map(str, range(1, len(rows) + 1)), fontsize=6)
    axis.set_xlabel("reading, best first; ours is framed")
    axis.grid(visible=False)
    legend = zip(MARKS, _COLORS, strict=True)
    return finished(figure, [Patch(fc=color, ec=TINTS["frame"], label=name) for name, color in legend])


def description(figure: str, tables: Mapping[str, pd.DataFrame]) -> str | None:
    """Say how many statements ours and the best reading reproduce."""
    if figure != "readings":
        return None
    table = tables["readings.csv"]
    (ours,) = table[table["ours"]][REPRODUCED]
    best = table[REPRODUCED].max()
    return (
        f"Table of colours: verdicts under {len(table)} readings. Ours reproduces {ours} statements, the best {best}."
    )
