"""The report of the finished tiny experiment, and Snakemake's own: whole, the same each time, complete."""

import html
import re
import zipfile

import pytest


@pytest.fixture(scope="module")
def page(finished):
    return finished.folder / "results" / "tiny" / "report.html"


def test_the_page_needs_no_other_file(page):
    text = page.read_text()
    assert 50_000 < len(text) < 1_000_000
    assert not re.search("https?://", text)
    assert not re.search(r"<(iframe|object|embed)\b|\bsrc=(?!\"data:image/svg)|@import|url\(", text)
    assert text.count("<img ") == text.count('src="data:image/svg+xml;base64,') > 3
    assert set(re.findall(r'<link[^>]*href="([^"]*)"', text)) == {"data:,"}
    targets = re.findall(r'<a[^>]*href="#([^"]+)"', text)
    ids = re.findall(r' id="([^"]+)"', text)
    assert set(targets) <= set(ids) and len(ids) == len(set(ids))


def test_each_link_and_each_number_of_a_table_leads_to_a_file_beside_the_page(page):
    links = set(re.findall(r'<a[^>]*href="([^"#][^"#]*)', page.read_text()))
    assert {link.split("/")[0] for link in links} >= {"tables", "meta", "metrics", "explorer"}
    assert [link for link in links if not (page.parent / html.unescape(link)).exists()] == []


def test_the_page_says_what_was_asked_found_and_done(page):
    text = page.read_text()
    summary = (page.parent / "summary.md").read_text()
    answers = re.findall(r"^- \*\*.*?\*\* (On this collection, .*)$", summary, re.MULTILINE)
    assert answers and all(answer in html.unescape(text) for answer in answers)
    for said in (
        "Does hard beat zero-shot in nDCG@10?",
        "Training loss over the steps: bert, hard",
        "Energy",
        "sentence-transformers",
    ):
        assert said in text
    assert "nan" not in re.sub(r"<script>.*", "", text, flags=re.DOTALL).lower().split()


def test_the_same_inputs_give_the_same_bytes(again):
    page = again.folder / "results/tiny/report.html"
    before = page.read_bytes()
    page.unlink()
    again.run("results/tiny/report.html")
    dates = re.compile(rb"\d{4}-\d{2}-\d{2}")  # the day on which it was made, which may have ended between the two
    assert dates.sub(b"", page.read_bytes()) == dates.sub(b"", before)


def test_the_rules_have_the_jobs_that_snakemake_plans(finished, page):
    done = finished.snakemake("--dry-run", "--forceall")
    table = re.search(r"^Job stats:\n.*?^total", done.stdout + done.stderr, re.DOTALL | re.MULTILINE)[0]
    planned = {name: int(count) for name, count in re.findall(r"^(\w+) +(\d+)$", table, re.MULTILINE) if name != "all"}
    rules = re.search(r"Rules of the workflow</summary>.*?</details>", page.read_text(), re.DOTALL)[0]
    shown = re.findall(r'<th scope="row">(\w+)</th><td class="n">([\d,]+)</td>', rules)
    assert {name: int(count) for name, count in shown} == planned and len(planned) > 15


def test_the_graph_is_the_same_whatever_is_asked_for_and_however_it_is_found(again):
    """Snakemake's own jobs tell it, where they are there; of a single target not all are, and for a deleted file none."""
    with open(again.folder / "scripts/reports/report.py", "a") as file:
        file.write("\nEDITED = True\n")

    def command(*targets):
        done = again.snakemake("--dry-run", "--printshellcmds", *targets)
        return re.search(r"python -P -m scripts\.reports\.report .*", done.stdout + done.stderr)[0]

    whole = command()
    assert '"feeds"' in whole and command("results/tiny/report.html") == whole
    (again.folder / "results/tiny/tables/means.tsv").unlink()
    assert command() == whole


def test_an_edited_style_rewrites_the_pages_only(again):
    for source in ("page.css", "page.js"):
        with open(again.folder / "ranktrial/reports/writing" / source, "a") as file:
            file.write("\n")
    assert again.planned() == {"report", "explorer"}


def test_snakemakes_own_report_has_every_figure_and_table_with_its_caption(again):
    done = again.snakemake("--report", "report.zip")
    if "AssetDownloadError" in done.stderr:
        pytest.skip("Snakemake cannot load the scripts of its report here")
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    archive = zipfile.ZipFile(again.folder / "report.zip")
    names = {name.rsplit("/", 1)[-1] for name in archive.namelist()}
    figures = {path.name for path in (again.folder / "results/tiny/figures").iterdir() if path.suffix != ".png"}
    tables = {
        f"{name}.tsv" for name in ("means", "comparisons", "datasets", "costs", "hard-helps", "random-helps", "theirs")
    }
    assert names >= figures | tables | {"report.html"}
    text = archive.read(
        next(name for name in archive.namelist() if name.count("/") == 1 and name.endswith(".html"))
    ).decode()
    for said in (
        "Forest plots",
        "Tables",
        "Costs",
        "Each row is a task",
        "dashed line is the Pareto front",
        "adjusted for the number",
    ):
        assert said in text
