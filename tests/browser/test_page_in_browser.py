"""The page as a reader meets it: it opens, answers to mouse and keyboard, fits a telephone, and prints."""

import re

import pytest
from headless import SHOWN, png_size, visit
from results_folder import ERRORS, GRID

pytestmark = [pytest.mark.browser, pytest.mark.exhaustive]

PHONE = {"viewport": {"width": 390, "height": 800}, "has_touch": True, "is_mobile": True}
FIRST = "#panel-msnbc-n500-s4-S1"
SCROLLS = "document.documentElement.scrollWidth > document.documentElement.clientWidth"


def open_panel(page, panel=FIRST):
    """Open a panel, wait for its chart, and return the panel."""
    page.locator(f"{panel} > summary").click()
    page.locator(f"{panel} .chart .main-svg").first.wait_for()
    return page.locator(panel)


def test_the_page_opens_without_a_complaint_and_draws_every_panel(browser, page_file):
    with visit(browser, page_file) as page:
        assert page.locator("h1").inner_text().startswith("Segmented Private Data Aggregation")
        assert page.locator(".banner").count() == 2
        page.wait_for_function(SHOWN)
        panels = page.locator("details.panel")
        assert panels.count() == 6
        for i in range(panels.count()):
            open_panel(page, f"#{panels.nth(i).get_attribute('id')}")
        assert page.locator(".failed:not(:empty)").count() == 0


def test_pointing_at_a_curve_shows_its_values(browser, page_file):
    with visit(browser, page_file) as page:
        panel = open_panel(page)
        # the third point of the paper's protocol: m = 1, the least error
        point = panel.locator(".scatterlayer .trace").first.locator(".point").nth(2)
        box = point.bounding_box()
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        shown = panel.locator(".hovertext").first
        shown.wait_for()
        text = shown.text_content()
        assert GRID[2] == 1.0
        assert "Segmented (the paper's)" in text
        assert "m = 1" in text
        assert f"MSE {1.01 * ERRORS[2]:.5f}" in text
        assert "3.00 messages per user" in text


def test_a_telephone_needs_no_sideways_scrolling(browser, page_file, tmp_path):
    with visit(browser, page_file, **PHONE) as page:
        assert not page.evaluate(SCROLLS)
        # everything that can be unfolded
        page.evaluate("document.querySelectorAll('details').forEach(details => { details.open = true })")
        page.locator(f"{FIRST} .chart .main-svg").first.wait_for()
        assert not page.evaluate(SCROLLS)
        wide = page.locator(".scroll:has(table.numeric)").first
        assert wide.evaluate("box => box.scrollWidth > box.clientWidth"), "a wide table scrolls inside its box"
        wide.evaluate("box => { box.scrollLeft = box.scrollWidth }")
        edge = wide.bounding_box()["x"]
        assert wide.locator("tbody th").first.bounding_box()["x"] == pytest.approx(edge, abs=2), "but its first column"
        for picture in page.locator("figure .paper").all():
            assert picture.evaluate("box => box.scrollWidth <= box.clientWidth"), "a figure is seen whole"
        chart = page.locator(f"{FIRST} .chart").bounding_box()
        assert chart["x"] >= 0
        assert chart["x"] + chart["width"] <= 390
        page.screenshot(path=tmp_path / "telephone.png")
    assert png_size(tmp_path / "telephone.png") == (390, 800)


def test_the_keyboard_reaches_everything(browser, page_file):
    with visit(browser, page_file) as page:
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.className") == "skip"
        assert page.locator(".skip").bounding_box()["x"] >= 0, "the skip link shows itself when it has the focus"
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.id") == "main"
        page.locator(f"{FIRST} > summary").focus()
        page.keyboard.press("Enter")
        page.locator(f"{FIRST} .chart .main-svg").first.wait_for()
        reached = []
        for _ in range(40):
            page.keyboard.press("Tab")
            reached.append(page.evaluate("document.activeElement.textContent.trim()"))
            if reached[-1] == "Segmented (the paper's)":
                break
        assert {"Published methods", "Proven methods", "All"} <= set(reached)
        outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert outline != "none", "the focus is visible"
        page.keyboard.press("Space")
        page.wait_for_function("panel => document.querySelector(`${panel} .chart`).data[0].visible !== true", arg=FIRST)
        tables = page.locator(f"{FIRST} > details.numbers > summary")
        assert tables.count() == 1
        tables.first.focus()
        page.keyboard.press("Enter")
        assert page.locator(f"{FIRST} table").first.is_visible()


def contrast(front, back):
    """Return the contrast ratio of two colours given as rgb(...), by WCAG's formula."""

    def luminance(color):
        parts = [int(part) / 255 for part in re.findall(r"\d+", color)[:3]]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    high, low = sorted((luminance(front), luminance(back)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_can_be_read_in_light_and_dark(browser, page_file, scheme):
    with visit(browser, page_file, color_scheme=scheme) as page:
        colors = page.evaluate(
            """() => {
                const of = (selector) => getComputedStyle(document.querySelector(selector));
                const ground = of('body').backgroundColor, card = of('.card').backgroundColor;
                return [
                    [of('body').color, ground], [of('.lead').color, ground], [of('nav a').color, card],
                    ...['.yes', '.partly', '.no', '.banner'].map((name) => [of(name).color, of(name).backgroundColor]),
                ];
            }"""
        )
        assert min(contrast(*pair) for pair in colors) >= 4.5
        dark = contrast(colors[0][1], "rgb(255, 255, 255)") > 4.5
        assert dark == (scheme == "dark")


def test_figures_and_verdicts_print_and_charts_do_not(browser, page_file):
    with visit(browser, page_file) as page:
        open_panel(page)
        page.emulate_media(media="print")
        assert page.locator("#figure-fig2 img").is_visible()
        assert page.locator("table.verdicts").first.is_visible()
        assert not page.locator(f"{FIRST} .chart").is_visible()
        assert page.pdf().startswith(b"%PDF")


def test_without_scripts_the_numbers_are_still_there(browser, page_file):
    with visit(browser, page_file, java_script_enabled=False) as page:
        page.locator(f"{FIRST} > summary").click()
        page.locator(f"{FIRST} > details.numbers > summary").first.click()
        assert page.locator(f"{FIRST} table").first.is_visible()
        assert not page.locator(f"{FIRST} .explorer").is_visible()
        assert page.locator("noscript p").is_visible()
