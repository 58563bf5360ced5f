"""The page and Snakemake's own report of a finished run: complete, up to date, and readable without a network."""

import re
import zipfile

import pytest
from headless import SHOWN, visit

pytestmark = [pytest.mark.slow, pytest.mark.pipeline]

FIRST_PAINT = "performance.getEntriesByName('first-contentful-paint')[0]"


def test_a_run_ends_in_a_page_with_every_figure(checkout):
    page = checkout.text("index.html")
    before = page[: page.index('id="short"')]
    assert "Quick edition." in before
    assert "Stand-in data." in before
    shown = re.findall(r'<figure id="figure-([^"]*)"', page)
    drawn = {path.stem for path in (checkout.out / "figures").glob("*.svg")}
    assert set(shown) == drawn
    assert len(shown) == len(set(shown))
    assert str(checkout.folder) not in page
    assert len(page.encode()) < 3e6


@pytest.fixture(scope="module")
def report(checkout, tmp_path_factory):
    """Return the unpacked report of the finished run."""
    folder = tmp_path_factory.mktemp("report")
    checkout.finish("--report", str(folder / "report.zip"))
    with zipfile.ZipFile(folder / "report.zip") as archive:
        archive.extractall(folder)
    return folder / "report/report.html"


def test_the_report_holds_every_figure_and_table(checkout, report):
    held = {path.name for path in report.parent.glob("data/raw/*/*")}
    figures = {path.name for path in (checkout.out / "figures").glob("*.svg")}
    tables = {"claims.csv", "audit.csv", "proven-summary.csv", "runtimes.csv", "provenance.json", "index.html"}
    assert figures | tables <= held


@pytest.mark.browser
def test_the_page_of_the_run_is_read_in_a_browser(browser, checkout):
    with visit(browser, checkout.out / "index.html") as page:
        page.locator("details.panel > summary").first.click()
        page.locator("details.panel .chart .main-svg").first.wait_for()
        page.wait_for_function(SHOWN)
        paints = []
        for _ in range(3):
            page.reload()
            page.wait_for_function(f"() => {FIRST_PAINT}")
            paints.append(page.evaluate(f"{FIRST_PAINT}.startTime"))
        assert min(paints) < 1000, "milliseconds"
