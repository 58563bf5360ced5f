"""The demo page in Chromium, as a person uses it: it promises and sends what node does, and remembers."""

import functools
import http.server
import threading

import pytest
from clients.test_module import call
from clients.verifier import CLIENTS, saved
from headless import visit

from segshuffle import Problem

pytestmark = [pytest.mark.browser, pytest.mark.exhaustive]


class Quiet(http.server.SimpleHTTPRequestHandler):
    def guess_type(self, path):
        return "text/javascript" if str(path).endswith(".mjs") else super().guess_type(path)

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def address():
    """Yield the address of a server of clients/; modules are not loaded from files."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=CLIENTS)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@pytest.fixture
def plan_file(tmp_path):
    saved(tmp_path / "plan.json", Problem(5, 2, (0.5, 1.0), (1000, 1000), 1e-5), blanket_cap="auto")
    return tmp_path / "plan.json"


def fill(page, plan_file):
    page.locator("#plan").fill(plan_file.read_text(encoding="utf-8"))
    page.locator("#level").select_option("1")
    page.locator("#honest").fill("2000")


def test_a_person_checks_a_plan_and_sees_every_line(browser, address, plan_file):
    with visit(browser, address + "demo.html", served=address) as page:
        fill(page, plan_file)
        page.locator("#check").click()
        assert "accepted" in page.locator("#verdict").inner_text()
        page.get_by_label("3", exact=True).check()
        page.locator("#send").click()
        page.locator("#lines").wait_for()
        lines = page.locator("#lines").inner_text().splitlines()
        assert lines[0].startswith("#")
        assert lines[0].endswith("-1")
        assert set(lines[1:]) <= set("01234")
        page.reload()
        fill(page, plan_file)
        page.get_by_label("3", exact=True).check()
        page.locator("#send").click()
        page.locator("#lines").wait_for()
        assert page.locator("#lines").inner_text().splitlines() == lines, "the very same lines again"
        page.locator("#collection").fill("2")
        page.locator("#send").click()
        page.get_by_text("more than the budget").wait_for()
        assert page.locator("#lines").is_hidden()


def test_a_plan_with_too_few_honest_users_is_refused(browser, address, plan_file):
    with visit(browser, address + "demo.html", served=address) as page:
        fill(page, plan_file)
        page.locator("#honest").fill("200")
        page.locator("#check").click()
        assert "The plan is refused: with 200 honest users delta is" in page.locator("#verdict").inner_text()
        page.locator("#plan").fill("{")
        assert "This is no plan" in page.locator("#verdict").inner_text()


def test_chromium_computes_the_digits_of_node(browser, address, tmp_path):
    problem = Problem(1000, 1, (1.0,), (5000,), 1e-6)
    demand = {"level": 0, "epsilon": 1.0, "delta": 1e-6, "honestUsers": 5000}
    for blanket in ("poisson", "clustered", "signed"):
        plan = saved(tmp_path / f"{blanket}.json", problem, dummies=blanket)
        with visit(browser, address + "demo.html", served=address) as page:
            script = "async ([plan, demand]) => (await import('./segshuffle.mjs')).check(plan, demand)"
            assert page.evaluate(script, [plan, demand]) == call(("check", [plan, demand]))[0]["value"]
