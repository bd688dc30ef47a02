"""How time and memory grow with the corpus: `python -m tests.benchmark.growth` (make growth) runs each stage of drawn
corpora of growing sizes, prints a table, fits exponents and draws both.

The model is a tiny BERT with random weights: what is measured is what the workflow adds to a model's own work. An exponent
is the slope of log seconds (less those of a corpus of ten documents, which are the start of a process) over log documents.
"""

import argparse
import json
import multiprocessing
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tests.benchmark import lucene
from tests.support.beir import write_beir
from tests.support.tiny_task import SCHEDULE

REPOSITORY = Path(__file__).parents[2]
QUERIES, LENGTH = 200, 32
LARGEST = 1.05  # an exponent above it is reported


class Taken(NamedTuple):
    """What a stage took on a corpus of so many documents."""

    stage: str
    documents: int
    seconds: float
    peak_rss_mb: float


def write_source(folder: Path, documents: int) -> None:
    """A BEIR folder with documents of 30 words, and queries of 4 with a relevant document each, for train and test."""
    asked = lucene.queries(2 * QUERIES)
    judged = {
        split: [f"{name}\td{place % (documents // 2)}\t1" for place, (name, _) in enumerate(queries)]
        for split, queries in (("train", asked[:QUERIES]), ("test", asked[QUERIES:]))
    }
    write_beir(folder, dict(lucene.documents(documents)), dict(asked), judged)


def stages(folder: Path, model: Path) -> dict[str, Callable[[], list]]:
    """The command of each stage, in the order in which they need each other's files."""
    data = folder / "data"
    corpus, queries = data / "corpus.jsonl", data / "queries" / "test.jsonl"
    qrels = {split: data / "qrels" / f"{split}.qrels" for split in ("train", "dev", "test")}
    texts = {"type": "bi-encoder", "max_length": LENGTH, "batch_size": 64}
    drawn = {
        "labels": "human",
        "queries": "all",
        "exclude_evaluation": True,
        "seed": 1,
        "from": "random",
        "per_query": 4,
    }
    bm25 = {"analyzer": "english", "fields": "together"}
    ranking = {"depth": 100, "tag": "growth"}
    searched = {"corpus": corpus, "index": folder / "e.index", "queries": queries, "checkpoint": model}

    def command(script: str, settings: dict[str, Any], **files: Any) -> Callable[[], list]:
        options = [
            (f"--{name.replace('_', '-')}", *(paths if isinstance(paths, list) else [paths]))
            for name, paths in files.items()
        ]
        return lambda: [
            *f"scripts/{script}".split(":"),
            *[word for option in options for word in option],
            "--settings",
            json.dumps(settings),
        ]

    prepared = {"source": str(folder / "source"), "format": "beir", "seed": 1}
    return {
        "prepare": command("datasets/prepare.py", prepared, statistics=data / "statistics.json"),
        "index": command("bm25/index.py:index", bm25, corpus=corpus, index=folder / "index"),
        "search": command("bm25/search.py", ranking | {"k1": 0.9, "b": 0.4}, index=folder / "index", queries=queries,
                          run=folder / "bm25.trec.gz", timing=folder / "bm25.json"),
        "negatives": command("training/negatives.py", drawn, corpus=corpus, queries=data / "queries" / "train.jsonl",
                             qrels=qrels["train"], evaluation_qrels=[qrels["dev"], qrels["test"]],
                             negatives=folder / "negatives.tsv"),
        "train": command("training/fine_tune.py", SCHEDULE | {"max_length": LENGTH}, start=model, corpus=corpus,
                         queries=data / "queries" / "train.jsonl", negatives=folder / "negatives.tsv",
                         checkpoint=folder / "trained", timing=folder / "trained.json",
                         training_log=folder / "trained.tsv"),
        "passages": command("datasets/passages.py", {"length": 80, "language": "en"}, texts=corpus, passages=folder / "passages.jsonl"),
        "encode": command("inference/encode.py", texts, checkpoint=model, corpus=corpus, index=folder / "e.index",
                          timing=folder / "e.json"),
        "retrieve": command("inference/search.py", texts | ranking, **searched, run=folder / "dense.trec.gz",
                            timing=folder / "dense.json"),
        "rerank": command("inference/rerank.py", texts | ranking | {"backend": "torch"}, **searched,
                          first_stage=folder / "bm25.trec.gz", run=folder / "again.trec.gz", timing=folder / "again.json"),
        "score": command("evaluation/score.py", {"measures": ["nDCG@10", "AP"]}, run=folder / "dense.trec.gz",
                         qrels=qrels["test"], metrics=folder / "metrics.tsv"),
    }  # fmt: skip


def take(stage: str, documents: int, command: list) -> Taken:
    """Run one stage. Raises RuntimeError with what it said where it fails."""
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    start = time.perf_counter()
    words = [sys.executable, *map(str, command)]
    process = subprocess.Popen(words, cwd=REPOSITORY, env=environment, stderr=subprocess.PIPE, text=True)
    said = process.stderr.read()
    _, status, used = os.wait4(process.pid, 0)
    if status:
        raise RuntimeError(f"{stage} of {documents} documents: {said[-2000:]}")
    return Taken(stage, documents, time.perf_counter() - start, used.ru_maxrss / 1000)


def build_model(folder: Path) -> None:
    """A tiny model with random weights."""
    from tests.support.tiny_bert import build

    build(folder, [text for _, text in lucene.documents(50)], seed=1)


def run(folder: Path, sizes: list[int]) -> list[Taken]:
    """All stages of corpora of these sizes; a size's files are removed when it is done."""
    shutil.rmtree(folder, ignore_errors=True)
    model = folder / "model"
    built = multiprocessing.get_context("spawn").Process(target=build_model, args=(model,))
    built.start()  # on its own, as Linux counts what its parent held when a process starts as the process's peak
    built.join()
    taken = []
    for documents in sizes:
        of_size = folder / str(documents)
        write_source(of_size / "source", documents)
        for stage, command in stages(of_size, model).items():
            taken.append(take(stage, documents, command()))
            print("\t".join(map(str, taken[-1])), flush=True)
        shutil.rmtree(of_size)
    return taken


def exponents(taken: list[Taken]) -> dict[str, float]:
    """By stage, the slope over log documents of log seconds, less those of the smallest corpus."""
    found = {}
    for stage in dict.fromkeys(one.stage for one in taken):
        of_stage = sorted((one.documents, one.seconds) for one in taken if one.stage == stage)
        start = of_stage[0][1]
        grown = [(documents, seconds - start) for documents, seconds in of_stage[1:] if seconds > 1.2 * start]
        if len(grown) > 1:
            found[stage] = float(np.polyfit(*np.log(np.array(grown)).T, 1)[0])
    return found


def draw(taken: list[Taken], slopes: dict[str, float], path: Path) -> None:
    """Seconds and memory of each stage over the number of documents, its name at the end of its line."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    from ranktrial.reports.figures.marks import DIAMOND, INK, MUTED

    figure = Figure(figsize=(9, 4.6), layout="constrained")
    FigureCanvasAgg(figure)
    for axes, value, what in zip(
        figure.subplots(1, 2), ("seconds", "peak_rss_mb"), ("Seconds", "Peak MB"), strict=True
    ):
        ends = []
        for stage in dict.fromkeys(one.stage for one in taken):
            points = [(one.documents, getattr(one, value)) for one in taken if one.stage == stage]
            axes.plot(*zip(*points, strict=True), marker="o", markersize=3, color=DIAMOND, linewidth=0.9)
            name = f"{stage} ({slopes[stage]:.2f})" if stage in slopes and value == "seconds" else stage
            ends.append((points[-1], name))
        axes.set(xscale="log", yscale="log")
        axes.set_xlabel("Documents", color=INK)
        axes.set_title(what, loc="left", fontsize=9, color=MUTED)
        axes.spines[["top", "right"]].set_visible(False)
        low, high = np.log(axes.get_ylim())
        above = -np.inf
        for (x, y), name in sorted(ends, key=lambda end: end[0][1]):
            above = max((np.log(y) - low) / (high - low), above + 0.045)  # names stand clear of one another
            axes.annotate(name, (x, y), xytext=(1.03, above), textcoords="axes fraction", fontsize=8, color=INK,
                          va="center", arrowprops={"arrowstyle": "-", "color": MUTED, "linewidth": 0.4, "relpos": (0, 0.5)})  # fmt: skip
    figure.savefig(path, dpi=150)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sizes", nargs="*", type=int, default=[10, 10_000, 30_000, 100_000, 300_000], help="documents")
    parser.add_argument("--folder", type=Path, default=Path("results/growth"), help="for the corpora, table and figure")
    options = parser.parse_args()
    print("\t".join(Taken._fields))
    try:
        taken = run(options.folder, sorted(options.sizes))
    except RuntimeError as error:
        sys.exit(f"error: {error}")
    slopes = exponents(taken)
    record = {"taken": [one._asdict() for one in taken], "exponents": slopes}
    (options.folder / "growth.json").write_text(json.dumps(record, indent=1) + "\n")
    draw(taken, slopes, options.folder / "growth.png")
    for stage, slope in slopes.items():
        print(f"{stage}: exponent {slope:.2f}{', more than linear' if slope > LARGEST else ''}")


if __name__ == "__main__":
    main()
