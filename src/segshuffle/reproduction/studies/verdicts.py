"""Verdicts on statements of papers: one engine for all studies.

A statement is an entry of a file in config/reference. It names a *measure* of its study, what the measure is taken of,
and the condition under which the statement is reproduced: what is compared (all, most or some of the values, all values
of one of the things measured, or their median, mean, least or largest one), how, and with which numbers. The statement
is partly reproduced if some values meet the same comparison. A condition `partly`, which may be on another measure,
replaces this rule.
"""

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Self

import pandas as pd

from segshuffle.errors import ConfigError
from segshuffle.reproduction.rows import sources_of, table_of

REPRODUCED, PARTLY, NOT, OPEN = "reproduced", "partly reproduced", "not reproduced", "not evaluated"
#: Up to so many values are listed one by one.
_LISTED = 4
#: Explanation of the column *found*.
FOUND = (
    f"The column *found* has up to {_LISTED} values, each with its place in brackets. If there are more values, it "
    "says how many of them meet the stated comparison, and gives their median (or mean), the smallest and the largest."
)

#: Comparison -> whether a value, or each of several, meets it, and how it is said.
COMPARISONS: dict[str, tuple[Callable[..., Any], str]] = {
    "above": (operator.gt, "above {:g}"),
    "at least": (operator.ge, "at least {:g}"),
    "below": (operator.lt, "below {:g}"),
    "at most": (operator.le, "at most {:g}"),
    "between": (lambda value, low, high: (value >= low) & (value <= high), "between {:g} and {:g}"),
    "near": (lambda value, stated, within: abs(value - stated) <= within, "within {1:g} of {0:g}"),
    "about": (
        lambda value, stated, factor: (value / stated <= factor) & (value / stated >= 1 / factor),
        "within a factor {1:g} of {0:g}",
    ),
}
#: What is compared: the share of the values that meet the comparison, in words; or one number, as pandas names it.
_SHARES = {
    "all": "every value is",
    "most": "most values are",
    "some": "some value is",
    "all of one": "for one of them every value is",
}
_ONE_NUMBER = {"median": "median", "mean": "mean", "least": "min", "largest": "max"}
#: Entries of a file of statements, see `judge`.
Statements = list[dict[str, Any]]


class NotRunError(Exception):
    """A statement is about something that the configuration left out; it is not evaluated."""


class Measured(NamedTuple):
    """Values of a measure.

    Parameters
    ----------
    parts : mapping of str to mapping (or Series) of str to float
        What was measured -> place -> value, nan where there is none.
    form : str
        Format of a value.
    """

    parts: Mapping[str, Mapping[Any, float] | pd.Series]
    form: str = ".1%"


class Condition(NamedTuple):
    """What is compared, how, and with which numbers."""

    quantity: str
    comparison: str
    numbers: tuple[float, ...]

    @classmethod
    def of(cls, given: Sequence[Any]) -> Self:
        """Read a condition of a file of statements, such as [all, at least, 0.1]."""
        quantity, comparison, *numbers = given
        return cls(quantity, comparison, tuple(numbers))

    @property
    def said(self) -> str:
        """The comparison in words."""
        return COMPARISONS[self.comparison][1].format(*self.numbers)

    @property
    def sentence(self) -> str:
        """The whole condition in words."""
        return f"{_SHARES.get(self.quantity, f'the {self.quantity} is')} {self.said}"

    def meets(self, values: Any) -> Any:
        """Say whether a value, or which of several, meets the comparison."""
        return COMPARISONS[self.comparison][0](values, *self.numbers)

    def holds(self, measured: Measured) -> bool:
        """Say whether the values of a measure meet the condition."""
        parts = [pd.Series(part) for part in measured.parts.values()]
        values = pd.concat(parts, ignore_index=True)
        if self.quantity == "all of one":
            return any(bool(self.meets(part).all()) for part in parts)
        if self.quantity in _SHARES:
            share = self.meets(values).mean()
            return bool({"all": share == 1, "most": share > 0.5, "some": share > 0}[self.quantity])
        return bool(self.meets(values.agg(_ONE_NUMBER[self.quantity])))

    def describe(self, measured: Measured) -> str:
        """Write down a few values one by one; of more, how many meet the comparison, their median and extremes."""
        parts = measured.parts.items()
        return "; ".join(f"{name}: {self._part(pd.Series(part), measured.form)}" for name, part in parts)

    def _part(self, values: pd.Series, form: str) -> str:
        each = {place: f"{value:{form}} ({place})" for place, value in values.items()}
        if len(values) <= _LISTED or values.isna().all():
            return ", ".join(each.values())
        middle = "mean" if self.quantity == "mean" else "median"
        count = f"{int(self.meets(values).sum())} of {len(values)} {self.said}"
        ends = f"from {each[values.idxmin()]} to {each[values.idxmax()]}"
        return f"{count}; {middle} {values.agg(middle):{form}}, {ends}"


def judge(subject: Any, measures: Iterable[Callable[..., Measured]], reference: Statements) -> pd.DataFrame:
    """Judge every statement.

    Parameters
    ----------
    subject : object
        What is measured; first argument of the measures.
    measures : iterable of callable
        Measures of a study, named as the functions; their docstring says what they measure.
    reference : list of dict
        Statements: id, paper (where there are several), section, statement, measure, of (the measure's arguments),
        reproduced (a condition), and optionally partly (a condition, or [] for never), also (another measure and its
        arguments, for `partly`) and note, which is printed if the statement is not, or only partly, reproduced.

    Returns
    -------
    DataFrame
        Columns id, paper, section, statement, verdict, found, note, rule. The verdict on something that did not run is
        "not evaluated", and *found* says what is missing.

    Raises
    ------
    ConfigError
        If a statement names a measure, a quantity or a comparison that does not exist.
    """
    known = {measure.__name__: measure for measure in measures}
    rows = []
    for entry in reference:
        try:
            verdict, values, rule = _judged(subject, known, entry)
        except KeyError as error:
            names = ", ".join([*known, *_SHARES, *_ONE_NUMBER, *COMPARISONS])
            raise ConfigError(f"statement {entry['id']}: {error} is not one of {names}") from error
        note = entry.get("note", "") if verdict in (PARTLY, NOT) else ""
        stated: dict[str, Any] = {key: entry[key] for key in ("id", "paper", "section", "statement") if key in entry}
        rows.append({**stated, "verdict": verdict, "found": values, "note": note, "rule": rule})
    return pd.DataFrame(rows)


def _judged(subject: Any, known: Mapping[str, Callable[..., Measured]], entry: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the verdict, what was found, and how it is judged."""
    wanted = Condition.of(entry["reproduced"])
    given = entry.get("partly", ["some", *entry["reproduced"][1:]])
    partly = Condition.of(given) if given else None
    sources = [entry, *([entry["also"]] if "also" in entry else [])]
    titles = [str(known[source["measure"]].__doc__).partition(".")[0] for source in sources]
    rule = f"{titles[0]}. Reproduced if {wanted.sentence}."
    if partly:
        other = f" Otherwise {titles[1][:1].lower()}{titles[1][1:]}." if titles[1:] else ""
        rule += f"{other} Partly reproduced if {partly.sentence}."
    try:
        results = [known[source["measure"]](subject, **source["of"]) for source in sources]
    except NotRunError as error:
        return OPEN, str(error), rule
    values = wanted.describe(results[0])
    if partly and results[1:]:
        values += f"; {partly.describe(results[1])}"
    if wanted.holds(results[0]):
        return REPRODUCED, values, rule
    return PARTLY if partly and partly.holds(results[-1]) else NOT, values, rule


def tally(claims: pd.DataFrame) -> dict[str, int]:
    """Count each verdict, best first; "not evaluated" is included only if it occurs."""
    counts = claims["verdict"].value_counts().reindex([REPRODUCED, PARTLY, NOT, OPEN], fill_value=0)
    return {str(verdict): int(number) for verdict, number in counts.items() if number or verdict != OPEN}


def counted(claims: pd.DataFrame) -> str:
    """Say how many statements have each verdict."""
    return ", ".join(f"{number} {verdict}" for verdict, number in tally(claims).items())


def markdown(
    claims: pd.DataFrame, *, title: str, table: pd.DataFrame | None = None, papers: Mapping[str, str] | None = None
) -> str:
    """Write the verdicts as Markdown.

    Parameters
    ----------
    claims : DataFrame
        As `judge` returns it.
    title : str
        Heading, with its number signs, and what is said below it.
    table : DataFrame, optional
        The table that the verdicts are read off; its sources of data are printed.
    papers : mapping of str to str, optional
        Value of column paper -> title of its section; one table if it is not given.
    """
    count = f"{len(claims)} statements: {counted(claims)}."
    parts = [title, f"{count} {FOUND}"]
    if table is not None:
        parts.append(sources_of(table))
    tables = [("", claims)] if papers is None else list(claims.groupby("paper", sort=False))
    for paper, rows in tables:
        if papers:
            parts.append(f"## {papers[str(paper)]}")
        parts.append(table_of(("statement", "verdict", "found"), map(_cells, rows.to_dict("records"))))
    rules = [f"- {', '.join(group['id'])}: {rule}" for rule, group in claims.groupby("rule", sort=False)]
    return "\n\n".join([*parts, "How each statement is judged:", "\n".join(rules)]) + "\n"


def _cells(row: Mapping[Any, Any]) -> tuple[str, str, str]:
    note = f" *{row['note']}*" if row["note"] else ""
    return f"**{row['id']}** ({row['section']}) {row['statement']}", row["verdict"], f"{row['found']}.{note}"
