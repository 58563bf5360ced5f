"""Streams are copied, because they are read twice, and nothing of the copy can stay."""

import gzip
import io
import tempfile

import polars as pl
import pytest

from segshuffle.datasets.own.layout import Layout
from segshuffle.datasets.own.reading import read_transactions


def _parquet(text):
    table = io.BytesIO()
    pl.read_csv(text.encode()).write_parquet(table)
    return table.getvalue()


@pytest.mark.parametrize(
    ("form", "packed"), [("csv", str.encode), ("csv", lambda text: gzip.compress(text.encode())), ("parquet", _parquet)]
)
def test_no_file_has_a_copy_of_a_stream(tmp_path, monkeypatch, form, packed):
    """A program that is killed while it reads leaves nothing that others could find."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    content, seen = packed("user,item\na,x\nb,y\nb,z\n"), []

    class Stream(io.BytesIO):
        def read(self, *size):
            seen.append([*tmp_path.iterdir()])
            return super().read(*size)

    found = read_transactions(Stream(content), layout=Layout(format=form))
    assert (found.n_users, found.codes.tolist()) == (2, [0, 1, 2])
    assert len(seen) >= 2, "the stream was read, in parts"
    assert not any(seen)
