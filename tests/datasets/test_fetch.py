"""Getting the MSNBC file: every way a server can fail, and the order of sources. The file here is a tiny fake."""

import gzip
import hashlib
import io
import itertools
import json
import socket
import threading
import time
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

from segshuffle.datasets import msnbc_log
from segshuffle.datasets.fetch import download_sessions, obtain_sessions
from segshuffle.datasets.source import DataSource
from segshuffle.errors import DataError, FetchError, ParameterError

RAW = (
    b"% Different categories found in input file:\r\n\r\n"
    + " ".join(msnbc_log.CATEGORIES).encode()
    + b"\r\n\r\n\r\n% Sequences:\r\n\r\n1 1 \r\n2 \r\n3 17 "
)
MASKS = [1, 2, 4 + (1 << 16)]
SHA = hashlib.sha256(RAW).hexdigest()
GZ = gzip.compress(RAW)


def zipped(content=GZ, name="msnbc990928.seq.gz", method=zipfile.ZIP_DEFLATED):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        archive.writestr("readme.txt", "nothing")
        archive.writestr(name, content)
    return buffer.getvalue()


# --- a server that fails on demand -----------------------------------------------------------------------------------


class Server(ThreadingHTTPServer):
    """Answers each path with its list of answers, one after the other; the last one repeats."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers = {}
        self.asked = []
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
        answer = answers.pop(0) if len(answers) > 1 else answers[0]
        if callable(answer):
            answer(self)
        else:
            status, headers, body = answer
            self.send_response(status)
            for name, value in {"Content-Length": str(len(body)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

    def log_message(self, *args):
        pass


def ok(body=GZ, **headers):
    return 200, headers, body


def status(code, **headers):
    return code, {name.replace("_", "-"): value for name, value in headers.items()}, b"sorry"


def cut_short(handler):
    handler.send_response(200)
    handler.send_header("Content-Length", str(len(GZ)))
    handler.end_headers()
    handler.wfile.write(GZ[:40])


def hang_up(handler):
    handler.connection.shutdown(socket.SHUT_RDWR)


def trickle_body(handler):
    handler.send_response(200)
    handler.send_header("Content-Length", "100000")
    handler.end_headers()
    while not handler.server.closing.wait(0.05):
        handler.wfile.write(b"x")


def trickle_header(handler):
    for letter in itertools.cycle(b"HTTP/1.1 200 OK\r\nX-Endless: "):
        if handler.server.closing.wait(0.05):
            return
        handler.wfile.write(bytes([letter if letter not in b"\r\n" else 120]))


def say_nothing(handler):
    handler.server.closing.wait(10)


def chunked(handler):
    handler.protocol_version = "HTTP/1.1"
    handler.send_response(200)
    handler.send_header("Transfer-Encoding", "chunked")
    handler.end_headers()
    for at in range(0, len(GZ), 50):
        piece = GZ[at : at + 50]
        handler.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
    handler.wfile.write(b"0\r\n\r\n")


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    before = set(threading.enumerate())
    with Server() as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield running
        running.closing.set()
        running.shutdown()
        thread.join()
    # Abandoned downloads end when the server does; waiting for them shows that they do, without unclosed sockets.
    for other in set(threading.enumerate()) - before:
        other.join(5)
        assert not other.is_alive()


def refused_url():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{probe.getsockname()[1]}/gone"


def download(tmp_path, urls, **options):
    pauses = []
    target = tmp_path / "cache" / "msnbc_log.seq.gz"
    options = {"expected": SHA, "sleep": pauses.append, "deadline_seconds": 5.0} | options
    try:
        return download_sessions(target, urls=urls, **options), target, pauses
    except FetchError as error:
        assert list(tmp_path.iterdir()) == []  # nothing is left behind, not even the folder
        error.pauses = pauses
        raise


def failed(tmp_path, urls, **options):
    with pytest.raises(FetchError) as caught:
        download(tmp_path, urls, **options)
    message = str(caught.value)
    assert "datasets.msnbc.path" in message
    assert "SEGSHUFFLE_MSNBC" in message
    return message, caught.value.pauses


@pytest.mark.parametrize("body", [GZ, RAW, zipped()], ids=["gzip", "plain", "zip"])
def test_download_stores_the_verified_bytes(server, tmp_path, body):
    url = server.url("good", ok(body))
    used, target, pauses = download(tmp_path, [url])
    assert used == url
    assert pauses == []
    assert gzip.decompress(target.read_bytes()) == RAW
    assert target.read_bytes()[3:8] == bytes(5)  # no name flag, no time
    assert [path.name for path in target.parent.iterdir()] == [target.name]


@pytest.mark.parametrize("answer", [chunked, ok(GZ, **{"Content-Encoding": "gzip"})], ids=["chunked", "encoded"])
def test_unusual_but_complete_answers_are_accepted(server, tmp_path, answer):
    assert download(tmp_path, [server.url("good", answer)])[1].exists()


def test_redirect_is_followed(server, tmp_path):
    server.url("new", ok())
    assert download(tmp_path, [server.url("old", status(302, Location="/new"))])[1].exists()


@pytest.mark.parametrize("code", [404, 403, 410, 204])
def test_missing_page_goes_on_to_the_next_address(server, tmp_path, code):
    urls = [server.url("missing", status(code)), server.url("good", ok())]
    used, _, pauses = download(tmp_path, urls)
    assert used == urls[1]
    assert server.asked == ["/missing", "/good"]
    assert pauses == []


def test_refused_connection_is_tried_again_and_reported(tmp_path):
    url = refused_url()
    message, pauses = failed(tmp_path, [url])
    assert message.count("the connection failed (Connection refused)") == 3
    assert all(f"{url}, attempt {number}:" in message for number in (1, 2, 3))
    assert pauses == [0.5, 1.0]
    assert "0x" not in message  # no object addresses: the text goes into provenance


@pytest.mark.parametrize("bad", [status(429), status(503), status(500), cut_short, hang_up])
def test_passing_failure_then_success(server, tmp_path, bad):
    lines = []
    url = server.url("flaky", bad, ok())
    _, target, pauses = download(tmp_path, [url], log=lines.append)
    assert gzip.decompress(target.read_bytes()) == RAW
    assert server.asked == ["/flaky"] * 2
    assert pauses == [0.5]
    assert len(lines) == 2
    assert "complete and verified" in lines[1]


def test_body_cut_short_every_time(server, tmp_path):
    message, _ = failed(tmp_path, [server.url("short", cut_short)])
    assert message.count("the body was cut short") == 3


def test_short_retry_after_is_honoured(server, tmp_path):
    url = server.url("busy", status(429, Retry_After="3"), ok())
    assert download(tmp_path, [url])[2] == [3.0]


@pytest.mark.parametrize("wait", ["3600", "Fri, 31 Dec 2100 23:59:59 GMT"])
def test_long_retry_after_rules_the_address_out(server, tmp_path, wait):
    message, pauses = failed(tmp_path, [server.url("busy", status(503, Retry_After=wait))])
    assert "HTTP status 503, asks to wait longer than 10 s" in message
    assert pauses == []


def test_unreadable_retry_after_is_ignored(server, tmp_path):
    url = server.url("busy", status(503, Retry_After="soon"), ok())
    assert download(tmp_path, [url])[2] == [0.5]


def test_wrong_bytes_are_not_tried_again(server, tmp_path):
    urls = [server.url("wrong", ok(b"<html>log in</html>")), server.url("broken", ok(GZ[:-9]))]
    message, pauses = failed(tmp_path, urls)
    assert "It is a web page" in message
    assert "gzip data ends early" in message
    assert server.asked == ["/wrong", "/broken"]
    assert pauses == []


@pytest.mark.parametrize("slow", [say_nothing, trickle_body, trickle_header])
def test_slow_server_does_not_outlast_the_deadline(server, tmp_path, slow):
    start = time.monotonic()
    message, _ = failed(tmp_path, [server.url("slow", slow)], deadline_seconds=0.4)
    assert time.monotonic() - start < 1.5
    assert "within 0.4 seconds" in message
    assert "no complete answer before the deadline" in message or "the server fell silent" in message


def test_silent_first_server_leaves_time_for_the_second(server, tmp_path):
    urls = [server.url("silent", say_nothing), server.url("good", ok())]
    assert download(tmp_path, urls, timeout=(0.2, 0.2))[0] == urls[1]


def test_pause_that_would_pass_the_deadline_is_not_made(server, tmp_path):
    message, pauses = failed(tmp_path, [server.url("busy", status(503))], deadline_seconds=1.0, first_pause=2.0)
    assert pauses == []
    assert message.count("attempt") == 1


@pytest.mark.parametrize(
    "url", ["no-scheme/file", "http://", "ftp://127.0.0.1/x", "http://[bad/", "http://127.0.0.1:x/"]
)
def test_malformed_address_is_reported(tmp_path, url):
    assert "cannot be requested" in failed(tmp_path, [url])[0]


def test_endless_redirect_is_reported(server, tmp_path):
    message, _ = failed(tmp_path, [server.url("loop", status(302, Location="/loop"))])
    assert "TooManyRedirects" in message


def test_no_address_is_reported(tmp_path):
    assert "no attempt was made" in failed(tmp_path, [])[0]


def test_unwritable_destination_is_an_error(server, tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(DataError, match="cannot be written"):
        download_sessions(tmp_path / "file" / "x.gz", urls=[server.url("good", ok())], expected=SHA)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize(
    ("name", "value"), [("attempts", 0), ("deadline_seconds", 0.0), ("deadline_seconds", float("nan"))]
)
def test_download_refuses_parameters(tmp_path, name, value):
    with pytest.raises(ParameterError, match=f"{name} = "):
        download_sessions(tmp_path / "x", urls=[], **{name: value})


def obtain(tmp_path, **options):
    options = {
        "path": None,
        "cache": tmp_path / "cache.seq.gz",
        "allow_download": True,
        "rng": np.random.default_rng(1),
        "urls": [],
        "expected": SHA,
        "n_stand_in": 50,
    } | options
    return obtain_sessions(**options)


def test_given_path_comes_first(server, tmp_path):
    (tmp_path / "cache.seq.gz").write_bytes(b"would be removed")
    (tmp_path / "mine.zip").write_bytes(zipped())
    masks, source = obtain(tmp_path, path=tmp_path / "mine.zip", urls=[server.url("good", ok())])
    assert masks.tolist() == MASKS
    assert source == DataSource("real", SHA, "mine.zip", "")
    assert server.asked == []
    assert (tmp_path / "cache.seq.gz").read_bytes() == b"would be removed"


def test_wrong_given_path_is_never_a_silent_fallback(server, tmp_path):
    (tmp_path / "cache.seq.gz").write_bytes(GZ)
    for name in ("missing.gz", "."):
        with pytest.raises(DataError, match="cannot be read"):
            obtain(tmp_path, path=tmp_path / name, urls=[server.url("good", ok())])
    assert server.asked == []


def test_download_is_kept_and_used_again(server, tmp_path):
    url = server.url("good", ok())
    masks, source = obtain(tmp_path, urls=[url])
    assert masks.tolist() == MASKS
    assert source == DataSource("real", SHA, url, "")
    masks, source = obtain(tmp_path, urls=[url])
    assert masks.tolist() == MASKS
    assert source.origin == "cache.seq.gz"
    assert server.asked == ["/good"]


def test_a_run_that_is_in_a_hurry_asks_every_address_once(server, tmp_path):
    urls = [server.url(name, status(503)) for name in ("one", "two")]
    assert obtain(tmp_path, urls=urls, attempts=1)[1].kind == "stand-in"
    assert server.asked == ["/one", "/two"]


def test_corrupt_cache_is_fetched_again(server, tmp_path):
    (tmp_path / "cache.seq.gz").write_bytes(GZ[:-10])
    lines = []
    url = server.url("good", ok())
    assert obtain(tmp_path, urls=[url], log=lines.append)[1].origin == url
    assert "not usable" in lines[0]
    assert (tmp_path / "cache.seq.gz").read_bytes() == gzip.compress(RAW, mtime=0)


def test_corrupt_cache_is_removed_even_if_the_download_fails(tmp_path):
    (tmp_path / "cache.seq.gz").write_bytes(b"corrupt")
    assert obtain(tmp_path)[1].kind == "stand-in"
    assert list(tmp_path.iterdir()) == []


def test_cache_is_used_without_permission_to_download(tmp_path):
    (tmp_path / "cache.seq.gz").write_bytes(GZ)
    assert obtain(tmp_path, allow_download=False)[1].kind == "real"


def test_stand_in_when_nothing_else_is_left(server, tmp_path):
    lines = []
    urls = [server.url("missing", status(404))]
    masks, source = obtain(tmp_path, urls=urls, log=lines.append)
    assert masks.shape == (50,)
    assert (source.kind, source.sha256) == ("stand-in", None)
    assert "HTTP status 404" in source.reason
    assert str(tmp_path) not in json.dumps(source.to_json())
    assert "stand-in" in lines[-1]
    assert list(tmp_path.iterdir()) == []


def test_stand_in_when_downloading_is_switched_off(server, tmp_path):
    _, source = obtain(tmp_path, allow_download=False, urls=[server.url("good", ok())])
    assert "switched off" in source.reason
    assert server.asked == []


def test_source_survives_json():
    for source in (DataSource("real", SHA, "x"), DataSource("stand-in", None, "drawn", "no network")):
        assert DataSource.from_json(json.loads(json.dumps(source.to_json()))) == source


@pytest.mark.parametrize(
    "change",
    [{"kind": "fake"}, {"origin": 3}, {"extra": "x"}],
    ids=["kind", "type", "key"],
)
def test_source_refuses_other_records(change):
    with pytest.raises(DataError):
        DataSource.from_json(DataSource("real", SHA, "x").to_json() | change)
