"""The explorer in a real browser, opened from the disk: every control, hostile texts, keys, links, times, widths, axe."""

import csv
import json
import time

import numpy as np
import pytest
from selenium.webdriver import ActionChains
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

from ranktrial.ir.collection import read_queries
from ranktrial.ir.trec import ranking, read_qrels, read_run
from ranktrial.statistics.significance import difference_of
from tests.explorer.crafted_experiment import EVIL, FEW, FORMULA
from tests.explorer.page import Page
from tests.support.axe import axe as axe
from tests.support.browser import WIDTHS, Browser

STORMS = "#c=tuning&t=storms"


@pytest.fixture(scope="module")
def downloads(tmp_path_factory):
    return tmp_path_factory.mktemp("downloads")


@pytest.fixture(scope="module")
def browser(tmp_path_factory, downloads):
    made = Browser(tmp_path_factory.mktemp("profile"))
    made.driver.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(downloads)})
    yield made
    made.driver.quit()


@pytest.fixture
def page(browser, explored):
    return Page(browser, explored / "explorer" / "index.html")


@pytest.fixture
def values(explored):
    """The values of a task by system and query, as comparisons take them."""
    from ranktrial.common.tables import read_metrics

    def of(task, system):
        tables = [
            read_metrics(path)["nDCG@10"] for path in sorted(explored.glob(f"results/e/metrics/{task}/{system}/*.tsv"))
        ]
        return sum(tables) / len(tables)

    return of


def minus(number, digits=3):
    text = f"{abs(number):.{digits}f}"
    return text if number >= 0 or float(text) == 0 else f"\N{MINUS SIGN}{text}"


def test_it_opens_from_the_disk_and_asks_for_nothing_else(browser, page, explored):
    page.open()
    assert browser.console() == []
    folder = (explored / "explorer").resolve().as_uri()
    assert all(one.startswith(folder) for one in browser.requests())
    assert page.text("#title") == "e" and len(page.texts("#queries tbody tr")) == 30
    assert page.texts(".tasks tbody th") == ["Storms", "Floods"]
    assert len(page.texts(".charts svg")) == 2


def test_a_slice_has_the_effect_and_interval_of_the_statistics_library(browser, page, values):
    rng = np.random.default_rng(1)
    page.open(STORMS)
    for alpha in (0.05, 0.1):
        key = f"{alpha:g}"
        for n in (2, 3, 7, 30):
            treatment, control = rng.random(n), rng.random(n)
            call = """return explorer.part("storms/queries").then((table) => explorer.difference(arguments[0], arguments[1], table.quantiles[arguments[2]]))"""
            found = browser.script(call, treatment.tolist(), control.tolist(), key)
            expected = difference_of(treatment, control, alpha, None)
            assert found["n"] == n
            for name, value in (("mean", expected.difference), ("low", expected.ci_low), ("high", expected.ci_high)):
                assert found[name] == pytest.approx(value, rel=1e-12, abs=1e-14)
    cut = browser.script("return explorer.difference([1, 0.9], [0, 0.5], [12.7], [-1, 1])")
    assert (cut["low"], cut["high"]) == (-1, 1), "no difference of this measure is larger"
    assert browser.script("return explorer.view.range") == [-1, 1]
    for one in ([0.5], [0.25, 0.25]):
        found = browser.script("return explorer.difference(arguments[0], arguments[0].map(() => 0.1), [12.7])", one)
        assert found["low"] is None and found["mean"] == pytest.approx(one[0] - 0.1)
    whole = difference_of(values("storms", "tuned").to_numpy(), values("storms", "bm25").to_numpy(), 0.05, 1.0)
    assert page.text("#slice strong").lstrip("+") == minus(whole.difference)
    assert page.text("#slice .quiet") == f"95% t interval {minus(whole.ci_low)} to {minus(whole.ci_high)}"


def test_filters_leave_queries_and_their_slice_is_exploratory(page, values, explored):
    page.open(STORMS)
    assert not page.text("#slice-note").startswith("Exploratory")
    difference = values("storms", "tuned") - values("storms", "bm25")
    wins = [query for query, value in difference.items() if value > 1e-12]
    page.act(lambda: Select(page.find(".filters select")).select_by_visible_text("wins"))
    assert sorted(page.texts("#queries tbody .quiet")) == sorted(wins)
    assert page.text("#slice-n").startswith(f"{len(wins)} of 30 queries: {len(wins)} win")
    assert page.text("#slice-note").startswith("Exploratory")
    texts = read_queries(explored / "results/e/data/storms/queries/test.jsonl")
    page.find("#filter-w").send_keys("fire")  # one field for the whole word, as a person types
    await_state(page, "w", "fire")
    left = [query for query in wins if "fire" in texts[query]]
    assert sorted(page.texts("#queries tbody .quiet")) == sorted(left) and 0 < len(left) < len(wins)
    assert page.browser.script("return document.activeElement.id") == "filter-w", "the cursor stays in the field"
    assert page.state()["w"] == "fire" and page.state()["o"] == "win"
    page.act(lambda: page.find(".filters > button").click())
    assert len(page.texts("#queries tbody tr")) == 30 and page.find("#filter-w").get_attribute("value") == ""


def await_state(page, key, value):
    """Wait until the page has drawn a state that several keys lead to."""
    end = time.time() + 20
    while page.browser.script("return explorer.view.state[arguments[0]]", key) != value:
        assert time.time() < end, page.state()
        time.sleep(0.02)


def test_each_field_keeps_the_cursor_after_a_draw_of_any_kind(page):
    """Words and numbers of several characters, in a page just opened, with filters in its address, and field by field."""
    for address in ("", STORMS, f"{STORMS}&w=storm&w2=3&o=win"):
        page.open(address)
        for key, typed in (("w", "oof a"), ("w1", "12"), ("w2", "345"), ("u2", "100"), ("w", "x")):
            before = page.state().get(key, "")
            page.find(f"#filter-{key}").send_keys(Keys.END, typed)
            await_state(page, key, before + typed)
            assert page.browser.script("return document.activeElement.id") == f"filter-{key}"
            assert page.find(f"#filter-{key}").get_attribute("value") == before + typed
        links = page.browser.script("return [...document.querySelectorAll('.tasks a')].map((one) => one.hash)")
        assert all("w1=12" in link and "u2=100" in link for link in links), "another task keeps the filter"


@pytest.mark.parametrize("name", ["__proto__", "constructor", "toString", "nothing"])
def test_an_address_that_names_what_is_not_there_shows_the_first(browser, page, name):
    page.open()
    for key in ("c", "t", "q", "l", "r", "d", "s", "o", "w1"):
        page.go(f"#t=storms&q=q3&{key}={name}")
        assert page.texts("[role=alert]") == [] and browser.console() == [], key
        assert page.texts("#queries tbody tr") or page.texts(".ranked") or page.texts(".warning"), key


def test_texts_do_not_turn_their_neighbours_round(page):
    """Overrides of the direction of writing stay inside their text, and out of the window's title."""
    turned = "a\u202eevil"
    page.open(f"{STORMS}&q=q3")
    called = """
        const made = explorer.element("h2", {}, arguments[0], explorer.element("span", {}, arguments[0]), " q1");
        return [[...made.querySelectorAll("bdi")].map((one) => one.textContent), made.lastChild.textContent];
    """
    assert page.browser.script(called, turned) == [[turned, turned], " q1"]
    assert page.browser.script("return explorer.unturned(arguments[0])", turned) == "aevil"


def test_a_chart_of_many_queries_has_few_elements(page):
    page.open(STORMS)
    drawn = """
        const rows = Array.from({ length: 100000 }, (_, at) => {
          const [control, treatment] = [(at % 101) / 100, (at % 97) / 96];
          const difference = treatment - control;
          return { id: `q${at}`, text: "", control, treatment, difference, outcome: explorer.outcome(difference, false) };
        });
        const noun = ["query", "queries"], labels = { control: "a", treatment: "b" }, opened = [];
        const charts = [
          explorer.differencesChart(rows, explorer.view.comparison, noun, 700, (row) => opened.push(row.id)),
          explorer.scatterChart(rows, explorer.view.comparison, labels, noun, 400, (row) => opened.push(row.id)),
        ];
        return charts.map((one) => one.querySelectorAll("rect, circle").length);
    """
    bars, squares = page.browser.script(drawn)
    assert 300 <= bars <= 1300 and 300 <= squares <= 3600
    few = page.browser.script(drawn.replace("100000", "500"))
    assert few[0] >= 500 and few[1] >= 500, "each of few queries has its own mark"


@pytest.mark.parametrize(
    "low, high, key, bounds",
    [("w1", "w2", "words", (2, 3)), ("r1", "r2", "relevant", (5, 6)), ("u1", "u2", "unjudged", (80, 90))],
)
def test_each_range_filters(page, low, high, key, bounds):
    page.open(f"{STORMS}&{low}={bounds[0]}&{high}={bounds[1]}")
    scale = 100 if key == "unjudged" else 1
    found = page.browser.script("return explorer.view.rows.map((row) => row[arguments[0]])", key)
    expected = [value for value in found if bounds[0] <= scale * value <= bounds[1]]
    assert 0 < len(expected) < len(found) and len(page.texts("#queries tbody tr")) == len(expected)
    assert page.browser.script("return document.getElementById(arguments[0]).value", f"filter-{low}") == str(bounds[0])


HEADINGS = ("Query", "BM25", "Tuned <b>model</b>", "Difference", "Words", "Relevant", "Unjudged")
CELLS = "return [...document.querySelectorAll('#queries tbody tr')].map((row) => row.cells[arguments[0]].firstChild.textContent)"


def number(text):
    return float(text.replace("\N{MINUS SIGN}", "-").replace("+", "").rstrip("%"))


def test_columns_sort(page):
    page.open(STORMS)
    found = []
    for column, heading in enumerate(HEADINGS):
        key = number if column else str.lower
        for _ in range(2):
            button = page.browser.script(
                "return document.querySelectorAll('#queries thead button')[arguments[0]]", column
            )
            assert page.browser.script("return arguments[0].textContent", button) == heading
            page.act(button.click)
            cells = [key(one) for one in page.browser.script(CELLS, column)]
            up = page.state()["s"].endswith("-")
            assert cells == sorted(cells, reverse=up) and len(set(cells)) > 1, heading
            found.append(page.state()["s"])
    assert len(set(found)) == 2 * len(HEADINGS)


def test_a_click_on_a_chart_opens_the_query(browser, page):
    page.open(STORMS)
    third = page.find("#queries tbody tr:nth-child(3) .quiet").text
    bar = page.find(".charts svg g[data-mark=rect] rect:nth-child(3)")
    page.act(lambda: ActionChains(browser.driver).move_to_element(bar).click().perform())
    assert page.state()["q"] == third and len(page.texts(".ranking")) == 2


def expected_side(explored, task, system, seed, query, depth):
    run = read_run(explored / f"results/e/runs/{task}/{system}/seed-{seed}.trec.gz")
    return ranking(run[query])[:depth]


def test_a_query_shows_two_rankings_with_grades_and_the_other_rank(page, explored):
    page.open(f"{STORMS}&q=q3&d=20")
    qrels = read_qrels(explored / "results/e/data/storms/qrels/test.qrels")["q3"]
    left, right = (expected_side(explored, "storms", *run, "q3", 20) for run in (("bm25", 0), ("tuned", 1)))
    sides = page.browser.script(
        "return [...document.querySelectorAll('.ranking')].map((side) => [...side.querySelectorAll('.ranked')].map((one) => one.dataset.document))"
    )
    assert sides == [left, right]
    lines = page.texts(".ranking:first-child .about")
    for rank, (document, line) in enumerate(zip(left, lines, strict=True), 1):
        grade = qrels.get(document)
        assert ("unjudged" if grade is None else f"relevant, grade {grade}" if grade else "not relevant") in line
        if document in right:
            other = right.index(document) + 1
            assert f"{'▲' if other < rank else '▼' if other > rank else '='} {other} in the other" in line
    assert page.text(".ranking:last-child h3").startswith("Tuned <b>model</b>, seed 1")
    relevant = [document for document, grade in qrels.items() if grade > 0 and document not in {*left, *right}]
    missing = page.browser.script(
        "return [...document.querySelectorAll('#missing .ranked')].map((one) => one.dataset.document)"
    )
    assert sorted(missing) == sorted(relevant) and "nowhere" in missing
    assert "BM25: not returned; Tuned <b>model</b>: not returned" in page.text(
        '#missing [data-document="nowhere"] .about'
    )


def test_any_two_systems_any_seed_and_depth(page, explored):
    page.open(f"{STORMS}&q=q4")
    assert page.texts(".choices label:last-child option") == ["3", "10", "20"]
    for place, choice in ((0, "other"), (1, "Tuned <b>model</b>, seed 2"), (2, "20")):
        page.act(
            lambda place=place, choice=choice: Select(
                page.browser.script("return document.querySelectorAll('.choices select')[arguments[0]]", place)
            ).select_by_visible_text(choice)
        )
    sides = page.browser.script(
        "return [...document.querySelectorAll('.ranking')].map((side) => [...side.querySelectorAll('.ranked')].map((one) => one.dataset.document))"
    )
    assert sides == [expected_side(explored, "storms", *run, "q4", 20) for run in (("other", 0), ("tuned", 2))]
    assert page.state() == {"c": "tuning", "t": "storms", "q": "q4", "l": "other 0", "r": "tuned 2", "d": "20"}


def test_keys_go_through_the_queries_that_are_left_within_a_tenth_of_a_second(page):
    page.open(f"{STORMS}&o=win")
    order = page.texts("#queries tbody .quiet")
    page.go(f"{STORMS}&o=win&q={order[0]}")
    times = []
    for query in order[1:5]:
        time.sleep(0.3)  # a reader looks, and the page loads what comes next
        page.key("j")
        assert page.state()["q"] == query and page.state()["o"] == "win"
        times.append(int(page.browser.script("return document.body.dataset.milliseconds")))
    assert np.median(times) <= 100, times
    page.key("k")
    assert page.state()["q"] == order[3]
    page.key(Keys.ARROW_LEFT)
    assert page.state()["q"] == order[2]
    page.key("u")
    assert "q" not in page.state() and len(page.texts("#queries tbody tr")) == len(order)


def test_html_in_a_text_is_shown_as_text(browser, page):
    page.open(f"{STORMS}&q=q0")
    shown = page.text('.ranking [data-document="d0"] .text')
    assert shown == EVIL and page.text("#query").startswith(f"storm {EVIL}")
    assert page.texts(".ranked img, .ranked b, #query img, h3 b, option b") == []
    assert "storm" in page.texts('.ranking [data-document="d0"] mark')
    assert browser.console() == []
    assert (
        browser.script(
            "document.body.append(Object.assign(document.createElement('script'), {textContent: 'window.evil = 1'})); return window.evil"
        )
        is None
    )
    assert "Content Security Policy" in " ".join(browser.console())


def test_a_text_unfolds(page):
    page.open(f"{STORMS}&q=q1")
    button = page.find(".more")
    button.click()
    assert page.browser.script("return arguments[0].closest('.ranked').className", button) == "ranked whole"
    assert page.browser.script("return arguments[0].getAttribute('aria-expanded')", button) == "true"


def test_holes_have_their_cases_and_the_pool_is_exported(page, explored, downloads):
    page.open(f"{STORMS}&o=loss")
    cases = [float(text.replace("\N{MINUS SIGN}", "-")) for text in page.texts("#holes tbody td:nth-child(2)")]
    assert cases[2] > cases[0] > cases[3]
    left = page.texts("#queries tbody .quiet")
    page.find("#pool").click()
    file = downloads / "pool-tuning-storms.tsv"
    end = time.time() + 20
    while not file.exists():
        assert time.time() < end
        time.sleep(0.05)
    rows = list(csv.DictReader(file.open(), delimiter="\t", quoting=csv.QUOTE_NONE))
    qrels = read_qrels(explored / "results/e/data/storms/qrels/test.qrels")
    expected = {
        (query, document)
        for query in left
        for run in (("bm25", 0), ("tuned", 1), ("tuned", 2))
        for document in expected_side(explored, "storms", *run, query, 10)
        if document not in qrels[query]
    }
    assert {(row["query_id"], row["document_id"]) for row in rows} == expected and len(rows) == len(expected)
    assert all(row["text"] and row["query"] for row in rows)
    assert {row["text"][:4] for row in rows if row["document_id"] == FORMULA} == {"'=1+"}


def test_another_comparison_and_task(page):
    page.open()
    page.act(lambda: Select(page.find("main > label select")).select_by_index(1))
    assert page.state()["c"] == "storms-only" and page.texts(".tasks tbody th") == ["Storms"]
    assert "90% t interval" in page.text("#slice")
    page.go("#c=tuning")
    page.act(lambda: page.browser.script("document.querySelectorAll('.tasks a')[1].click()"))
    assert page.state()["t"] == "floods" and len(page.texts("#queries tbody tr")) == 12


def test_a_sentence_stands_in_place_of_bars_where_all_queries_are_ties(browser, explored, page):
    ties = Page(browser, explored / "explorer-ties" / "index.html").open()
    said = "Ties only (12 queries): Copy and BM25 have the same nDCG@10, so there is no difference to draw."
    assert ties.texts(".charts .tied") == [said] and len(ties.texts(".charts svg")) == 1
    assert ties.text("#slice") == "0.000 nDCG@10 no t interval"
    ties.open("#t=floods&w=q7", "phone")
    assert ties.texts(".charts .tied") == [said.replace("12 queries", "1 query")]
    page.open(STORMS)
    assert page.texts(".charts .tied") == [] and len(page.texts(".charts svg")) == 2


def test_a_link_opens_its_state_at_once(browser, page):
    browser.open(page.page, "desktop")
    browser.driver.get("about:blank")
    browser.driver.get(f"{page.page.resolve().as_uri()}{STORMS}&q=q5&r=other%200")
    page.wait(0)
    assert page.text(".ranking:last-child h3").startswith("other")


def test_ids_alone_where_texts_are_not_shown(browser, explored):
    page = Page(browser, explored / "explorer-ids" / "index.html").open(f"{STORMS}&q=q5")
    assert page.texts(".ranked .text") == [] and len(page.texts(".ranked .id")) >= 20
    page.go(STORMS)
    assert "Texts are not shown" in page.text("main > details")


def test_scores_alone_have_samples_and_nothing_of_retrieval(browser, explored):
    page = Page(browser, explored / "explorer-values" / "index.html").open("#u1=50&r1=9")
    assert page.texts("#queries thead button") == ["Sample", "BM25", "Tuned <b>model</b>", "Difference"]
    assert len(page.texts("#queries tbody tr")) == 30 and page.text("#slice-n").startswith("All 30 samples: ")
    assert page.texts(".filters label > span") == ["Outcome", "Part of the id"] and page.texts(".range, #holes") == []
    assert page.text("#single") == "explorer of single samples"
    words = ("quer", "document", "relevant", "judged", "retriev")
    assert not [word for word in words if word in page.text("#main").lower()]
    page.go("#q=q3")
    assert page.text(".facts").startswith("nDCG@10: BM25 0.") and "document" not in page.text(".facts")
    assert page.text("#main > p.quiet") == "The values are external, so there are no rankings to show."
    assert browser.console() == []


def test_a_run_that_holds_fewer_documents_than_are_shown_says_how_many(page, explored):
    page.open(f"{STORMS}&q=q7&d=20&l=bm25%200&r=other%200")
    left, right = (expected_side(explored, "storms", system, 0, "q7", 20) for system in ("bm25", "other"))
    assert len(right) == FEW and len(left) == 20
    moves = dict(zip(left, page.texts(".ranking:first-child .move"), strict=True))
    other = read_run(explored / "results/e/runs/storms/other/seed-0.trec.gz")["q7"]
    assert {moves[one] for one in left if one not in other} == {"not among the other's 5 documents"}
    assert "not in the other's first 20" in page.texts(".ranking:last-child .move")


def test_a_folder_that_is_not_whole_says_so(browser, explored, tmp_path):
    import shutil

    shutil.copytree(explored / "explorer", tmp_path / "explorer")
    shutil.rmtree(tmp_path / "explorer/data/storms")
    page = Page(browser, tmp_path / "explorer/index.html").open()
    assert page.text("[role=alert]") == "data/storms/queries.js is missing: the folder of this page is incomplete."


@pytest.mark.parametrize(("device", "dark"), [("desktop", False), ("desktop", True), ("phone", False)])
@pytest.mark.parametrize("state", [f"{STORMS}&o=win", f"{STORMS}&q=q3"], ids=["slice", "query"])
def test_it_fits_the_screen_and_passes_the_accessibility_check(browser, page, axe, state, device, dark):
    page.open(state, device, dark)
    assert browser.script("return document.documentElement.scrollWidth") <= WIDTHS[device][0]
    browser.script("document.querySelectorAll('details').forEach((one) => one.open = true)")
    # axe is added as the page's own scripts are: its policy runs no text
    browser.driver.execute_cdp_cmd("Runtime.evaluate", {"expression": axe})
    found = browser.driver.execute_async_script("axe.run().then(arguments[0])")
    broken = {one["id"]: [node["html"][:200] for node in one["nodes"]] for one in found["violations"]}
    assert broken == {}, json.dumps(broken, indent=1)
    assert len(found["passes"]) > 15
