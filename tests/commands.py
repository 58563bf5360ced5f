"""Commands of the program, as a user gives them: a line, or a list of words."""

import json

from segshuffle.cli import main


def run(capsys, asked):
    """Exit status, standard output and standard error of one command."""
    try:
        status = main(asked.split() if isinstance(asked, str) else asked)
    except SystemExit as stopped:
        status = stopped.code
    shown = capsys.readouterr()
    return status, shown.out, shown.err


def answer(capsys, asked):
    """What a command answers with --json."""
    words = asked.split() if isinstance(asked, str) else asked
    status, out, err = run(capsys, [*words, "--json"])
    assert status == 0, err
    return json.loads(out)


def refusal(capsys, asked):
    """The one line that a command refuses with."""
    status, out, err = run(capsys, asked)
    assert (status, out, err.count("\n")) == (2, "", 1), (status, out, err)
    return err
