"""The command line: plan a collection, rehearse it, carry it out, compute privacy, fetch the MSNBC data.

Every command has a file of its name: the docstring is the help, `add_options` declares the options, and `run` returns
the text to print. Numerical modules are imported only in `run`, so that help is immediate. An error is a short text on
standard error, which says what was refused and what is allowed. The exit status is then 2.
"""

import os
from collections.abc import Sequence

from segshuffle.cli import account, client, estimate, fetch_msnbc, plan, rehearse
from segshuffle.cli.terminal import Parser, complain, write
from segshuffle.errors import SegshuffleError
from segshuffle.extras import translated

_COMMANDS = (plan, rehearse, client, estimate, account, fetch_msnbc)

_DESCRIPTION = (
    "Privacy numbers and plans for collecting sets of items through a shuffler, which removes the senders from all "
    "messages and mixes them before the server sees them. Every user picks a privacy level: an epsilon, smaller for "
    "more privacy."
)


def build_parser() -> Parser:
    """Make the parser of all commands."""
    parser = Parser(prog="segshuffle", description=_DESCRIPTION)
    commands = parser.add_subparsers(dest="command", required=True, metavar="command")
    for module in _COMMANDS:
        name = module.__name__.rpartition(".")[2].replace("_", "-")
        text = (module.__doc__ or name).strip()
        summary = text[0].lower() + text[1:].partition("\n")[0].rstrip(".")
        command = commands.add_parser(name, help=summary, description=text)
        command.set_defaults(run=module.run, refuse=command.error)
        module.add_options(command)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command, and return the exit status."""
    # matrices are small: further threads only wait, and numpy reads this when it is loaded
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    program = "segshuffle"
    try:
        options = build_parser().parse_args(arguments)
        program = f"segshuffle {options.command}"
        import numpy

        # SciPy imports all that NumPy offers, also its tool for Fortran code, which takes a fifth of a command's start
        numpy.f2py = None  # type: ignore[assignment]
        answer = options.run(options)
    except (SegshuffleError, ModuleNotFoundError) as error:
        told: Exception | None = translated(error) if isinstance(error, ModuleNotFoundError) else error
        if told is None:
            raise
        complain(f"{program}: {told}")
        return 2
    except KeyboardInterrupt:
        complain(f"{program}: interrupted. Files are written completely or not at all; start the same command again.")
        return 130
    return write(program, answer)
