"""The report of the finished tiny experiment in a real browser, on a desk, on a phone and on paper."""

import json
import time

import pytest

from tests.support.axe import axe as axe
from tests.support.browser import WIDTHS, Browser

PNG = b"\x89PNG\r\n"


@pytest.fixture(scope="module")
def page(finished):
    return finished.folder / "results" / "tiny" / "report.html"


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    made = Browser(tmp_path_factory.mktemp("profile"))
    yield made
    made.driver.quit()


@pytest.mark.parametrize("device", WIDTHS)
def test_the_page_fits_the_screen_and_asks_for_nothing(browser, page, tmp_path, device):
    browser.open(page, device)
    assert browser.script("return document.documentElement.scrollWidth") <= WIDTHS[device][0]
    browser.script("document.querySelectorAll('details').forEach((one) => one.open = true)")
    cut = """return [...document.querySelectorAll('.scroll')].filter((one) => one.scrollWidth > one.clientWidth + 1)
        .map((one) => one.ariaLabel)"""
    assert device == "phone" or browser.script(cut) == [], "no table and no figure is cut on a desk"
    browser.script("document.querySelectorAll('button.zoom').forEach((one) => one.click())")
    assert browser.script("return document.documentElement.scrollWidth") <= WIDTHS[device][0]
    assert browser.console() == []
    assert browser.requests() == [page.resolve().as_uri()]
    path = tmp_path / f"{device}.png"
    browser.screenshot(path)
    assert path.read_bytes().startswith(PNG) and path.stat().st_size > 50_000
    images = browser.script(
        "return [...document.images].map((one) => [one.complete && one.naturalWidth, one.getBoundingClientRect().width])"
    )
    assert images and all(drawn and shown >= 1.15 * 245 for drawn, shown in images), "legible, on a phone by scrolling"


COLUMN = """const heads = [...arguments[0].tHead.rows[0].cells]; const at = heads.findIndex((one) => one.textContent === arguments[1]);
return [...arguments[0].tBodies[0].rows].map((row) => row.cells[at].textContent)"""


def leading(text):
    """The first number of a cell, behind which the lowest and highest may stand in brackets."""
    return float(text.replace(",", "").split()[0])


def test_a_click_or_a_key_sorts_a_table(browser, page):
    browser.open(page, "desktop")
    table = browser.script("return document.querySelector('#costs').closest('section').querySelector('table')")
    head = browser.script(
        "return [...arguments[0].querySelectorAll('th button')].find((b) => b.textContent === 'Median latency (ms)')",
        table,
    )
    values = [leading(text) for text in browser.script(COLUMN, table, "Median latency (ms)")]
    assert len(values) == 6
    head.click()
    found = [leading(text) for text in browser.script(COLUMN, table, "Median latency (ms)")]
    assert found == sorted(values)
    head.send_keys("\n")
    found = [leading(text) for text in browser.script(COLUMN, table, "Median latency (ms)")]
    assert found == sorted(values, reverse=True)
    assert browser.script("return arguments[0].closest('th').getAttribute('aria-sort')", head) == "descending"
    name = "Encoding (s)"
    encoded = browser.script(
        "return [...arguments[0].querySelectorAll('th button')].find((b) => b.textContent === arguments[1])",
        table,
        name,
    )
    encoded.click()
    cells = browser.script(COLUMN, table, name)
    assert cells[-1] == "" and cells[0] != "", "empty cells stay last"


def test_a_link_opens_the_folds_that_hold_its_target(browser, page):
    browser.open(page, "phone")
    assert not browser.script("return document.querySelector('.toc').open")
    browser.script(
        "const d = document.querySelector('main details:not([open])'); d.id ||= 'd'; d.querySelector('div').id = 'hidden-target'; location.hash = '#hidden-target'"
    )
    assert browser.driver.execute_async_script(
        "const done = arguments[0]; setTimeout(() => done(document.querySelector('#hidden-target').closest('details').open), 300)"
    )


def test_everything_is_on_paper(browser, page, tmp_path):
    browser.open(page, "desktop")
    path = tmp_path / "page.pdf"
    browser.pdf(path)
    assert path.read_bytes().startswith(b"%PDF") and path.stat().st_size > 20_000
    browser.script("window.dispatchEvent(new Event('beforeprint'))")
    assert browser.script("return document.querySelectorAll('details:not([open])').length") == 0
    browser.script("window.dispatchEvent(new Event('afterprint'))")
    assert browser.script("return document.querySelectorAll('details:not([open])').length") > 0


def test_a_row_of_a_forest_plot_leads_to_the_explorer(browser, page):
    browser.open(page, "desktop")
    row = browser.script("return document.querySelector('figure a.row')")
    assert browser.script("return arguments[0].getBoundingClientRect().height", row) > 10
    row.click()
    end = time.time() + 20
    while browser.script("return document.body.dataset.drawn") is None:
        assert time.time() < end, browser.console()
    assert browser.script("return document.querySelectorAll('#queries tbody tr').length") > 2
    browser.script("document.querySelector('#queries a').click()")
    while browser.script("return document.querySelectorAll('.ranked').length") < 10:
        assert time.time() < end, browser.console()
    assert browser.console() == []


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("device", WIDTHS)
def test_the_page_passes_the_accessibility_check(browser, page, axe, device, dark):
    browser.open(page, device, dark)
    browser.script("document.querySelectorAll('details').forEach((one) => one.open = true)")
    browser.script(axe)
    found = browser.driver.execute_async_script("axe.run().then(arguments[0])")
    broken = {one["id"]: [node["html"][:200] for node in one["nodes"]] for one in found["violations"]}
    assert broken == {}, json.dumps(broken, indent=1)
    assert len(found["passes"]) > 20
