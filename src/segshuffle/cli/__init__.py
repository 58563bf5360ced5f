"""The command line: plan a collection, rehearse it, carry it out, compute privacy, fetch the MSNBC data.

Every command has a file of its name: the docstring is the help, `add_options` declares the options, and `run` returns
the text to print. Numerical modules are imported only for the command that is called, so that the list of commands is
immediate. An error is a short text on standard error, which says what was refused and what is allowed. The exit status
is then 2.
"""

import gc
import os
import sys
from argparse import Namespace
from collections.abc import Sequence

from segshuffle.cli import account, client, estimate, fetch_msnbc, plan, rehearse
from segshuffle.cli.terminal import Parser, complain, told, write
from segshuffle.errors import SegshuffleError, similar
from segshuffle.extras import translated

_COMMANDS = (plan, rehearse, client, estimate, account, fetch_msnbc)

_DESCRIPTION = (
    "Privacy numbers and plans for collecting sets of items through a shuffler, which removes the senders from all "
    "messages and mixes them before the server sees them. Every user picks a privacy level: an epsilon, smaller for "
    "more privacy."
)
#: Shells for which there are completions.
_SHELLS = ("bash", "zsh", "tcsh")


def build_parser(chosen: str | None = None) -> Parser:
    """Make the parser of all commands; with `chosen`, only this command has its options."""
    parser = Parser(prog="segshuffle", description=_DESCRIPTION)
    parser.add_argument("--version", action="store_true", help="print the version of the package")
    parser.add_argument(
        "--completion", choices=_SHELLS, help="print what a shell needs to complete commands and options"
    )
    commands = parser.add_subparsers(dest="command", metavar="command")
    for module in _COMMANDS:
        name = module.__name__.rpartition(".")[2].replace("_", "-")
        text = (module.__doc__ or name).strip()
        summary = text[0].lower() + text[1:].partition("\n")[0].rstrip(".")
        parser.commands[name] = command = commands.add_parser(name, help=summary, description=text)
        command.set_defaults(run=module.run, refuse=command.error)
        if chosen in (None, name):
            module.add_options(command)
            command.common = getattr(module, "COMMON", ())
    return parser


def program() -> int:
    """Run one command as a whole process, which ends too soon for a search of all objects for cycles to be of use."""
    gc.disable()
    status = main()
    gc.freeze()
    return status


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command, and return the exit status."""
    # matrices are small: further threads only wait, and numpy reads this when it is loaded
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    typed_words = list(sys.argv[1:] if arguments is None else arguments)
    chosen = typed_words[0] if typed_words and not typed_words[0].startswith("-") else ""
    program, options = f"segshuffle {chosen}".strip(), Namespace()
    try:
        if chosen:
            import numpy

            # SciPy imports all that NumPy offers, also tools for Fortran and tests, which take a third of its start
            numpy.__dict__.update(f2py=None, testing=numpy.__dict__.get("testing"))
        parser = build_parser(chosen)
        if chosen in parser.commands:
            _refuse_unknown(parser.commands[chosen], typed_words)
        options = parser.parse_args(typed_words)
        if options.completion:
            import shtab

            return write(program, shtab.complete(build_parser(), options.completion))
        if options.version:
            from importlib import metadata

            return write(program, f"segshuffle {metadata.version('segshuffle')}")
        if options.command is None:
            parser.error("a command is missing")
        answer = options.run(options)
    except (SegshuffleError, ModuleNotFoundError) as error:
        known: Exception | None = translated(error) if isinstance(error, ModuleNotFoundError) else error
        if known is None:
            raise
        complain(f"{program}: {told(known, options)}")
        return 2
    except KeyboardInterrupt:
        complain(f"{program}: interrupted. Files are written completely or not at all; start the same command again.")
        return 130
    return write(program, answer)


def _refuse_unknown(command: Parser, typed_words: Sequence[str]) -> None:
    """Refuse KEY=VALUE, as earlier versions had it, and an option that the command does not have."""
    pairs = [word.partition("=") for word in typed_words]
    for before, (name, sign, value) in zip(["", *typed_words[:-1]], pairs, strict=True):
        # after an option that exists it is that option's value
        if sign and f"--{name}" in command.flags and before not in command.flags:
            new = {"yes": f"--{name}", "no": f"--no-{name}"}.get(value, f"--{name} {value}")
            command.error(f"{name}={value} is written {new} now")
    for name, _, _ in pairs:
        if name.startswith("--") and name not in ("--", *command.flags):
            told = similar(name, command.flags)
            if name in ("--epsilon", "--users") and "--levels" in command.flags:
                told = " (write --levels EPSILON:USERS, such as --levels 1:5000)"
            command.error(f"{name} is unknown{told}")
