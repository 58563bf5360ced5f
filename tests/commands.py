"""Commands of the program, as a user gives them: a line, or a list of words."""

import json

from segshuffle.cli import main


def words_of(asked):
    return asked.split() if isinstance(asked, str) else [*asked]


def run(capsys, asked):
    """Return exit status, standard output and standard error of one command."""
    capsys.readouterr()
    try:
        status = main(words_of(asked))
    except SystemExit as stopped:
        status = stopped.code
    shown = capsys.readouterr()
    return status, shown.out, shown.err


def printed(capsys, asked):
    """Check that a command succeeds, and return what it prints."""
    status, out, err = run(capsys, asked)
    assert status == 0, err
    return out


def answer(capsys, asked):
    """Return what a command answers with --json."""
    return json.loads(printed(capsys, [*words_of(asked), "--json"]))


def refusal(capsys, asked):
    """Check that a command refuses in one line, and return the line."""
    status, out, err = run(capsys, asked)
    assert (status, out, err.count("\n")) == (2, "", 1), (status, out, err)
    return err


def messages_of(sent):
    """Return the lines of messages that a client printed, after the first one, which names the collection."""
    named, *messages = sent.splitlines()
    assert named.startswith("#")
    return messages
