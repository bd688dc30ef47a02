"""Every block of YAML on a page of docs/ is a configuration, or a part of one that resolves among the sections below."""

import re
from itertools import zip_longest
from pathlib import Path

import pytest
import yaml

from ranktrial.experiment.resolution import resolve
from tests.support.beir import write_beir
from tests.workflow.conftest import REPOSITORY

PAGES = sorted((REPOSITORY / "docs").rglob("*.md"))
COLLECTIONS = ("collection", "scifact", "nfcorpus", "clef", "politifact", "a", "b", "c")
TASKS = ["collection", "clef", "a", "b", "c"]
# The names that a part of a configuration may refer to.
AROUND = {
    "experiment": "pages",
    "measures": ["nDCG@10", "RR@3", "RR@100", "Judged@10"],
    "datasets": {name: {"format": "beir", "location": f"data/{name}"} for name in COLLECTIONS},
    "models": {
        "minilm": {"type": "bi-encoder", "weights": "models/minilm"},
        "m": {"type": "bi-encoder", "weights": "models/m"},
        "minilm-ce": {"type": "cross-encoder", "weights": "models/ce"},
    },
    "recipes": {
        "hard": {"train_on": "collection"},
        "clef": {"train_on": "clef"},
        "random": {"train_on": "clef", "negatives": {"from": "random", "per_query": 1}},
    },
    "systems": {
        "bm25": {"type": "bm25"},
        "zero-shot": {"model": "minilm"},
        "tuned": {"model": "minilm", "recipe": "hard"},
        "tuned-hard": {"model": "minilm", "recipe": "clef"},
        "tuned-random": {"model": "minilm", "recipe": "random"},
        "reranker": {"model": "minilm-ce", "rerank": {"first_stage": "bm25", "depth": 10}},
    },
    "tasks": TASKS,
    "comparisons": {"base": {"control": "bm25", "treatment": "zero-shot"}},
}
FEATURES = ["BM25", "DPH", "document_length", "query_idf_mean", "first_stage_rank"]
BESIDE = {  # what the parts on one page, or of one section, refer to beside
    "ranking.md": {
        "tasks": ["scifact", "scifact/train"],
        "features": {"statistical": {"first_stage": "bm25", "of": FEATURES}},
    },
    "matrices": {
        "recipes": {
            "pseudo": {"train_on": TASKS, "labels": "bm25"},
            "full": {"train_on": TASKS, "batch_size": 8},
            "few": {"train_on": TASKS, "queries": [1, "all"]},
        },
        "systems": {
            "transfer": {"model": "m", "recipe": {"name": "full", "dataset": "others"}},
            "pseudo": {"model": "m", "recipe": {"name": "pseudo", "dataset": "target"}},
            "few": {"model": "m", "recipe": {"name": "few", "dataset": "target"}},
        },
    },
    "models.md": {"models": {"colbert": {"type": "multi-vector", "weights": "models/colbert"}}},
    "formulas.md": {"systems": {"e5": {"model": "m"}}},
    "transfer.md": {"systems": {"untrained": {"model": "m"}}},
}
EXAMPLES = {"tutorial.md": ["config/config.yaml", *["config/insurance.yaml"] * 6]}  # one for each block
FOLDERS = (*COLLECTIONS, "mine", "arguana", "robust04", "web2010", "touche", "quora", "trec", "news", "news-changed")
FILES = (
    "ours.run",
    "theirs.run",
    "more-pairs.tsv",
    "data/scifact.zip",
    "data/scifact-doc2query.jsonl",
    "MSLR-WEB10K/Fold1/train.txt",
    "MSLR-WEB10K/Fold1/vali.txt",
    "MSLR-WEB10K/Fold1/test.txt",
    "rankers/mine.py",
    "rankers/run.py",
    "config/rankers/lexical.py",
)
SCORES = [f"data/{system}.{task}.tsv" for system in ("bert", "distilbert") for task in ("sst2", "rte")]
RUNS = [
    f"data/{name}"
    for task in ("robust04", "covid")
    for name in (f"qrels.{task}.txt", f"ours.{task}.run", f"theirs.{task}.run")
]


def blocks(page: Path) -> list[dict]:
    """The configurations and parts of them on a page."""
    return [yaml.safe_load(block) for block in re.findall(r"```yaml\n(.*?)```", page.read_text(), re.DOTALL)]


def within(part: dict, around: dict) -> dict:
    """A part of a configuration among sections that it may refer to; its own entries come first."""
    merged = dict(around)
    for section, entries in part.items():
        mapped = isinstance(entries, dict) and isinstance(around.get(section), dict)
        merged[section] = {**around[section], **entries} if mapped else entries
    return merged


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Data of the names on the pages: collections of one document in BEIR's layout, and files of which few are read."""
    for name in FOLDERS:
        judged = dict.fromkeys(("train", "dev", "test"), ("1\td1\t1",))
        write_beir(tmp_path / "data" / name, {"d1": f"storms of {name}"}, {"1": f"storm {name}"}, judged)
    for name in (*FILES, *SCORES, *RUNS):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    for name in ("rte.csv", "cola.csv"):
        (tmp_path / name).write_text("id,small,large\n1,0.5,0.4\n")
    (tmp_path / "mteb.tsv").write_text("task\te5\tbge\nnews\t0.5\t0.4\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page)], ids=lambda page: page.name)
def test_the_configurations_of_a_page_resolve(page, folder):
    around = within(BESIDE.get(page.name, {}), AROUND)
    examples = [yaml.safe_load((REPOSITORY / example).read_text()) for example in EXAMPLES.get(page.name, [])]
    for part, example in zip_longest(blocks(page), examples):
        around = example or around
        for section in part:
            around = within(BESIDE.get(section, {}), around)
        whole = {"systems", "tasks", "comparisons"} <= set(part)
        assert resolve({"experiment": "pages", **part} if whole else within(part, around), page.name).comparisons


def test_every_target_of_make_on_a_page_exists():
    targets = set(re.findall(r"^([a-z-]+):", (REPOSITORY / "Makefile").read_text(), re.MULTILINE))
    pages = [*PAGES, REPOSITORY / "README.md", REPOSITORY / "CONTRIBUTING.md", REPOSITORY / "config/README.md"]
    named = {
        word for page in pages for word in re.findall(r"(?:^    |`)make ([a-z-]+)", page.read_text(), re.MULTILINE)
    }
    assert len(named) > 15 and not named - targets
