"""A copy of the workflow in a temporary folder, a tiny collection and model for it, and the finished tiny experiment."""

import os
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from ranktrial.engine.job_records import PLACE
from tests.support.beir import write_beir
from tests.support.once import made_once
from tests.support.tiny_bert import build

REPOSITORY = Path(__file__).parents[2]
PARTS = ["Snakefile", "rules", "scripts", "ranktrial", "config", "profiles", "slurm", "envs"]
TOPICS = ["fire", "flood", "theft", "storm", "hail", "crash", "illness", "pension", "tenant", "annuity"]
BEING_WRITTEN = ("*.pyc.*", "*.meaning.*")  # by another process, and gone a moment later
WORDS = [f"word{n}" for n in range(60)]


class Workspace:
    """A folder with the workflow's sources in which Snakemake runs as a user would run it."""

    python = sys.executable  # or that of a warm process (see tests/support/warm.py)

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def snakemake(self, *arguments: str, config: str = "tiny.yaml") -> subprocess.CompletedProcess:
        """Run Snakemake on a configuration and give back what it printed."""
        return subprocess.run(self.command(*arguments, config=config), cwd=self.folder, capture_output=True, text=True)

    def command(self, *arguments: str, config: str = "tiny.yaml", python: str = "") -> list[str]:
        return [python or self.python, "-m", "snakemake", *arguments, "--configfile", config]

    def run(self, *arguments: str, config: str = "tiny.yaml") -> subprocess.CompletedProcess:
        """Run Snakemake, which succeeds."""
        done = self.snakemake(*arguments, config=config)
        assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-5000:]
        return done

    def planned(self, config: str = "tiny.yaml", *targets: str) -> set[str]:
        """The jobs of a dry run by their messages: the rule and its wildcards."""
        done = self.run("--dry-run", *targets, config=config)
        return set(re.findall(r"^Job \d+: (.*)$", done.stdout + done.stderr, re.MULTILINE))

    def log(self) -> str:
        """Snakemake's log of the last run."""
        return max((self.folder / ".snakemake" / "log").glob("*.log")).read_text()

    def ran(self) -> list[str]:
        """The jobs of the last run by their messages, in the order in which they began."""
        return re.findall(r"^Job \d+: (.*)$", self.log(), re.MULTILINE)

    def write_config(self, config: dict, name: str = "tiny.yaml") -> None:
        (self.folder / name).write_text(yaml.safe_dump(config, sort_keys=False))

    def metrics(self) -> dict[str, bytes]:
        """The content of every metrics file by its path."""
        root = self.folder / "results" / "tiny"
        return {str(path.relative_to(root)): path.read_bytes() for path in sorted(root.glob("metrics/*/*/*.tsv"))}


@pytest.fixture(scope="session", autouse=True)
def in_warm_processes(warm_python: str) -> Iterator[None]:
    """All workspaces of these tests start Snakemake and its jobs from one warm process."""
    Workspace.python = warm_python
    yield
    Workspace.python = sys.executable


def copy(source: Path, target: Path) -> Workspace:
    """Copy the workflow's sources (and, from a workspace, everything) with their dates, so compiled ones stay valid."""
    target.mkdir(parents=True, exist_ok=True)
    for path in [source / part for part in PARTS] if source == REPOSITORY else source.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.copytree(path, target / path.name, ignore=shutil.ignore_patterns(*BEING_WRITTEN), symlinks=True)
        else:
            shutil.copy2(path, target / path.name, follow_symlinks=False)
    if (state := target / "results/state").is_dir():  # the dates are those of the original: nothing is taken over
        (state / PLACE).write_text(str((state / "metadata").stat().st_ino))
    return Workspace(target)


def write_collection(folder: Path, seed: int) -> list[str]:
    """A BEIR folder: documents of two topic words and noise, queries that name a document's topics. Gives all texts."""
    rng = random.Random(seed)
    pairs = [(a, b) for a in TOPICS for b in TOPICS if a != b]
    rng.shuffle(pairs)
    documents = {f"d{n}": f"{a} {b} " + " ".join(rng.choices(WORDS, k=6)) for n, (a, b) in enumerate(pairs[:60])}
    queries = {f"q{n}": " ".join([*documents[f"d{n}"].split()[:2], rng.choice(WORDS)]) for n in range(60)}
    splits = {"train": range(30), "dev": range(30, 45), "test": range(45, 60)}
    judged = {split: [f"q{n}\td{n}\t1" for n in numbers] for split, numbers in splits.items()}
    write_beir(folder, documents, queries, judged)
    return [*documents.values(), *queries.values()]


def tiny_config() -> dict:
    """Every kind of system on one tiny task."""
    return {
        "experiment": "tiny",
        "measures": ["nDCG@10", "RR@10", "Judged@10"],
        "depth": 20,
        "datasets": {"weather": {"format": "beir", "location": "data/weather"}},
        "models": {
            "bert": {"type": "bi-encoder", "weights": "weights/tiny", "max_length": 16},
            "bert-ce": {"type": "cross-encoder", "weights": "weights/tiny", "max_length": 32},
        },
        "recipes": {
            "hard": {"train_on": "weather", "negatives": {"per_query": 2}, "epochs": 3, "batch_size": 8,
                     "learning_rate": 0.001},
            "random": {"train_on": "weather", "negatives": {"from": "random", "per_query": 1}, "epochs": 2,
                       "batch_size": 8, "learning_rate": 0.001},
        },
        "systems": {
            "bm25": {"type": "bm25", "tune": True},
            "plain": {"type": "bm25", "k1": 0.9, "b": 0.4},
            "zero-shot": {"model": "bert"},
            "hard": {"model": "bert", "recipe": "hard", "seeds": 2},
            "random": {"model": "bert", "recipe": "random"},
            "reranker": {"model": "bert-ce", "recipe": "random", "rerank": {"first_stage": "plain", "depth": 5}},
            "theirs": {"type": "external", "runs": {"weather": "theirs.trec"}},
        },
        "tasks": ["weather"],
        "comparisons": {
            "hard-helps": {"control": "zero-shot", "treatment": "hard"},
            "random-helps": {"control": "zero-shot", "treatment": "random", "effect": "SMD"},
            "theirs": {"control": "plain", "treatment": "theirs"},
        },
    }  # fmt: skip


@pytest.fixture(scope="session")
def prepared(tmp_path_factory) -> Workspace:
    """A workspace with the tiny collection, model, external run and configuration; nothing has run in it."""
    return copy(made_once(tmp_path_factory, "prepared", prepare), tmp_path_factory.mktemp("prepared") / "ranktrial")


def prepare(folder: Path) -> None:
    """Copy the workflow and write the tiny collection, model, external run and configuration beside it."""
    workspace = copy(REPOSITORY, folder)
    texts = write_collection(workspace.folder / "data" / "weather", seed=1)
    build(workspace.folder / "weights" / "tiny", texts, seed=1)
    rng = random.Random(3)
    with open(workspace.folder / "theirs.trec", "w") as file:
        for n in range(45, 60):
            file.writelines(f"q{n} Q0 d{d} 1 {rng.random()} theirs\n" for d in rng.sample(range(60), 30))
    workspace.write_config(tiny_config())


@pytest.fixture(scope="session")
def finished(prepared, tmp_path_factory) -> Workspace:
    """The tiny experiment, run from raw data to its summary."""
    once = made_once(tmp_path_factory, "finished", lambda folder: copy(prepared.folder, folder).run())
    return copy(once, tmp_path_factory.mktemp("finished") / "ranktrial")


@pytest.fixture
def again(finished, tmp_path) -> Workspace:
    """A copy of the finished experiment to change."""
    return copy(finished.folder, tmp_path / "ranktrial")


@pytest.fixture
def fresh(prepared, tmp_path) -> Workspace:
    """A copy of the prepared workspace to run in."""
    return copy(prepared.folder, tmp_path / "ranktrial")


os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
