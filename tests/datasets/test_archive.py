"""Packings and verification of the MSNBC file. The file here is a tiny fake, with its own hash."""

import contextlib
import gzip
import hashlib
import io
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from segshuffle.datasets import msnbc, msnbc_log
from segshuffle.datasets.archive import read_sessions_file, unpack, verify_sessions
from segshuffle.errors import DataError

RAW = (
    b"% Different categories found in input file:\r\n\r\n"
    + " ".join(msnbc_log.CATEGORIES).encode()
    + b"\r\n\r\n\r\n% Sequences:\r\n\r\n1 1 \r\n2 \r\n3 17 "
)
SHA = hashlib.sha256(RAW).hexdigest()
GZ = gzip.compress(RAW)


def zipped(content=GZ, name="msnbc990928.seq.gz", method=zipfile.ZIP_DEFLATED):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        archive.writestr("readme.txt", "nothing")
        archive.writestr(name, content)
    return buffer.getvalue()


@pytest.mark.parametrize(
    "packed",
    [
        pytest.param(RAW, id="plain"),
        pytest.param(GZ, id="gzip"),
        pytest.param(zipped(), id="zip of gzip"),
        pytest.param(zipped(RAW, "folder/msnbc990928.seq"), id="zip of plain"),
        pytest.param(gzip.compress(GZ), id="gzip twice"),
        pytest.param(zipped(gzip.compress(GZ)), id="zip of gzip twice"),
        pytest.param(gzip.compress(RAW[:50]) + gzip.compress(RAW[50:]) + b"\0\0", id="two gzip members"),
    ],
)
def test_packing_is_recognised_by_content(tmp_path, packed):
    path = tmp_path / "any.name"
    path.write_bytes(packed)
    assert read_sessions_file(path, expected=SHA) == RAW


def damaged(content, at=30):
    return content[:at] + bytes([content[at] ^ 0xFF]) + content[at + 1 :]


@pytest.mark.parametrize(
    ("packed", "message"),
    [
        (GZ[:-20], "gzip data ends early"),
        (GZ[:5], "gzip data ends early"),
        (damaged(GZ), "corrupt gzip data"),
        (GZ + b"trailing", "corrupt gzip data"),
        (zipped()[:-30], "corrupt or truncated zip"),
        (damaged(zipped(RAW, "msnbc990928.seq"), 150), "corrupt or truncated zip"),
        (zipped(name="other.gz"), r"no member msnbc990928.seq.gz .*'readme.txt', 'other.gz'"),
        (zipped(RAW, "msnbc990928.seq", zipfile.ZIP_BZIP2), "unusual method"),
        (gzip.compress(gzip.compress(gzip.compress(GZ))), "packed more than 3 times"),
        (gzip.compress(b"") * 600, "more than 512 gzip members"),
        (RAW[:-1], f"expected is {SHA}"),
        (b"", "It is empty"),
        (b"<!DOCTYPE html><title>Not found</title>", "It is a web page"),
        (RAW.replace(b"\r\n", b"\n"), "line ends were converted"),
        (RAW.replace(b"\r\n", b"\n") + b"\n", "line ends were converted"),
    ],
    ids=range(15),  # packed bytes hold the time of day, and all workers must call a test the same
)
def test_wrong_file_is_refused(tmp_path, packed, message):
    path = tmp_path / "mine.bin"
    path.write_bytes(packed)
    with pytest.raises(DataError, match=message) as caught:
        read_sessions_file(path, expected=SHA)
    assert str(path) in str(caught.value)


def test_wrong_hash_names_both():
    with pytest.raises(DataError) as caught:
        verify_sessions(b"something", where="here")
    assert msnbc.SHA256 in str(caught.value)
    assert hashlib.sha256(b"something").hexdigest() in str(caught.value)


@pytest.mark.parametrize("pack", [gzip.compress, lambda raw: zipped(raw, "msnbc990928.seq"), bytes])
def test_bombs_are_not_unpacked(tmp_path, pack):
    path = tmp_path / "bomb"
    path.write_bytes(pack(bytes(200_000)))
    with pytest.raises(DataError, match=r"more than 100000 bytes|larger than 100000 bytes"):
        read_sessions_file(path, expected=SHA, max_bytes=100_000)


def test_missing_file_is_refused(tmp_path):
    for path in (tmp_path / "none.gz", tmp_path):
        with pytest.raises(DataError, match="cannot be read"):
            read_sessions_file(path)


@given(st.data())
def test_damaged_packings_raise_nothing_but_data_error(data):
    packed = bytearray(data.draw(st.sampled_from([GZ, zipped(), zipped(RAW, "msnbc990928.seq")])))
    for _ in range(data.draw(st.integers(1, 4))):
        packed[data.draw(st.integers(0, len(packed) - 1))] = data.draw(st.integers(0, 255))
    with contextlib.suppress(DataError):
        unpack(bytes(packed[: data.draw(st.integers(0, len(packed)))]), where="fuzz", max_bytes=100_000)
