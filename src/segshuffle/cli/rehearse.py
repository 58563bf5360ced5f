"""Try a plan on data at hand, and say what it would give: estimates beside the truth, with tables, figures and a page.

    segshuffle rehearse FILE

is enough. What you do not say is assumed, and said: one level with epsilon = 1, delta = 1/(100 users), users who send
at most as many items as is best for the 20 most frequent ones of the file, and 20 repetitions.

The collection is simulated. The truth is the file as it is; what cutting larger sets does is shown apart. Rehearse on
data like those that you will collect, such as last year's: what is chosen by looking at the data of the collection
itself breaks the guarantee.
"""

from __future__ import annotations

import argparse
import contextlib
import shlex
import sys
import textwrap
import time
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from segshuffle.blankets import law_names
from segshuffle.cli.reading import add_file, read_users
from segshuffle.cli.simulate import users_by_level
from segshuffle.cli.terminal import add_assumptions, add_delta, integer, levels, number, shown
from segshuffle.errors import ParameterError

if TYPE_CHECKING:
    from segshuffle.datasets.transactions import Transactions
    from segshuffle.protocols.base import Plan
    from segshuffle.rehearsal.documents import Document
    from segshuffle.rehearsal.run import Rehearsal

#: Repetitions unless another number is given, and the entries that they may read together where levels are at random.
_REPETITIONS, _ENTRIES = 20, 10**8
_WIDTH = 80
#: What holds for a new plan where nothing is said; a saved plan has its own.
_DEFAULTS = {"blanket": "poisson", "copies_max": 1.0, "honest_fraction": 1.0, "rounds": 1}


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    add_file(parser)
    parser.add_argument(
        "--plan",
        type=Path,
        metavar="PLAN.json",
        help="rehearse this plan, as plan --save writes it, instead of a new one: its items, levels, delta and set "
        "size hold",
    )
    parser.add_argument(
        "--levels",
        type=levels,
        metavar="EPSILON:SHARE%,...".replace("%", "%%"),
        help="privacy levels with the share or number of users at each, given out at random, e.g. 0.5:25%%,1.0:75%%; "
        "with --level-column the epsilons alone (default: everybody has epsilon = 1)",
    )
    add_delta(parser, required=False, about="default: 1/(100 users)")
    parser.add_argument(
        "--set-size",
        type=integer,
        metavar="S",
        help="most items that a user sends: whoever holds more sends a random S of them (default: that of least error "
        "for the most frequent items of the file, see --top)",
    )
    parser.add_argument(
        "--blanket",
        choices=[*law_names(), "best"],
        help="law of the dummy messages; best is that of least error for --max-messages (default: poisson)",
    )
    parser.add_argument(
        "--copies-max",
        type=number,
        metavar="COPIES",
        help="most messages that a user sends about one held item, on average; more have less error (default 1)",
    )
    parser.add_argument(
        "--max-messages",
        type=number,
        metavar="MESSAGES",
        help="most messages that a user sends altogether, on average; that about the level counts",
    )
    parser.add_argument(
        "--equal-copies",
        action="store_true",
        help="all levels send the same number of copies: no bias where levels go with items, at the error of the "
        "lowest level",
    )
    add_assumptions(parser)
    parser.add_argument(
        "--repetitions",
        type=integer,
        metavar="R",
        help=f"how often the collection is simulated (default {_REPETITIONS}; fewer where levels are at random and the "
        "file is large)",
    )
    parser.add_argument("--seed", type=integer, default=0, help="seed of everything random (default 0)")
    parser.add_argument(
        "--top", type=integer, default=20, metavar="K", help="how many of the most frequent items matter (default 20)"
    )
    parser.add_argument(
        "--out",
        type=Path,
        metavar="FOLDER",
        help="where to write tables, figures and the page (default: NAME-rehearsal)",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    # given or not: a saved plan may be contradicted
    parser.set_defaults(run=run, honest_fraction=None, rounds=None)


def run(options: argparse.Namespace) -> str:
    """Read, plan, rehearse, write."""
    from segshuffle.cli.saved_plan import read_plan, serving
    from segshuffle.extras import require
    from segshuffle.rehearsal.folder import check_place
    from segshuffle.rehearsal.run import rehearse

    # before a large file is read
    require("pipeline", "A rehearsal")
    _check(options)
    if options.out is not None:
        check_place(options.out)
    document = None if options.plan is None else read_plan(options)
    users = read_users(options, _offered(options, document))
    folder = options.out or Path(f"{users.label if options.file != '-' else 'input'}-rehearsal")
    check_place(folder)
    plan, assumed = _plan(options, users) if document is None else serving(document.plan, users, options)
    repetitions = options.repetitions or _repetitions(plan, users)
    if options.repetitions is None:
        assumed.append(f"{repetitions} repetitions (--repetitions)")
    found = rehearse(plan, users, repetitions=repetitions, seed=options.seed, progress=_progress())
    answer = _answer(found, users, options, assumed)
    _write(folder, found, answer, options)
    if options.json:
        return shown({**answer, "folder": str(folder)}, as_json=True)
    return _told(found, answer, options.top, folder)


def _check(options: argparse.Namespace) -> None:
    """Refuse what is out of range or missing."""
    for name in ("top", "repetitions"):
        value = getattr(options, name)
        if value is not None and value < 1:
            raise ParameterError(name, value, "an integer >= 1")
    if options.level_column is not None and options.levels is None and options.plan is None:
        raise ParameterError("--levels", None, "given with --level-column: the epsilons on offer, e.g. 0.5,1.0")


def _offered(options: argparse.Namespace, document: Document | None) -> tuple[float, ...]:
    """The levels that a column of the file may have."""
    if options.level_column is None:
        return ()
    return tuple(level for level, _ in options.levels) if document is None else document.plan.problem.levels


def _plan(options: argparse.Namespace, users: Transactions) -> tuple[Plan, list[str]]:
    """The plan, and what was assumed for it because nothing was said."""
    from segshuffle.protocols.assumptions import Assumptions
    from segshuffle.protocols.base import Problem
    from segshuffle.protocols.messages.budget import left_for_items, level_messages
    from segshuffle.rehearsal.chosen_size import chosen_plan
    from segshuffle.rehearsal.planning import method

    for name, value in _DEFAULTS.items():
        if getattr(options, name) is None:
            setattr(options, name, value)
    assumed = []
    asked = options.levels
    if asked is None:
        asked = ((1.0, Fraction(1)),)
        assumed.append("one level, epsilon = 1, for everybody (--levels)")
    counts = users_by_level(asked, users)
    delta = options.delta
    if delta is None:
        delta = 0.01 / users.n_users
        assumed.append(f"delta = 1/(100 users) = {delta:.3g} (--delta)")
    assumptions = Assumptions(sets="at-most", honest_fraction=options.honest_fraction, rounds=options.rounds)
    budget = options.max_messages
    if budget is not None:
        spent = level_messages(assumptions.honest_of(users.n_users), len(counts), None)
        budget = left_for_items(budget, spent)
    chosen = method(
        options.blanket, copies_max=options.copies_max, max_messages=budget, equal_copies=options.equal_copies
    )

    def make(size: int) -> Plan:
        offered, numbers = tuple(level for level, _ in counts), tuple(each for _, each in counts)
        return chosen.plan(Problem(users.domain_size, size, offered, numbers, delta, assumptions, options.level_deltas))

    if options.set_size is not None:
        return make(options.set_size), assumed
    plan = chosen_plan(users, make, options.top)
    assumed.append(
        f"at most {plan.problem.set_size} items a user, which is best for the top {options.top} of this file and "
        "not private (--set-size)"
    )
    return plan, assumed


def _repetitions(plan: Plan, users: Transactions) -> int:
    """Fewer where every repetition reads all entries again."""
    if len(plan.problem.levels) == 1 or users.levels is not None:
        return _REPETITIONS
    return max(1, min(_REPETITIONS, _ENTRIES // max(users.codes.size, 1)))


def _answer(found: Rehearsal, users: Transactions, options: argparse.Namespace, assumed: list[str]) -> dict[str, Any]:
    """Everything but the items, JSON-ready."""
    from segshuffle.protocols.item_variance import coverage_of_nothing
    from segshuffle.rehearsal.run import CONFIDENCE
    from segshuffle.rehearsal.tables import groups_table, summary, top_table
    from segshuffle.rehearsal.wording import promises, resting_on, sending

    plan = found.plan
    notes = [*users.notes]
    rare = coverage_of_nothing(plan, CONFIDENCE)
    if abs(rare - CONFIDENCE) > 0.01:
        notes.append(
            f"Few dummies are sent: the 95 % interval of an item that nobody holds has 0 in it in {100 * rare:.3g} % "
            "of all collections."
        )
    if found.bias is not None:
        notes.append(_about_levels(100 * float(abs(found.bias).max())))
    return {
        "data": users.label,
        "summary": summary(found, options.top),
        "assumed": assumed,
        "notes": notes,
        "warnings": list(plan.warnings),
        "sending": sending(plan),
        "promises": promises(plan),
        "rests_on": resting_on(plan),
        "groups": _rows(groups_table(found)),
        "recovery": _rows(top_table(found)),
        "seed": options.seed,
        "problem": {
            "domain_size": plan.problem.domain_size,
            "set_size": plan.problem.set_size,
            "levels": list(plan.problem.levels),
            "level_counts": list(plan.problem.level_counts),
            "deltas": list(plan.problem.deltas),
        },
        "plan": plan.as_dict(),
    }


def _about_levels(largest: float) -> str:
    """What levels that the data have do to the estimates."""
    if largest < 1e-9:
        return "Levels are those of the data. All levels send as many copies, so they bias no estimate."
    return (
        "Levels are those of the data: because they go with items, or by chance, estimates are off by up to "
        f"{largest:.2g} % of the users on average. Where they go with items no number of users removes that; "
        "--equal-copies does."
    )


def _rows(table: Any) -> list[dict[str, Any]]:
    """Rows of a table; what is not a number is None in JSON."""
    rows = [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]
    return [{name: None if value != value else value for name, value in row.items()} for row in rows]


def _write(folder: Path, found: Rehearsal, answer: dict[str, Any], options: argparse.Namespace) -> None:
    """The folder, as a whole or not at all."""
    from segshuffle.rehearsal import page
    from segshuffle.rehearsal.documents import Document, as_text
    from segshuffle.rehearsal.figures import write_figures
    from segshuffle.rehearsal.folder import MARK, new_folder, write_table
    from segshuffle.rehearsal.tables import groups_table, items_table, top_table

    with new_folder(folder) as place:
        for name, table in (("items", items_table), ("groups", groups_table), ("recovery", top_table)):
            write_table(place / name, table(found))
        sentences = write_figures(found, options.top, place)
        figures = {
            name: ((place / f"{name}.svg").read_text(encoding="utf-8"), sentence)
            for name, sentence in sentences.items()
        }
        text = page.build(
            found,
            headline=[f"Rehearsal on {answer['data']}", *_headline(found, answer)],
            notes=[*(f"Assumed: {each}." for each in answer["assumed"]), *answer["notes"], *answer["warnings"]],
            figures=figures,
            command=_command(options),
            top=options.top,
        )
        (place / "index.html").write_text(text, encoding="utf-8")
        (place / "plan.json").write_text(as_text(Document(found.plan, found.names)), encoding="utf-8")
        (place / MARK).write_text(shown(answer, as_json=True) + "\n", encoding="utf-8")


def _headline(found: Rehearsal, answer: dict[str, Any]) -> list[str]:
    """What came out, in sentences."""
    all_of_it, problem = answer["summary"], found.plan.problem
    top = all_of_it["top"]
    lines = [
        f"{all_of_it['users']:,} users, {all_of_it['items']:,} items, of which {all_of_it['items_held']:,} are held."
    ]
    if top:
        lines.append(
            f"The top {top} are off by {100 * all_of_it['top_error']:.3g} % of their true share (root mean square); by "
            f"{100 * all_of_it['top_error_from_cutting']:.3g} % from cutting sets to {problem.set_size} alone."
        )
    if all_of_it["top_found"] is not None:
        lines.append(f"Of the true top {top}, {all_of_it['top_found']:.0%} are among the estimated top {top}.")
    lines.append(
        f"Estimates below {100 * found.threshold:.3g} % of the users cannot be told from 0 (all items at once, 95 %): "
        f"{found.found:.4g} items are told from 0, {found.found_wrongly:.3g} of them held by nobody; "
        f"{found.missed:.4g} are held and not told from 0."
    )
    lines.append(
        f"95 % intervals: {found.covered_sent.mean():.1%} hold the share that is sent, {found.covered_true.mean():.1%} "
        "the share in the data."
    )
    return lines


def _told(found: Rehearsal, answer: dict[str, Any], top: int, folder: Path) -> str:
    """The answer for people, 80 columns wide."""
    parts = [_wrapped(_headline(found, answer))]
    if answer["assumed"]:
        parts.append("Assumed, because nothing else was said:\n" + _wrapped(answer["assumed"], "- "))
    if answer["warnings"] or answer["notes"][:]:
        parts.append("Mind:\n" + _wrapped([*answer["notes"], *answer["warnings"]], "- "))
    parts.append(_wrapped([*answer["sending"], *answer["promises"]]))
    parts.append(_items(found, top))
    parts.append(f"The page:  {folder}/index.html\nAll items: {folder}/items.csv (and .parquet)")
    return "\n\n".join(parts)


def _wrapped(sentences: list[str], mark: str = "") -> str:
    return "\n".join(
        textwrap.fill(each, _WIDTH, initial_indent=mark, subsequent_indent=" " * len(mark)) for each in sentences
    )


def _items(found: Rehearsal, top: int) -> str:
    items = [int(item) for item in found.order[:top] if found.true[item] > 0]
    width = min(max([len(found.name(item)) for item in items] + [4]), 24)
    head = f"{'item':<{width}}  {'true %':>8}  {'sent %':>8}  {'estimate %':>10}  {'95 % interval':>17}"
    rows = [
        f"{found.name(item)[:width]:<{width}}  {100 * found.true[item]:8.3f}  {100 * found.sent[item]:8.3f}  "
        f"{100 * found.estimate[item]:10.3f}  {100 * found.low[item]:8.3f} {100 * found.high[item]:8.3f}"
        for item in items
    ]
    return "\n".join([head, *rows, "sent: what is left after cutting sets; estimates are of one collection"])


def _command(options: argparse.Namespace) -> str:
    """What was asked, as it was asked."""
    return "segshuffle " + shlex.join(getattr(options, "asked", None) or sys.argv[1:])


def _progress() -> Any:
    """A line every few seconds: a rehearsal of a large file takes minutes."""
    last = time.monotonic()

    def say(done: int, of: int) -> None:
        nonlocal last
        if time.monotonic() - last < 5.0:
            return
        last = time.monotonic()
        with contextlib.suppress(OSError, ValueError, AttributeError):
            print(f"{done} of {of} repetitions", file=sys.stderr, flush=True)

    return say
