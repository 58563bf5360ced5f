"""What every job relies on: its output and traceback in the log, and files that are whole or not there."""

import errno
import io
import math
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest

from segshuffle.reproduction.jobs import job, logged
from segshuffle.errors import ConfigError, DataError
from segshuffle.files import write_atomically, writing
from segshuffle.reproduction.tables import to_csv, write_markdown


def test_output_goes_to_the_log_and_nowhere_else(tmp_path, capsys):
    log = tmp_path / "job.log"
    with logged(log):
        print("to standard output: ε")
        print("to standard error", file=sys.stderr)
        assert log.read_text(encoding="utf-8") == "to standard output: ε\nto standard error\n", "while the job runs"
    assert capsys.readouterr() == ("", "")
    print("afterwards")
    assert capsys.readouterr().out == "afterwards\n"


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ZeroDivisionError("by nothing"), "ZeroDivisionError: by nothing"),
        (ConfigError("no such key."), "no such key."),
        (DataError("the file is empty; get it again."), "the file is empty; get it again."),
    ],
)
def test_an_error_leaves_its_traceback_in_the_log_and_its_message_on_the_console(tmp_path, capsys, error, said):
    """An expected error is shown by its message alone."""
    with pytest.raises(SystemExit) as caught, logged(tmp_path / "job.log"):
        raise error
    assert caught.value.code == 1
    text = (tmp_path / "job.log").read_text(encoding="utf-8")
    assert text.startswith("Traceback")
    assert text.rstrip().endswith(said)
    assert capsys.readouterr().err == f"{said}\n(log: {tmp_path / 'job.log'})\n"


def test_an_interrupt_ends_the_job_without_a_word(tmp_path, capsys):
    with pytest.raises(SystemExit) as caught, logged(tmp_path / "job.log"):
        raise KeyboardInterrupt
    assert caught.value.code == 130
    assert capsys.readouterr().err == ""


def run_job(folder, *, read=(), write=None):
    """Run a job that reads files and writes some, by name and text."""
    texts = write or {}
    names = {"input": read, "output": texts}
    files = {key: [str(folder / name) for name in value] for key, value in names.items()}
    with job(SimpleNamespace(log=[folder / "job.log"], threads=1, config={"edition": "full"}, **files)):
        for name, text in texts.items():
            (folder / name).write_text(text)


DAMAGES = {
    "cut at a line": lambda text: text[:-4],
    "a row doubled": lambda text: text + "3,4\n",
    "a row missing": lambda text: text.replace("1,2\n", ""),
    "another digit": lambda text: text.replace("2", "5"),
    "another table": lambda text: "a,b\n7,8\n",
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_job_refuses_a_table_that_is_not_the_one_that_its_job_wrote(tmp_path, capsys, damage):
    run_job(tmp_path, write={"a.csv": "a,b\n1,2\n3,4\n", "b.csv": "a,b\n7,8\n"})
    (tmp_path / "mine.csv").write_text("no job wrote it\n")
    run_job(tmp_path, read=["a.csv", "b.csv", "mine.csv"])
    path = tmp_path / "a.csv"
    path.write_text(damage(path.read_text()))
    with pytest.raises(SystemExit):
        run_job(tmp_path, read=["b.csv", "a.csv"], write={"c.csv": ""})
    assert re.search(r"a\.csv: is not the file that its job wrote.*Remove it", capsys.readouterr().err)
    assert not (tmp_path / "c.csv").exists()
    run_job(tmp_path, write={"a.csv": "made again"})
    run_job(tmp_path, read=["a.csv"])


def test_digests_are_those_of_sha256sum(tmp_path):
    run_job(tmp_path, write={"a.csv": "a,b\n"})
    subprocess.run(["sha256sum", "--check", "--strict", ".a.csv.sha256"], cwd=tmp_path, check=True, capture_output=True)


@pytest.mark.parametrize("before", [None, "the old content"])
def test_a_full_disk_leaves_nothing_half_written(tmp_path, monkeypatch, before):
    path = tmp_path / "a.csv"
    if before is not None:
        path.write_text(before)
    write = Path.write_bytes

    def half(self, content):
        write(self, content[: len(content) // 2])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", half)
    with pytest.raises(DataError, match=r"a\.csv: cannot be written \(No space left on device\)\. Make room"):
        write_atomically(path, "the new content")
    monkeypatch.undo()
    assert [file.name for file in tmp_path.iterdir()] == ([] if before is None else ["a.csv"])
    if before is not None:
        assert path.read_text() == before


@pytest.mark.parametrize("name", [".", "/", "a\0b"], ids=["here", "root", "NUL"])
def test_a_name_that_no_file_can_have_is_an_error(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DataError, match=r"cannot be written .* choose a file name"):
        write_atomically(Path(name), b"x")
    assert list(tmp_path.iterdir()) == []


def _half(path):
    path.write_bytes(b"half")
    raise ZeroDivisionError


def test_no_reader_sees_the_file_before_it_is_whole(tmp_path):
    path = tmp_path / "a.npy"
    with pytest.raises(ZeroDivisionError), writing(path) as temporary:
        _half(temporary)
    assert list(tmp_path.iterdir()) == []
    with writing(path) as temporary:
        temporary.write_bytes(b"half")
        assert temporary.parent == path.parent, "a rename is atomic only inside a file system"
        assert not path.exists()
        temporary.write_bytes(b"whole")
    assert path.read_bytes() == b"whole"
    assert list(tmp_path.iterdir()) == [path]


def test_tables_have_ten_digits_on_the_safe_side():
    third = 1.0 / 3.0
    table = pd.DataFrame({"low": [third], "high": [third], "near": [2 * third], "n": [123456789012], "what": ["x"]})
    text = to_csv(table, lower=["low"], upper=["high"])
    assert text == "low,high,near,n,what\n0.3333333333,0.3333333334,0.6666666667,123456789012,x\n"
    assert to_csv(pd.read_csv(io.StringIO(text)), lower=["low"], upper=["high"]) == text
    assert to_csv(table.to_dict("records"), lower=["low"], upper=["high"]) == text


def test_a_number_that_is_not_known_has_an_empty_cell():
    rows = [{"x": 0.5, "n": 2, "why": None}, {"x": math.nan, "n": 3, "why": 'none, "so far"'}]
    assert to_csv(rows) == to_csv(pd.DataFrame(rows)) == 'x,n,why\n0.5,2,\n,3,"none, ""so far"""\n'


@pytest.mark.parametrize(
    ("edition", "remark"),
    [("full", ""), ("quick", "This is a **quick** run"), ("mine", "This is the edition **mine**, with data")],
)
def test_a_text_says_below_its_title_which_edition_it_is(edition, remark, tmp_path):
    write_markdown(str(tmp_path / "text.md"), "# Title\n\nBody.\n", edition)
    title, _, *rest = (tmp_path / "text.md").read_text().splitlines()
    assert title == "# Title"
    assert rest[-1] == "Body."
    assert len(rest) == 1 if edition == "full" else rest[0].startswith(remark)
