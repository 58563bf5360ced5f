"""Progress: every item comes through, and a log has lines about it."""

import io
import sys

import pytest

from segshuffle.pipeline.progress import track


def to_log(monkeypatch):
    """Standard error as a job has it: a file. (Not a fixture: pytest replaces standard error after fixtures.)"""
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
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


def test_a_failing_task_is_passed_on():
    def broken():
        yield 1
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        list(track(broken(), total=2, label="x"))
