"""The page and Snakemake's own report of a finished run: complete, up to date, and readable without a network."""

import re
import zipfile

import pytest
from headless import SHOWN, png_size, visit

pytestmark = [pytest.mark.slow, pytest.mark.pipeline]

FIRST_PAINT = "performance.getEntriesByName('first-contentful-paint')[0]"
CATEGORIES = ("Overview", "The paper's figures", "Verdicts", "Audit", "Proven protocol", "Private levels", "The run")


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
def test_the_report_is_read_in_a_browser(browser, report, tmp_path):
    # the report's own stylesheet warns of itself in the console
    ours = {"viewport": {"width": 1400, "height": 900}}
    with visit(browser, report, warnings=False, **ours) as page:
        page.get_by_text("Verdicts", exact=True).wait_for()
        text = page.locator("body").inner_text()
        for category in CATEGORIES:
            assert category in text, category
        assert "This is the quick edition" in text
        assert "4 repetitions" in text

        page.get_by_text("The paper's figures", exact=True).click()
        row = page.locator("tr", has=page.get_by_role("cell", name="fig2", exact=True))
        row.locator("a").first.click()
        figure = page.locator('img[src$="fig2.svg"]')
        figure.wait_for()
        assert figure.evaluate("image => image.decode().then(() => image.naturalWidth)") > 100
        row.locator("a").nth(1).click()
        page.get_by_text("whose proof has a gap").first.wait_for()
        caption = page.locator("body").inner_text()
        assert "as published (Theorem 3, whose proof has a gap)" in caption
        assert "Levels ε = " in caption
        assert "quick edition, not a result" in caption
        page.screenshot(path=tmp_path / "report.png")
    assert png_size(tmp_path / "report.png") == (1400, 900)


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
