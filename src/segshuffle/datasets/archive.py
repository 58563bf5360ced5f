"""From bytes in any packing (plain, gzip, the UCI zip) to the verified uncompressed MSNBC file.

The packing is recognised by magic bytes, never by the name, and nothing is unpacked beyond a fixed size.
"""

from __future__ import annotations

import hashlib
import io
import zipfile
import zlib
from pathlib import Path, PurePosixPath

from segshuffle.datasets.msnbc import SHA256, URLS
from segshuffle.errors import DataError
from segshuffle.files import read_bounded

#: Nothing larger than this is read or unpacked (bytes); the real file has 12.6 MB.
MAX_BYTES = 64 * 2**20

_GZIP, _ZIPS = b"\x1f\x8b", (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")
# zip -> gzip -> gzip (a server may compress what is compressed); anything deeper is not this file.
_MAX_LAYERS = 3
# Each gzip member costs a copy of the rest: bounds the time a crafted file takes (block-gzipped MSNBC has about 200).
_MAX_MEMBERS = 512


def read_sessions_file(path: Path, *, expected: str = SHA256, max_bytes: int = MAX_BYTES) -> bytes:
    """Read the MSNBC file in any packing and verify it.

    Parameters
    ----------
    path : pathlib.Path
        The ``.seq`` itself, gzipped, or the zip from UCI (with the ``.seq`` or ``.seq.gz`` inside), under any name.
    expected : str, optional
        SHA-256 of the uncompressed bytes, as lower-case hexadecimal digits.
    max_bytes : int, optional
        Most bytes that are read or unpacked.

    Returns
    -------
    bytes
        The uncompressed, verified file.

    Raises
    ------
    DataError
        If the file cannot be read or unpacked, is too large, or has another hash.
    """
    path = Path(path)
    raw = unpack(read_bounded(path, limit=max_bytes), where=str(path), max_bytes=max_bytes)
    verify_sessions(raw, where=str(path), expected=expected)
    return raw


def verify_sessions(raw: bytes, *, where: str, expected: str = SHA256) -> None:
    """Check that these are the bytes of the MSNBC file.

    Parameters
    ----------
    raw : bytes
        The uncompressed file.
    where : str
        File name or address, for the message.
    expected : str, optional
        SHA-256 as lower-case hexadecimal digits.

    Raises
    ------
    DataError
        If the hash differs; the message names both hashes, and the cause where it can be told.
    """
    found = hashlib.sha256(raw).hexdigest()
    if found != expected:
        raise DataError(
            f"{where}: not the file msnbc990928.seq: sha256 of the uncompressed {len(raw)} bytes is {found}, expected "
            f"is {expected}. {_likely_cause(raw, expected)}Get the file again from {URLS[0]}, unpack nothing and "
            "edit nothing."
        )


def _likely_cause(raw: bytes, expected: str) -> str:
    """Name the cause of a wrong hash if it is a common one."""
    if not raw:
        return "It is empty. "
    if raw[:512].lstrip().lower().startswith((b"<!doctype html", b"<html")):
        return "It is a web page (an error or login page saved as a file?). "
    unix = raw.replace(b"\r\n", b"\n")
    for converted in (unix, unix.replace(b"\n", b"\r\n")):
        for end in (b"", b"\r\n"):
            if hashlib.sha256(converted.removesuffix(end)).hexdigest() == expected:
                return "Only its line ends were converted (by an editor, git or a text-mode transfer). "
    return ""


def unpack(data: bytes, *, where: str, max_bytes: int = MAX_BYTES) -> bytes:
    """Remove gzip and zip layers until plain bytes are left.

    Parameters
    ----------
    data : bytes
        The file as stored or received.
    where : str
        File name or address, for messages.
    max_bytes : int, optional
        Most bytes that any layer may unpack to.

    Returns
    -------
    bytes
        The innermost content.

    Raises
    ------
    DataError
        If a layer is corrupt, truncated or too large, or no MSNBC file is in the zip.
    """
    for _ in range(_MAX_LAYERS):
        if data.startswith(_GZIP):
            data = _gunzip(data, where, max_bytes)
        elif data.startswith(_ZIPS):
            data = _unzip(data, where, max_bytes)
        else:
            return data
    if data.startswith((_GZIP, *_ZIPS)):
        raise DataError(f"{where}: packed more than {_MAX_LAYERS} times over; give the file as UCI distributes it.")
    return data


def _gunzip(data: bytes, where: str, max_bytes: int) -> bytes:
    """Unpack all members of a gzip file, to at most `max_bytes`."""
    parts: list[bytes] = []
    room = max_bytes
    while data:
        if len(parts) == _MAX_MEMBERS:
            raise DataError(f"{where}: more than {_MAX_MEMBERS} gzip members; the MSNBC file has one.")
        member = zlib.decompressobj(wbits=31)  # 31: gzip header and checksum
        try:
            part = member.decompress(data, room + 1)
        except zlib.error as error:
            raise DataError(f"{where}: corrupt gzip data ({error}). Get the file again.") from error
        if len(part) > room:
            raise _too_large(where, max_bytes)
        if not member.eof:
            raise DataError(f"{where}: the gzip data ends early (an interrupted download or copy?). Get it again.")
        parts.append(part)
        room -= len(part)
        data = member.unused_data.lstrip(b"\0")  # gzip allows padding with zeros
    return b"".join(parts)


def _unzip(data: bytes, where: str, max_bytes: int) -> bytes:
    """Return the MSNBC member of a zip file, of at most `max_bytes`."""
    # Listed one by one because zipfile reports damage in all these ways, depending on the byte that is damaged.
    damage = (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, RuntimeError, IndexError, OverflowError)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            member = _choose_member(archive, where)
            with archive.open(member) as stream:
                content = stream.read(max_bytes + 1)
    except DataError:
        raise  # a ValueError too, but it says what is wrong already
    except damage as error:
        raise DataError(f"{where}: corrupt or truncated zip file ({error}). Get the file again.") from error
    if len(content) > max_bytes:
        raise _too_large(where, max_bytes)
    return content


def _choose_member(archive: zipfile.ZipFile, where: str) -> zipfile.ZipInfo:
    """Find msnbc990928.seq[.gz] in a zip file."""
    members = [info for info in archive.infolist() if not info.is_dir()]
    for info in members:
        if PurePosixPath(info.filename).name in {"msnbc990928.seq.gz", "msnbc990928.seq"}:
            if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise DataError(f"{where}: member {info.filename!r} is packed by an unusual method; unpack it first.")
            return info
    names = ", ".join(repr(info.filename) for info in members[:10]) or "nothing"
    raise DataError(f"{where}: no member msnbc990928.seq.gz or msnbc990928.seq in this zip file; it holds {names}.")


def _too_large(where: str, max_bytes: int) -> DataError:
    return DataError(f"{where}: unpacks to more than {max_bytes} bytes; the MSNBC file does not. Is it the right file?")
