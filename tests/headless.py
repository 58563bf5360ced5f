"""A headless Chromium for tests: the system's own, driven by playwright, without a network."""

import contextlib
import os
import shutil

import pytest

#: Names of the program; SEGSHUFFLE_CHROMIUM may name another one.
PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
#: Whether every figure has been unpacked and can be seen.
SHOWN = """() => [...document.images].every(
    image => image.src.startsWith("blob:") && image.complete && image.naturalWidth > 0
)"""
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking"]


@contextlib.contextmanager
def chromium():
    """Yield a running browser; skip the test where there is none."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    given = os.environ.get("SEGSHUFFLE_CHROMIUM")
    program = given or next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program is None:
        pytest.skip("Chromium is not installed (Debian: apt-get install chromium fonts-dejavu-core)")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=FLAGS)
        try:
            yield browser
        finally:
            browser.close()


@contextlib.contextmanager
def visit(browser, path, *, warnings=True, served="file:", **options):
    """Open a file; fail if the page writes an error or a warning to the console, or asks the network.

    A server of the test itself may be asked at addresses that begin with `served`; then `path` is one of these.
    """
    context = browser.new_context(**options)
    page = context.new_page()
    page.set_default_timeout(30_000)
    complaints = []
    kinds = ("error", "warning") if warnings else ("error",)
    page.on("console", lambda message: complaints.append(message.text) if message.type in kinds else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda request: check_local(request.url, complaints, served))
    try:
        page.goto(path if isinstance(path, str) else path.as_uri())
        yield page
        assert complaints == []
    finally:
        context.close()


def check_local(address, complaints, served="file:"):
    """Complain about an address that is neither a file, nor data, nor of the test's own server."""
    if not address.startswith(("file:", "data:", "blob:", "about:", served)):
        complaints.append(f"asked the network for {address}")


def png_size(path):
    """Return width and height of a PNG file."""
    head = path.read_bytes()[:24]
    assert head.startswith(b"\x89PNG")
    return int.from_bytes(head[16:20], "big"), int.from_bytes(head[20:24], "big")
