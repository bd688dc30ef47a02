"""The report of the finished tiny experiment, and Snakemake's own: whole, the same each time, complete."""

import re
import zipfile

import pytest


@pytest.fixture(scope="module")
def page(finished):
    return finished.folder / "results" / "tiny" / "report.html"


def test_the_page_needs_no_other_file(page):
    text = page.read_text()
    assert 50_000 < len(text) < 1_000_000
    assert set(re.findall(r"https?://[^\s\"'<]+", text)) <= {
        "http://www.w3.org/2000/svg",
        "http://www.w3.org/1999/xlink",
    }
    assert not re.search(r"<(img|iframe|object|embed)\b|\bsrc=|@import|url\((?!#)", text)
    assert set(re.findall(r'<link[^>]*href="([^"]*)"', text)) == {"data:,"}
    targets = re.findall(r'<a[^>]*href="#([^"]+)"', text)
    ids = re.findall(r' id="([^"]+)"', text)
    assert set(targets) <= set(ids) and len(ids) == len(set(ids))


def test_the_page_says_what_was_asked_found_and_done(page):
    text = page.read_text()
    summary = (page.parent / "summary.md").read_text()
    answers = re.findall(r"^(On this collection, .*?\.) One collection", summary, re.MULTILINE)
    assert answers and all(answer in text.replace("&#39;", "'").replace("&lt;", "<") for answer in answers)
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
    done = again.snakemake("results/tiny/report.html")
    assert done.returncode == 0, done.stdout + done.stderr
    assert page.read_bytes() == before


def test_the_graph_counts_the_jobs_that_snakemake_plans(finished, page):
    done = finished.snakemake("--dry-run", "--forceall")
    table = re.search(r"^Job stats:\n.*?^total", done.stdout + done.stderr, re.DOTALL | re.MULTILINE)[0]
    planned = {name: int(count) for name, count in re.findall(r"^(\w+) +(\d+)$", table, re.MULTILINE) if name != "all"}
    graph = re.search(r'<svg class="graph".*?</svg>', page.read_text(), re.DOTALL)[0]
    drawn = re.findall(r'<text [^>]*>(\w+)</text><text class="count"[^>]*>([\d,]+) jobs?<', graph)
    assert {name: int(count) for name, count in drawn} == planned and len(planned) > 15


def test_the_graph_is_the_same_whatever_is_asked_for_and_however_it_is_found(again):
    """Snakemake's own jobs tell it, where they are there; of a single target not all are, and for a deleted file none."""
    with open(again.folder / "scripts/reports/report.py", "a") as file:
        file.write("\n# edited\n")

    def command(*targets):
        done = again.snakemake("--dry-run", "--printshellcmds", *targets)
        return re.search(r"python scripts/reports/report\.py .*", done.stdout + done.stderr)[0]

    whole = command()
    assert '"feeds"' in whole and command("results/tiny/report.html") == whole
    (again.folder / "results/tiny/tables/means.tsv").unlink()
    assert command() == whole


def test_edited_templates_rewrite_the_page_only(again):
    for source in ("report.html.j2", "report.css", "report.js"):
        with open(again.folder / "scripts/reports/page" / source, "a") as file:
            file.write("\n")
    assert again.planned() == {"report"}


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
        "A row is a task",
        "dashed line is the Pareto front",
        "adjusted for the number",
    ):
        assert said in text
