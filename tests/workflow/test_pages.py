"""The configurations and links of the pages: the README's run, those of other pages resolve, links lead somewhere."""

import json
import re
import shutil
import subprocess

import pytest
import yaml

from ranktrial.experiment.resolution import resolve
from tests.workflow.conftest import REPOSITORY, copy, write_collection

PAGES = [
    REPOSITORY / "README.md",
    REPOSITORY / "CONTRIBUTING.md",
    REPOSITORY / "config/README.md",
    *sorted((REPOSITORY / "docs").rglob("*.md")),
]
CONFIGURATIONS = re.findall(r"```yaml\n(.*?)```", PAGES[0].read_text(), re.DOTALL)
QUERIES = range(1, 9)


def scores(folder, name, shift):
    lines = [f"q{query}\t{(query * 7 + shift) % 5 / 4}" for query in QUERIES]
    (folder / name).write_text("\n".join(lines) + "\n")


def run(folder, name, first):
    """Ranks two documents of each query, the relevant one (d1) first for every query but each `first`-th."""
    order = {query: ("d2", "d1") if query % first == 0 else ("d1", "d2") for query in QUERIES}
    lines = [f"{query} Q0 {doc} {rank} {9 - rank} x" for query in QUERIES for rank, doc in enumerate(order[query], 1)]
    (folder / name).write_text("\n".join(lines) + "\n")


@pytest.fixture(scope="module")
def workspace(tmp_path_factory):
    """The workflow with the files that the README's configurations name."""
    made = copy(REPOSITORY, tmp_path_factory.mktemp("pages") / "ranktrial")
    data = made.folder / "data"
    write_collection(data / "mine", seed=1)
    (data / "mine/qrels/dev.tsv").unlink()
    for name in ("scifact", "robust04"):
        (data / name).mkdir()
    for number, task in enumerate(("robust04", "covid"), 2):
        (data / f"qrels.{task}.txt").write_text("".join(f"{query} 0 d1 1\n" for query in QUERIES))
        run(data, f"ours.{task}.run", number)
        run(data, f"theirs.{task}.run", number + 1)
    for shift, system in enumerate(("bert", "distilbert")):
        for task in ("sst2", "rte"):
            scores(data, f"{system}.{task}.tsv", shift + len(task))
    for number, text in enumerate(CONFIGURATIONS):
        (made.folder / f"readme-{number}.yaml").write_text(text)
    return made


def test_the_readme_has_three_configurations_that_plan(workspace):
    assert len(CONFIGURATIONS) == 3
    for number in range(3):
        assert any("report" in job for job in workspace.planned(f"readme-{number}.yaml"))


@pytest.mark.parametrize(("number", "name", "noun"), [(1, "my-runs", "collections"), (2, "my-scores", "tasks")])
def test_runs_and_scores_of_the_readme_run_to_their_report(workspace, number, name, noun):
    workspace.run(config=f"readme-{number}.yaml")
    results = workspace.folder / "results" / name
    assert json.loads((results / "meta/main.json").read_text())["k"] == 2
    assert f"On these two {noun}" in (results / "summary.md").read_text()


def heading_anchors(text):
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


def test_every_link_of_a_page_leads_somewhere():
    dead = []
    for page in PAGES:
        for target, anchor in re.findall(r"\]\(([^)#:]*)(?:#([^):]*))?\)", page.read_text()):
            file = page.parent / target if target else page
            if not file.exists() or (anchor and anchor not in heading_anchors(file.read_text())):
                dead.append(f"{page.name}: {target}#{anchor}")
    assert not dead


def test_every_page_that_a_file_names_exists():
    folders = [REPOSITORY / name for name in ("config", "rules", "scripts", "ranktrial", "tests", "profiles")]
    files = [REPOSITORY / "CHANGELOG.md", *(file for folder in folders for file in folder.rglob("*.*"))]
    texts = {file: file.read_text() for file in files if file.suffix in (".md", ".py", ".smk", ".yaml")}
    page = re.compile(r"\bdocs/[\w/-]+\.(?:md|ipynb)\b")
    named = {(file.name, name) for file, text in texts.items() for name in page.findall(text)}
    assert len(named) > 40 and not [name for name in named if not (REPOSITORY / name[1]).exists()]


def blocks(page):
    """The YAML of a page."""
    text = (REPOSITORY / "docs" / page).read_text()
    return [yaml.safe_load(block) for block in re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)]


def test_the_configurations_for_comers_from_other_tools_resolve(workspace, monkeypatch):
    monkeypatch.chdir(workspace.folder)
    names = [resolve(block, "coming-from.md").name for block in blocks("coming-from.md")]
    assert names == ["from-beir", "from-pyterrier", "from-sentence-transformers", "from-ranger"]


@pytest.mark.long
def test_the_site_builds_without_a_warning(tmp_path):
    """`make docs notebooks` in a copy: packages of its own, every link and docstring found, notebooks print the same."""
    for part in ("docs", "scripts", "ranktrial", "config", "tests"):
        shutil.copytree(REPOSITORY / part, tmp_path / part, ignore=shutil.ignore_patterns("__pycache__"))
    for part in (
        "Makefile",
        "mkdocs.yml",
        "pyproject.toml",
        "requirements.lock",
        "LICENSE",
        "CONTRIBUTING.md",
        "README.md",
    ):
        shutil.copy(REPOSITORY / part, tmp_path)
    done = subprocess.run(["make", "docs", "notebooks"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "ranktrial.statistics.comparison.compare" in (tmp_path / "site/results.html").read_text()
    assert "ranktrial.compare" in (tmp_path / "site/library.html").read_text()
    assert (tmp_path / "site/source/CONTRIBUTING.md").is_file()
