"""Try a plan on data that you have, and compare estimates with the truth, in tables, figures and a page.

    segshuffle rehearse FILE

is enough. Every option has a default, which is printed: one level with epsilon = 1, delta = 1/(100 users), 20
repetitions, and the largest number of items per user that is best for the 20 most frequent items of the file.

The collection is simulated. The truth is the file as it is; the loss from cutting larger sets is shown separately.
Rehearse on data like those that you will collect, such as last year's. Choosing options by looking at the data of the
collection itself breaks the guarantee.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from segshuffle.cli.options import PLANNING, add, question_of
from segshuffle.cli.reading import add_file, read_users
from segshuffle.cli.sweep import integers
from segshuffle.cli.terminal import Level, by_item, counted, integer, number, seldom, shown, whole, wrapped
from segshuffle.errors import OptionsError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from segshuffle.datasets.transactions import Transactions
    from segshuffle.planning.documents import Document
    from segshuffle.planning.question import Answer
    from segshuffle.protocols.base import Plan, SetKind
    from segshuffle.rehearsal.run import Rehearsal

#: Repetitions unless another number is given, and the entries that they may read together where levels are at random.
_REPETITIONS, _ENTRIES = 20, 10**8


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    add_file(parser)
    parser.add_argument(
        "--plan",
        type=Path,
        metavar="PLAN.json",
        help="rehearse this plan, as plan --save writes it, instead of a new one; its items, levels, delta and set "
        "size are used",
    )
    parser.add_argument(
        "--set-size",
        type=integer,
        metavar="S",
        help="most items that a user sends; a user who holds more sends a random S of them (default: the size with "
        "the least error for the most frequent items of the file, see --top)",
    )
    add(parser, *PLANNING)
    parser.add_argument(
        "--repetitions",
        type=integer,
        metavar="R",
        help=f"how often the collection is simulated (default {_REPETITIONS}; fewer if levels are drawn at random and "
        "the file is large)",
    )
    parser.add_argument("--seed", type=integer, default=0, help="seed of all random numbers (default 0)")
    add(parser, "--top", default=20)
    parser.add_argument(
        "--out",
        type=Path,
        metavar="FOLDER",
        help="where to write tables, figures and the page (default: NAME-rehearsal)",
    )
    add(parser, "--json")
    messages = parser.add_argument_group("message by message")
    messages.add_argument(
        "--messages",
        action="store_true",
        help="also simulate every message of both rounds, once; only the errors of this simulation include round 1 "
        "(about the levels)",
    )
    messages.add_argument(
        "--take-part",
        type=number,
        metavar="SHARE",
        help="with --messages: probability, in (0, 1], with which each user sends items; the others drop out after "
        "sending their level; fewer users than --honest-fraction relies on are refused (default 1)",
    )
    messages.add_argument(
        "--chunk-users",
        type=integer,
        metavar="USERS",
        help="with --messages: users per batch, which bounds the memory; messages wait in a temporary file",
    )
    sizes = parser.add_argument_group("sizes of sets")
    sizes.add_argument(
        "--set-sizes",
        type=_sizes,
        metavar="SIZES",
        help="only compare these values of --set-size (1,2,4 or 1..17) by the error of all items; or, without a file, "
        "give a guess of how many users hold how many items: 1:60%%,3:30%%,10:10%%",
    )
    add(
        sizes,
        "--zipf",
        default=1.0,
        help="with such a guess: the frequency of the j-th item is roughly proportional to j^-EXPONENT (default 1)",
    )
    parser.set_defaults(sets="at-most")


def run(options: argparse.Namespace) -> str:
    """Read, plan, rehearse, write."""
    from segshuffle.cli.saved_plan import read_plan, serving
    from segshuffle.extras import require
    from segshuffle.rehearsal.by_message import by_message
    from segshuffle.rehearsal.folder import check_place
    from segshuffle.rehearsal.run import rehearse

    _check(options)
    if options.set_sizes is not None:
        return _compared(options)
    # before a large file is read
    require("pipeline", "A rehearsal")
    if options.out is not None:
        check_place(options.out)
    document = None if options.plan is None else read_plan(options)
    users = read_users(options, _offered(options, document))
    folder = options.out or Path(f"{users.label if options.file != '-' else 'input'}-rehearsal")
    check_place(folder)
    asked: Answer | None = None
    if document is None:
        asked, assumed = _planned(options, users)
        plan = asked.plan
    else:
        plan, assumed = serving(document.plan, users, options)
    repetitions = options.repetitions or _repetitions(plan, users)
    if options.repetitions is None:
        assumed.append(f"{repetitions} repetitions (--repetitions)")
    found = rehearse(
        plan, users, repetitions=repetitions, seed=options.seed, progress=seldom("{} of {} repetitions".format)
    )
    answer = _answer(found, users, options, assumed)
    if asked is not None and options.messages:
        answer["by_message"] = by_message(
            users,
            plan.problem,
            asked.question.method.plan,
            level_privacy=asked.question.level_privacy,
            take_part=1.0 if options.take_part is None else options.take_part,
            chunk_users=options.chunk_users,
            seed=options.seed,
        )
    if asked is not None and options.hide_level is not None:
        answer["promises"] = asked.words["What they are promised"]
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
    for name in ("take_part", "chunk_users"):
        if getattr(options, name) is not None and not options.messages:
            raise OptionsError(f"--{name.replace('_', '-')} has no effect without --messages: add --messages.")
    if options.plan is not None and (options.messages or options.hide_level is not None):
        raise OptionsError("--messages and --hide-level make a new plan from the result of round 1: leave --plan out.")
    guessed = isinstance(options.set_sizes, dict)
    needed = (options.domain_size, options.levels, options.delta)
    if guessed and (options.file is not None or None in needed):
        raise OptionsError(
            "--set-sizes with shares is a guess, which needs no file: leave the file out, and give --domain-size, "
            "--levels with numbers of users, and --delta."
        )
    if options.file is None and not guessed:
        raise OptionsError("a file is needed, or --set-sizes with a guess such as 1:60%,3:40%: name a file, or - .")


def _sizes(text: str) -> dict[int, float] | tuple[int, ...]:
    """Read sizes, or ``size:share%`` pairs separated by commas."""
    if ":" not in text:
        return integers(text)
    found: dict[int, float] = {}
    for part in text.split(","):
        size, _, share = part.partition(":")
        try:
            if not share.endswith("%") or whole(size) in found:
                raise ValueError
            found[whole(size)] = float(share[:-1]) / 100
        except ValueError:
            raise argparse.ArgumentTypeError(
                f"{part!r} is not the share of a size: write size:share% pairs with commas, each size once, "
                "e.g. 1:60%,3:40%"
            ) from None
    return found


def _compared(options: argparse.Namespace) -> str:
    """Compare sizes of sets, on the file or by the guess."""
    from segshuffle.protocols.padding import guessed_holders
    from segshuffle.rehearsal.set_sizes import compared, holders_of

    guess = options.set_sizes
    seen: Any
    held: Any
    if isinstance(guess, dict):
        seen, held = guessed_holders(guess, options.domain_size, options.zipf)
        sizes, levels, domain_size = sorted(size for size in guess if size), counted(options.levels, None), len(held[0])
    else:
        users = read_users(options, _offered(options, None))
        (seen, held), sizes = holders_of(users), list(guess)
        _assume(options, users)
        levels, domain_size = users_by_level(options.levels, users), users.domain_size
    question = question_of(options, domain_size=domain_size, set_size=1, level_counts=levels)
    kinds: tuple[SetKind, ...] = ("at-most",) if isinstance(guess, dict) else ("at-most", "exactly")
    rows = compared(question.method, question.problem, seen, held, sizes, kinds)
    best = min(rows, key=lambda row: row["mse"])
    if options.json:
        return shown({"users": question.problem.n_users, "rows": rows, "least_error": best}, as_json=True)
    lines = [
        f"{row['sets']:<8} {row['set_size']:>2}   {row['mse']:<10.3e}  {row['squared_bias']:<10.3e}  "
        f"{row['messages_per_user']:<8.3g}  {row['kind']}"
        for row in rows
    ]
    head = "sets      s   error       from bias   messages  kind"
    return "\n".join([head, *lines, f"least error: {best['sets']} {best['set_size']}"])


def users_by_level(levels: Sequence[Level], users: Transactions) -> tuple[tuple[float, int], ...]:
    """Count the users of every level: as given, as shares, or as the data say."""
    held = users.level_counts(len(levels))
    if held is not None and all(count is None for _, count in levels):
        return tuple((level, count) for (level, _), count in zip(levels, held, strict=True))
    return counted(levels, users.n_users)


def _offered(options: argparse.Namespace, document: Document | None) -> tuple[float, ...]:
    """Return the levels that a column of the file may have."""
    if options.level_column is None:
        return ()
    return tuple(level for level, _ in options.levels) if document is None else document.plan.problem.levels


def _assume(options: argparse.Namespace, users: Transactions) -> list[str]:
    """Take levels and delta where nothing is said, and say which."""
    assumed = []
    if options.levels is None:
        options.levels = ((1.0, Fraction(1)),)
        assumed.append("one level, epsilon = 1, for everybody (--levels)")
    if options.delta is None:
        options.delta = (0.01 / users.n_users,)
        assumed.append(f"delta = 1/(100 users) = {options.delta[0]:.3g} (--delta)")
    return assumed


def _planned(options: argparse.Namespace, users: Transactions) -> tuple[Answer, list[str]]:
    """Plan for the users of the file, and say what was assumed because nothing was said."""
    from segshuffle.planning.question import answer
    from segshuffle.rehearsal.chosen_size import chosen

    assumed = _assume(options, users)
    counts = users_by_level(options.levels, users)

    def make(size: int) -> Answer:
        sizes: dict[str, Any] = {"domain_size": users.domain_size, "set_size": size}
        return answer(question_of(options, **sizes, level_counts=counts))

    if options.set_size is not None:
        return make(options.set_size), assumed
    found = chosen(users, make, options.top)
    assumed.append(
        f"at most {found.plan.problem.set_size} items per user, the best number for the top {options.top} of this "
        "file; this choice is not private (--set-size)"
    )
    return found, assumed


def _repetitions(plan: Plan, users: Transactions) -> int:
    """Fewer where every repetition reads all entries again."""
    if len(plan.problem.levels) == 1 or users.levels is not None:
        return _REPETITIONS
    return max(1, min(_REPETITIONS, _ENTRIES // max(users.codes.size, 1)))


def _answer(found: Rehearsal, users: Transactions, options: argparse.Namespace, assumed: list[str]) -> dict[str, Any]:
    """Everything but the items, JSON-ready."""
    from segshuffle.planning.foresight import CONFIDENCE
    from segshuffle.planning.wording import promises, resting_on, sending
    from segshuffle.protocols.item_variance import coverage_of_nothing
    from segshuffle.rehearsal.tables import groups_table, summary, top_table

    plan = found.plan
    notes = [*users.notes]
    rare = coverage_of_nothing(plan, CONFIDENCE)
    if abs(rare - CONFIDENCE) > 0.01:
        notes.append(
            f"Few dummies are sent, so the 95 % interval of an item that nobody holds contains 0 in {100 * rare:.3g} % "
            "of all collections."
        )
    if found.bias is not None:
        notes.append(_about_levels(100 * float(abs(found.bias).max())))
    return {
        "data": users.label,
        "summary": summary(found, options.top),
        "assumed": assumed,
        "notes": notes,
        "warnings": plan.warnings,
        "sending": sending(plan),
        "promises": promises(plan),
        "rests_on": resting_on(plan),
        "groups": groups_table(found).fill_nan(None).to_dicts(),
        "recovery": top_table(found).to_dicts(),
        "seed": options.seed,
        "problem": {
            name: getattr(plan.problem, name)
            for name in ("domain_size", "set_size", "levels", "level_counts", "deltas")
        },
        "plan": plan.as_dict(),
    }


def _about_levels(largest: float) -> str:
    """Say what levels that the data have do to the estimates."""
    if largest < 1e-9:
        return "Levels are those of the data. They bias no estimate."
    return (
        "Levels are those of the data. Because they depend on items, or by chance, estimates are off by up to "
        f"{largest:.2g} % of the users on average. If they depend on items, more users do not remove this error; "
        "--equal-copies does."
    )


def _write(folder: Path, found: Rehearsal, answer: dict[str, Any], options: argparse.Namespace) -> None:
    """Write the folder, as a whole or not at all."""
    from segshuffle.planning.documents import Document, as_text
    from segshuffle.rehearsal import page
    from segshuffle.rehearsal.figures import write_figures
    from segshuffle.rehearsal.folder import MARK, new_folder
    from segshuffle.rehearsal.tables import groups_table, items_table, top_table

    with new_folder(folder) as place:
        for name, table in (("items", items_table), ("groups", groups_table), ("recovery", top_table)):
            table(found).write_csv(place / f"{name}.csv")
            table(found).write_parquet(place / f"{name}.parquet")
        text = page.build(
            found,
            headline=[f"Rehearsal on {answer['data']}", *_headline(found, answer)],
            notes=[*(f"Assumed: {each}." for each in answer["assumed"]), *answer["notes"], *answer["warnings"]],
            figures=write_figures(found, options.top, place),
            command=f"segshuffle {shlex.join(sys.argv[1:])}",
            top=options.top,
        )
        (place / "index.html").write_text(text, encoding="utf-8")
        (place / "plan.json").write_text(as_text(Document(found.plan, found.names)), encoding="utf-8")
        (place / MARK).write_text(shown(answer, as_json=True) + "\n", encoding="utf-8")


def _headline(found: Rehearsal, answer: dict[str, Any]) -> list[str]:
    """Say what came out."""
    all_of_it, problem = answer["summary"], found.plan.problem
    top = all_of_it["top"]
    lines = [
        f"{all_of_it['users']:,} users, {all_of_it['items']:,} items, of which {all_of_it['items_held']:,} are held."
    ]
    if top:
        lines.append(
            f"The estimates of the top {top} are off by {100 * all_of_it['top_error']:.3g} % of the true shares "
            "(root mean square). "
            f"Cutting sets to {problem.set_size} alone, without noise, gives an error of "
            f"{100 * all_of_it['top_error_from_cutting']:.3g} %."
        )
    if all_of_it["top_found"] is not None:
        lines.append(f"Of the true top {top}, {all_of_it['top_found']:.0%} are among the estimated top {top}.")
    lines.append(
        f"Estimates below {100 * found.threshold:.3g} % of the users cannot be told from zero (for all items at once, "
        f"95 %). {found.found:.4g} items are told from zero, {found.found_wrongly:.3g} of them held by nobody. "
        f"{found.missed:.4g} items are held but not told from zero."
    )
    lines.append(
        f"Of the 95 % intervals, {found.covered_sent.mean():.1%} contain the share that is sent, and "
        f"{found.covered_true.mean():.1%} the share in the data."
    )
    return lines


def _told(found: Rehearsal, answer: dict[str, Any], top: int, folder: Path) -> str:
    """Say the answer for people, 80 columns wide."""
    parts = [wrapped(_headline(found, answer))]
    if answer["assumed"]:
        parts.append("Assumed, because no option says otherwise:\n" + wrapped(answer["assumed"], "- "))
    if answer["warnings"] or answer["notes"]:
        parts.append("Notes:\n" + wrapped([*answer["notes"], *answer["warnings"]], "- "))
    parts.append(wrapped([*answer["sending"], *answer["promises"]]))
    if "by_message" in answer:
        parts.append("Message by message:\n" + wrapped(_messages_told(answer["by_message"]), "- "))
    parts.append(_items(found, top))
    parts.append(f"The page:  {folder}/index.html\nAll items: {folder}/items.csv (and .parquet)")
    return "\n\n".join(parts)


def _messages_told(run: dict[str, Any]) -> list[str]:
    counted = ", ".join(f"{each:.6g}" for each in run["level_estimates"])
    return [
        f"{run['participants']:,} users sent items. Round 1 counts {counted} users by level.",
        f"A user sends {run['messages_per_user']:.4g} messages in both rounds, all users together "
        f"{run['bytes'] / 1e6:.3g} MB.",
        f"The squared error of all items is {run['squared_error']:.3g}; {run['expected_error']:.3g} was expected. "
        f"Because of who has which level, no item is off by more than {100 * max(map(abs, run['bias'])):.2g} % of the "
        "users on average.",
    ]


def _items(found: Rehearsal, top: int) -> str:
    items = [int(item) for item in found.order[:top] if found.true[item] > 0]
    lines = [
        f"{100 * found.true[item]:8.3f}  {100 * found.sent[item]:8.3f}  {100 * found.estimate[item]:10.3f}  "
        f"{100 * found.low[item]:8.3f} {100 * found.high[item]:8.3f}"
        for item in items
    ]
    table = by_item(
        "  true %    sent %  estimate %      95 % interval", list(zip(map(found.name, items), lines, strict=True))
    )
    return f"{table}\nsent: the share after cutting sets; the estimates are those of one collection"
