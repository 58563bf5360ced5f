"""Whole files or none: names that no file can have are errors of one sentence, too."""

from pathlib import Path

import pytest

from segshuffle.errors import DataError
from segshuffle.files import write_atomically


@pytest.mark.parametrize("name", [".", "/", "a\0b"], ids=["here", "root", "NUL"])
def test_a_name_that_no_file_can_have_is_an_error(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DataError, match="cannot be written") as refused:
        write_atomically(Path(name), b"x")
    assert "choose a file name" in str(refused.value)
    assert list(tmp_path.iterdir()) == []
