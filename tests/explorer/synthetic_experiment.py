"""The largest experiment that the explorer promises to hold: its runs are written once and stand for all tasks.

50 systems on 10 tasks with 2,000 queries and 100 documents each. Systems agree as real ones do: each ranks a query's own
candidates by their quality and its own error. Nine systems are compared with the first.
"""

import gzip
import itertools
import os
import random
from pathlib import Path

import numpy as np

from ranktrial.common.files import atomic_text
from ranktrial.experiment.results_paths import path
from ranktrial.explorer.task_data import Comparison
from ranktrial.ir.collection import Document, write_corpus, write_queries
from ranktrial.ir.measures import evaluate
from ranktrial.ir.trec import read_qrels, read_run, write_qrels
from scripts.explorer.jobs import Settings, Source, Task, write
from tests.explorer.crafted_experiment import MEASURE

SYSTEMS, TASKS, QUERIES, DEPTH, CANDIDATES, DOCUMENTS = 50, 10, 2000, 100, 200, 50_000
COMPARED = 10
NAMES = [f"system-{n}" for n in range(SYSTEMS)]
FOLDERS = [f"task-{n}" for n in range(TASKS)]
DATA = Path("results/e/data/shared")


def words(rng: random.Random) -> list[str]:
    """A vocabulary, the frequent words first."""
    return ["".join(rng.choices("abcdefghijklmnoprstuvwy", k=rng.randint(2, 9))) for _ in range(20_000)]


def write_texts() -> None:
    """Documents of 150 words whose frequencies fall as those of language do, and queries."""
    rng = random.Random(1)
    vocabulary = words(rng)
    weights = list(itertools.accumulate(1 / rank for rank in range(1, len(vocabulary) + 1)))
    said = lambda k: " ".join(rng.choices(vocabulary, cum_weights=weights, k=k))  # noqa: E731
    write_corpus(DATA / "corpus.jsonl", (Document(f"doc-{n}", said(6), said(150)) for n in range(DOCUMENTS)))
    write_queries(DATA / "queries/test.jsonl", {f"q{n}": said(8) for n in range(QUERIES)})


def write_runs() -> None:
    """Judgements, and the runs of all systems."""
    rng = np.random.default_rng(1)
    candidates = np.array([rng.choice(DOCUMENTS, CANDIDATES, replace=False) for _ in range(QUERIES)])
    quality = rng.normal(size=candidates.shape)
    best = np.argsort(-quality, axis=1)[:, :20]
    qrels = {
        f"q{n}": {f"doc-{candidates[n, place]}": int(rank < 4) for rank, place in enumerate(best[n])}
        for n in range(QUERIES)
    }
    write_qrels(DATA / "qrels/test.qrels", qrels)
    for number, name in enumerate(NAMES):
        scores = quality + rng.normal(scale=0.5 + number / SYSTEMS, size=quality.shape)
        file = Path(f"results/e/shared/{name}.trec.gz")
        file.parent.mkdir(parents=True, exist_ok=True)
        with gzip.open(file, "wt", compresslevel=1) as out:
            for n in range(QUERIES):
                order = np.argsort(-scores[n])[:DEPTH]
                out.writelines(
                    f"q{n} Q0 doc-{candidates[n, p]} {rank} {scores[n, p]:.6f} s\n" for rank, p in enumerate(order, 1)
                )


def write_values() -> None:
    """The values of each system, and links from each task to runs and values."""
    qrels = read_qrels(DATA / "qrels/test.qrels")
    for name in NAMES:
        run = Path(f"results/e/shared/{name}.trec.gz")
        values = Path(f"results/e/shared/{name}.tsv")
        with atomic_text(values) as file:
            evaluate(read_run(run), qrels, [MEASURE]).to_csv(file, sep="\t")
        for task in FOLDERS:
            for kind, source in (("run", run), ("metrics", values)):
                target = Path(path(kind, experiment="e", task=task, system=name, seed=0))
                target.parent.mkdir(parents=True, exist_ok=True)
                os.link(source, target)


def write_inputs() -> None:
    write_texts()
    write_runs()
    write_values()


def settings(megabytes: int = 200) -> Settings:
    sources = {task: {name: Source(name, task, task) for name in NAMES} for task in FOLDERS}
    files = ([f"{DATA}/corpus.jsonl"], f"{DATA}/queries/test.jsonl", f"{DATA}/qrels/test.qrels")
    comparisons = {
        f"against-{name}": Comparison(NAMES[0], name, MEASURE, 0.05, False, FOLDERS) for name in NAMES[1:COMPARED]
    }
    tasks = {task: Task(task, *files, sources[task]) for task in FOLDERS}
    return Settings(
        experiment="e",
        texts=True,
        depth=DEPTH,
        megabytes=megabytes,
        tasks=tasks,
        systems={name: name for name in NAMES},
        comparisons=comparisons,
        order=list(comparisons),
    )


def write_explorer(folder: Path) -> Path:
    """The explorer of what `write_inputs` wrote; gives its page."""
    found = Path("results/e")
    runs, metrics = sorted(found.glob("runs/*/*/*.gz")), sorted(found.glob("metrics/*/*/*.tsv"))
    write(folder, metrics, runs, settings())
    return folder / "index.html"
