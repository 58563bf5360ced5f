"""Progress: every item comes through; lines in a log, a bar on a terminal, never both in the wrong place."""

import io
import sys

import pytest

from segshuffle.pipeline.progress import track


class Terminal(io.StringIO):
    def isatty(self):
        return True


def to_log(monkeypatch):
    """Standard error as a job has it: a file. (Not a fixture: pytest replaces standard error after fixtures.)"""
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(sys, "__stderr__", io.StringIO())
    return stream


@pytest.mark.parametrize("total", [1, 9, 10, 25])
def test_a_log_gets_about_ten_lines_and_the_last_says_all(monkeypatch, total):
    log = to_log(monkeypatch)
    assert list(track(range(total), total=total, label="plans of x")) == list(range(total))
    lines = log.getvalue().splitlines()
    assert len(lines) == min(total, 10)
    assert lines[-1].startswith(f"plans of x: {total}/{total} after ")
    done = [int(line.split(": ")[1].split("/")[0]) for line in lines]
    assert done == sorted(set(done))


def test_a_terminal_gets_a_bar_and_the_log_still_its_lines(monkeypatch):
    terminal, log = Terminal(), io.StringIO()
    monkeypatch.setattr(sys, "__stderr__", terminal)
    monkeypatch.setattr(sys, "stderr", log)
    assert list(track(range(20), total=20, label="simulation of x")) == list(range(20))
    assert "simulation of x" in terminal.getvalue()
    assert "\r" in terminal.getvalue()
    assert len(log.getvalue().splitlines()) == 10
    assert "\r" not in log.getvalue()


def test_no_original_standard_error_is_no_failure(monkeypatch):
    to_log(monkeypatch)
    monkeypatch.setattr(sys, "__stderr__", None)
    assert list(track(range(3), total=3, label="x")) == [0, 1, 2]


def test_a_failing_task_is_passed_on_and_the_bar_is_closed(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "__stderr__", terminal)

    def broken():
        yield 1
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        list(track(broken(), total=2, label="x"))
