"""Files that commands read and write: outputs replace files, follow links and go to streams, and no pipe hangs."""

import os
import threading
from pathlib import Path

import pytest
from commands import answer, printed, refusal

PLAN = "plan --items 3 --set-size 1 --levels 1:300 --delta 1e-4"
ESTIMATE = "estimate plan.json messages --anyway"


@pytest.fixture
def folder(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    printed(capfd, f"{PLAN} --save plan.json")
    Path("messages").write_text("".join(f"{number % 3}\n" for number in range(900)), encoding="utf-8")
    Path("there").mkdir()
    return tmp_path


@pytest.fixture
def table(folder, capfd):
    """Return the table of the estimates, as a regular file has it."""
    printed(capfd, f"{ESTIMATE} --csv table.csv")
    return Path("table.csv").read_text(encoding="utf-8")


@pytest.mark.parametrize("exists", [True, False])
def test_an_output_behind_a_link_is_the_file_that_the_link_leads_to(table, capfd, exists):
    if exists:
        Path("there/old.csv").write_text("old", encoding="utf-8")
    Path("link.csv").symlink_to("there/old.csv")
    printed(capfd, f"{ESTIMATE} --csv link.csv")
    assert Path("link.csv").is_symlink()
    assert Path("there/old.csv").read_text(encoding="utf-8") == table


def test_a_replaced_file_stays_closed_to_those_who_could_not_read_it(table, capfd):
    Path("own.csv").touch(mode=0o600)
    printed(capfd, f"{ESTIMATE} --csv own.csv")
    assert (Path("own.csv").read_text(encoding="utf-8"), Path("own.csv").stat().st_mode & 0o777) == (table, 0o600)


def test_standard_output_as_a_file_gets_the_table_before_the_answer(table, capfd):
    said = printed(capfd, ESTIMATE)
    assert printed(capfd, f"{ESTIMATE} --csv /dev/stdout") == table + said
    Path("out").symlink_to("/dev/stdout")
    assert printed(capfd, f"{ESTIMATE} --csv out") == table + said
    assert Path("out").is_symlink()


def test_a_pipe_gets_the_whole_output_and_stays_a_pipe(table, capfd):
    os.mkfifo("pipe")
    received = []
    reader = threading.Thread(target=lambda: received.append(Path("pipe").read_text(encoding="utf-8")))
    reader.start()
    printed(capfd, f"{ESTIMATE} --csv pipe")
    reader.join()
    assert received == [table]
    assert Path("pipe").is_fifo()


def test_an_output_that_is_neither_file_nor_stream_is_refused(folder, capfd, monkeypatch):
    monkeypatch.setattr("segshuffle.files.PATIENCE", 0.05)
    Path("loop").symlink_to("loop")
    Path("astray").symlink_to("nowhere/x.csv")
    Path("folder").symlink_to("there")
    os.mkfifo("pipe")
    before = sorted(folder.rglob("*"))
    for name in ("loop", "astray", "folder", "there", "pipe"):
        assert "cannot be written" in refusal(capfd, f"{ESTIMATE} --csv {name}")
    assert sorted(folder.rglob("*")) == before


@pytest.mark.parametrize(
    "outputs",
    [
        "--csv there/../same.csv --publish same.csv",
        "--csv link.csv --publish same.csv",
        "--csv there/../messages",
        "--publish linked",
        "--csv plan.json",
    ],
)
def test_one_file_under_two_names_is_refused(folder, capfd, outputs):
    Path("link.csv").symlink_to("same.csv")
    Path("linked").symlink_to("messages")
    assert "it must be another file than" in refusal(capfd, f"{ESTIMATE} {outputs}")
    assert not Path("same.csv").exists()


def test_messages_are_read_from_a_pipe_from_their_first_byte(folder, capfd):
    expected = answer(capfd, ESTIMATE)["estimates"]
    reader, writer = os.pipe()
    os.write(writer, Path("messages").read_bytes())
    os.close(writer)
    assert answer(capfd, ESTIMATE.replace("messages", f"/dev/fd/{reader}"))["estimates"] == expected
    os.close(reader)
