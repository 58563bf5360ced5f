"""The file of a dataset: its packings, its download, the order of sources, and what the real files say.

Most tests use a tiny fake file with its own hash.
"""

import contextlib
import dataclasses
import functools
import gzip
import hashlib
import io
import json
import threading
import time
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from segshuffle.datasets import msweb, original
from segshuffle.datasets.groceries import FILE
from segshuffle.datasets.interface import DataSource, Place
from segshuffle.datasets.msnbc import DOMAIN_SIZE, LOG, N_SESSIONS, USERS_PER_CATEGORY, USERS_PER_SET_SIZE
from segshuffle.errors import DataError, FetchError

RAW = b"% Different categories\r\n\r\nfrontpage news\r\n\r\n\r\n% Sequences:\r\n\r\n1 1 \r\n2 \r\n3 17 16 "
HELD = [{0}, {1}, {2, 15, 16}]
SHA = hashlib.sha256(RAW).hexdigest()
GZ = gzip.compress(RAW)
KEPT = gzip.compress(RAW, compresslevel=6, mtime=0)
FAKE = dataclasses.replace(LOG, sha256=SHA)


def zipped(content=GZ, name="msnbc990928.seq.gz"):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("readme.txt", "nothing")
        archive.writestr(name, content)
    return buffer.getvalue()


def download(path, urls, log=print):
    """Download from other addresses."""
    return dataclasses.replace(FAKE, urls=urls).download(path, log)


def sets(held):
    return [set(np.flatnonzero(row)) for row in held]


# --- the file --------------------------------------------------------------------------------------------------------


def test_the_real_file_has_the_published_counts(msnbc_file):
    held = LOG.rows(msnbc_file)
    assert held.shape == (N_SESSIONS, DOMAIN_SIZE)
    assert tuple(np.bincount(held.sum(axis=1))[1:]) == USERS_PER_SET_SIZE
    assert tuple(held.sum(axis=0)) == USERS_PER_CATEGORY
    # sessions "1 1", "2", "3 2 2 4 2 2 2 3 3", "5" by eye; the last one is "6", without a newline
    assert sets(held[:4]) == [{0}, {1}, {1, 2, 3}, {4}]
    assert sets(held[-1:]) == [{5}]


@pytest.mark.parametrize(("name", "file"), [("groceries", FILE), ("msweb", msweb.LOG)])
def test_the_other_real_files_have_the_published_counts(request, name, file):
    held = file.rows(request.getfixturevalue(f"{name}_file"))
    assert tuple(np.bincount(held.sum(axis=1))[1:]) == file.users_per_size
    assert tuple(sorted(held.sum(axis=0), reverse=True)[: len(file.users_per_item)]) == file.users_per_item
    assert held.shape == (file.n_users, file.domain_size)


def test_lines_of_the_microsoft_log_become_users():
    areas = [b'I,4,"www.microsoft.com"', b'A,1287,1,"Maps, two","/a"', b'A,1004,1,"S","/b"']
    users = [b'C,"7",7', b"V,1004,1", b'C,"9",9', b"V,1287,1", b"V,1004,1"]
    assert sets(msweb.LOG.read(b"\n".join(areas + users))) == [{1}, {0, 1}]


@functools.cache
def stand_in(file):
    """Return the stand-in of a file; to fit the weights of its items takes a second."""
    return file.stand_in(np.random.default_rng(5))


@pytest.mark.quick("file0-0")
@pytest.mark.parametrize(("file", "rest"), [(LOG, 0), (FILE, 34_055 / 164), (msweb.LOG, 47_235 / 286)])
def test_a_stand_in_has_what_is_published(file, rest):
    """Sizes are exact; numbers per item are within five standard deviations. False alarm below 1e-3.

    An item's weight is fitted by 5e6 entries of tried users, and then as many users are drawn as the file has.
    """
    held = stand_in(file)
    per_item = (*file.users_per_item, *[rest] * (file.domain_size - len(file.users_per_item)))
    sizes, published = held.sum(axis=1), np.array(per_item)
    assert tuple(np.bincount(sizes)[1:]) == file.users_per_size
    tried = published * (5e6 / len(per_item) / file.n_users)
    allowed = 5 * np.sqrt(1 / published + 1 / tried)
    assert (np.abs(held.sum(axis=0) / published - 1) < allowed).all()
    # in random order: the first half has half of the users with one item, within five standard deviations
    assert abs((sizes[: sizes.size // 2] == 1).sum() - file.users_per_size[0] / 2) < 2.5 * np.sqrt(
        file.users_per_size[0]
    )


def test_baskets_item_by_item_are_the_same_file(tmp_path):
    lines = b"milk,bread\nmilk\n"
    file = dataclasses.replace(FILE, sha256=hashlib.sha256(lines).hexdigest())
    for content in (lines, b"basket,item\n7,milk\n7,bread\n8,milk\n"):
        (tmp_path / "any").write_bytes(gzip.compress(content))
        assert file.rows(tmp_path / "any").tolist() == [[True, True], [False, True]]


@pytest.mark.parametrize(
    "packed",
    [RAW, GZ, zipped(), zipped(RAW, "folder/msnbc990928.seq"), gzip.compress(GZ), zipped(gzip.compress(GZ))],
    ids=["plain", "gzip", "zip of gzip", "zip of plain", "gzip twice", "zip of gzip twice"],
)
def test_packing_is_recognised_by_content(tmp_path, packed):
    path = tmp_path / "any.name"
    path.write_bytes(packed)
    assert sets(FAKE.rows(path)) == HELD


@pytest.mark.parametrize(
    ("packed", "message"),
    [
        (GZ[:-20], "may be damaged, incomplete"),
        (GZ[:30] + b"\0\0" + GZ[32:], "may be damaged, incomplete"),
        (zipped()[:-30], "may be damaged, incomplete"),
        (zipped(name="other.gz"), "another archive"),
        (RAW[:-1], f"expected is {SHA}"),
        (b"", "of its 0 bytes"),
        (RAW.replace(b"\r\n", b"\n"), "converted its line ends"),
        (gzip.compress(bytes(2**26 + 5)), f"of its {2**26} bytes"),
    ],
    ids=range(8),  # packed bytes hold the time of day, and all workers must call a test the same
)
def test_wrong_file_is_refused(tmp_path, packed, message):
    path = tmp_path / "mine.bin"
    path.write_bytes(packed)
    with pytest.raises(DataError, match=message) as caught:
        FAKE.rows(path)
    assert str(path) in str(caught.value)


@pytest.mark.quick(0)
@given(st.data())
def test_damaged_packings_raise_nothing_but_data_error(tmp_path_factory, data):
    packed = bytearray(data.draw(st.sampled_from([GZ, zipped(), zipped(RAW, "msnbc990928.seq")])))
    for _ in range(data.draw(st.integers(1, 4))):
        packed[data.draw(st.integers(0, len(packed) - 1))] = data.draw(st.integers(0, 255))
    path = tmp_path_factory.mktemp("damaged") / "log"
    path.write_bytes(bytes(packed[: data.draw(st.integers(0, len(packed)))]))
    with contextlib.suppress(DataError):
        FAKE.rows(path)


# --- a server that fails on demand -----------------------------------------------------------------------------------


class Server(ThreadingHTTPServer):
    """Answers each path with its list of answers (status, headers, body), one after the other; the last one repeats."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers, self.asked = {}, []
        self.closing = threading.Event()

    def url(self, path, *answers):
        self.answers["/" + path] = list(answers)
        return f"http://127.0.0.1:{self.server_address[1]}/{path}"

    def handle_error(self, request, client_address):
        pass  # clients that hang up are part of the test


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.asked.append(self.path)
        answers = self.server.answers[self.path]
        status, headers, body = answers.pop(0) if len(answers) > 1 else answers[0]
        if status is None:
            self.server.closing.wait(10)
            return
        if isinstance(body, list):  # byte by byte, until the test is over
            for byte in body:
                self.wfile.write(byte)
                if self.server.closing.wait(0.02):
                    return
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


def ok(body=GZ, **headers):
    return 200, headers, body


SILENT = (None, {}, b"")
SHORT = (200, {"Content-Length": str(len(GZ))}, GZ[:40])


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with Server() as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield running
        running.closing.set()
        running.shutdown()
        thread.join()


def failed(tmp_path, urls):
    with pytest.raises(FetchError) as caught:
        download(tmp_path / "cache/log.gz", urls)
    assert list(tmp_path.iterdir()) == []  # nothing is left behind, not even the folder
    message = str(caught.value)
    assert "datasets.msnbc.path" in message
    assert "SEGSHUFFLE_MSNBC" in message
    return message


@pytest.mark.parametrize("answer", [ok(RAW), ok(GZ, **{"Content-Encoding": "gzip"})], ids=["plain", "encoded"])
def test_download_stores_the_verified_bytes(server, tmp_path, answer):
    server.url("new", answer)
    url, target = server.url("old", (302, {"Location": "/new"}, b"")), tmp_path / "cache/log.gz"
    assert download(target, [url]) == url
    assert target.read_bytes() == KEPT
    licence = target.with_name("log.gz.LICENCE.txt")
    assert set(target.parent.iterdir()) == {target, licence}
    assert "CC BY 4.0, https://doi.org/10.24432/C5390X" in licence.read_text()


@pytest.mark.parametrize("bad", [(404, {}, b"no"), (503, {}, b"busy"), SHORT, ok(b"<html>log in</html>"), SILENT])
def test_a_failed_address_is_left_for_the_next(server, tmp_path, monkeypatch, bad):
    monkeypatch.setattr(original, "TIMEOUT", 0.2)
    urls, said = [server.url("bad", bad), server.url("good", ok())], []
    used = download(tmp_path / "log.gz", urls, said.append)
    assert (used, server.asked) == (urls[1], ["/bad", "/good"])
    assert len(said) == 2
    assert "complete and verified" in said[1]


def test_a_passing_failure_is_tried_again(server, tmp_path):
    url = server.url("flaky", (503, {}, b"busy"), ok())
    assert download(tmp_path / "log.gz", [url]) == url
    assert server.asked == ["/flaky"] * 2


def test_every_attempt_is_reported_in_words_that_do_not_change(server, tmp_path, monkeypatch):
    monkeypatch.setattr(original, "ATTEMPTS", 1)
    monkeypatch.setattr(original, "TIMEOUT", 0.2)
    bad = [server.url("missing", (404, {}, b"")), server.url("wrong", ok(b"x")), server.url("silent", SILENT)]
    gone = "http://127.0.0.1:1/gone"
    message = failed(tmp_path, [*bad, gone])
    assert f"{bad[0]}, attempt 1: HTTP status 404" in message
    assert f"{bad[1]}, attempt 1: wrong content" in message
    assert f"{bad[2]}, attempt 1: no answer (ReadTimeout)" in message
    assert f"{gone}, attempt 1: no answer (ConnectionError)" in message
    assert "0x" not in message  # no object addresses: the text goes into provenance


@pytest.mark.parametrize("sent", [b"HTTP/1.0 200 OK\r\nX: ", b"HTTP/1.0 200 OK\r\nContent-Length: 999\r\n\r\n"])
def test_a_server_that_sends_a_byte_now_and_then_is_given_up(server, tmp_path, monkeypatch, sent):
    """Every byte comes long before the limit of the socket, as header or as body."""
    monkeypatch.setattr(original, "DEADLINE", 0.3)
    begun = time.monotonic()
    message = failed(tmp_path, [server.url("drip", (200, {}, [sent, *[b"x"] * 500]))])
    assert "attempt 1: no answer (Timeout)" in message
    assert time.monotonic() - begun < 5.0


def test_unwritable_destination_is_an_error(server, tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(DataError, match="cannot be written"):
        download(tmp_path / "file" / "x.gz", [server.url("good", ok())])
    with pytest.raises(DataError, match="is a folder"):
        LOG.download(tmp_path)


# --- the order of sources --------------------------------------------------------------------------------------------


def obtain(tmp_path, urls=(), given=None, download=True, log=print):
    place = Place(given, tmp_path, lambda role: np.random.default_rng(1), log)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("time.sleep", lambda seconds: None)
        return dataclasses.replace(FAKE, urls=urls).obtain({"download": download}, place)


def test_given_path_comes_first(server, tmp_path):
    (tmp_path / "msnbc990928.seq.gz").write_bytes(b"damaged")
    (tmp_path / "mine.zip").write_bytes(zipped())
    held, source = obtain(tmp_path, given=tmp_path / "mine.zip", urls=[server.url("good", ok())])
    assert sets(held) == HELD
    assert source == DataSource("real", SHA, "mine.zip", "")
    for name in ("missing.gz", "."):
        with pytest.raises(DataError, match="cannot be read"):
            obtain(tmp_path, given=tmp_path / name, urls=[server.url("good", ok())])
    assert server.asked == []
    # what was verified is kept, and used where no path is given
    assert obtain(tmp_path, download=False)[1].kind == "real"


def test_download_is_kept_and_used_again(server, tmp_path):
    url = server.url("good", ok())
    held, source = obtain(tmp_path, urls=[url])
    assert sets(held) == HELD
    assert source == DataSource("real", SHA, url, "")
    assert obtain(tmp_path, urls=[url], download=False)[1].origin == "msnbc990928.seq.gz"
    assert server.asked == ["/good"]


def test_corrupt_cache_is_fetched_again(server, tmp_path):
    (tmp_path / "msnbc990928.seq.gz").write_bytes(GZ[:-10])
    said, url = [], server.url("good", ok())
    assert obtain(tmp_path, urls=[url], log=said.append)[1].origin == url
    assert "not usable" in said[0]
    assert (tmp_path / "msnbc990928.seq.gz").read_bytes() == KEPT


def test_stand_in_when_nothing_else_is_left(server, tmp_path, monkeypatch):
    said, drawn = [], stand_in(LOG)
    monkeypatch.setattr(type(FAKE), "stand_in", lambda file, rng: drawn)
    held, source = obtain(tmp_path, urls=[server.url("missing", (404, {}, b""))], log=said.append)
    assert held.shape == (N_SESSIONS, DOMAIN_SIZE)
    assert (source.kind, source.sha256) == ("stand-in", None)
    assert "HTTP status 404" in source.reason
    assert str(tmp_path) not in json.dumps(source.reason)
    assert "stand-in" in said[-1]
    assert server.asked == ["/missing"] * 3
    assert "switched off" in obtain(tmp_path, download=False, urls=[server.url("good", ok())])[1].reason
    assert list(tmp_path.iterdir()) == []
