"""A small experiment for the explorer, written as stages write it: two tasks, three systems, hostile texts."""

import json
import random
from pathlib import Path

from ranktrial.common.files import atomic_text
from ranktrial.experiment.results_paths import path
from ranktrial.explorer.task_data import Comparison
from ranktrial.ir.collection import Document, write_corpus, write_queries
from ranktrial.ir.measures import evaluate
from ranktrial.ir.trec import write_qrels, write_run
from scripts.explorer.jobs import Settings, Source, Task, write

REPOSITORY = Path(__file__).parents[2]
EVIL = '</script><img src=x onerror=alert(1)><b>bold</b> \u2028 & "storm"'
SEEDS = {"bm25": ["0"], "tuned": ["1", "2"], "other": ["0"]}
TASKS = {"storms": 30, "floods": 12}
MEASURE = "nDCG@10"
FORMULA = "d1"  # a document whose text a spreadsheet would compute
FEW = 5  # documents that `other` returns for q7
WORDS = ["storm", "flood", "fire", "hail", "theft", "roof", "car", "claim", "river", "cellar"]


def write_texts(task: str, rng: random.Random) -> tuple[list[str], list[str]]:
    """Documents and queries of a task; the first document is hostile."""
    documents = [Document("d0", EVIL, EVIL)]
    documents += [Document(f"d{n}", f"Title {n}", " ".join(rng.choices(WORDS, k=90))) for n in range(1, 60)]
    documents[1] = Document(FORMULA, "Title 1", f"=1+1 {documents[1].text}")
    queries = {f"q{n}": " ".join(rng.sample(WORDS, 1 + n % 4)) for n in range(TASKS[task])}
    queries["q0"] = f"storm {EVIL}"
    write_corpus(Path(f"results/e/data/{task}/corpus.jsonl"), documents)
    write_queries(Path(f"results/e/data/{task}/queries/test.jsonl"), queries)
    return [document.id for document in documents], list(queries)


def write_task(task: str, depth: int = 30) -> None:
    """A task's texts, judgements, runs and values. Every third query has a relevant document that nobody returns."""
    rng = random.Random(task)
    documents, queries = write_texts(task, rng)
    qrels = {query: {one: rng.randrange(3) for one in rng.sample(documents[1:], 8)} for query in queries}
    for query in queries[::3]:
        qrels[query]["nowhere"] = 2
    qrels["q0"]["d0"] = 1
    write_qrels(Path(path("qrels", experiment="e", dataset=task, split="test")), qrels)
    for system, seeds in SEEDS.items():
        for seed in seeds:
            run = {query: {one: round(rng.random(), 4) for one in rng.sample(documents, depth)} for query in queries}
            run["q0"]["d0"] = 2.0
            if system == "other":
                run["q7"] = dict(list(run["q7"].items())[:FEW])
            fields = {"experiment": "e", "task": task, "system": system, "seed": seed}
            write_run(Path(path("run", **fields)), run, system)
            with atomic_text(Path(path("metrics", **fields))) as file:
                evaluate(run, qrels, [MEASURE]).to_csv(file, sep="\t")


def task_settings(task: str, texts: bool) -> Task:
    sources = {system: Source(system, task, task) for system in SEEDS}
    corpora = [f"results/e/data/{task}/corpus.jsonl"] if texts else []
    queries = f"results/e/data/{task}/queries/test.jsonl" if texts else ""
    return Task(task.title(), corpora, queries, f"results/e/data/{task}/qrels/test.qrels", sources)


def settings(**changes) -> Settings:
    """The settings of a job."""
    comparisons = {
        "tuning": Comparison("bm25", "tuned", MEASURE, 0.05, False, list(TASKS)),
        "storms-only": Comparison("other", "bm25", MEASURE, 0.1, False, ["storms"]),
    }
    given = {
        "experiment": "e",
        "texts": True,
        "depth": 20,
        "megabytes": 50,
        "tasks": {task: task_settings(task, True) for task in TASKS},
        "systems": {"bm25": "BM25", "tuned": "Tuned <b>model</b>", "other": "other"},
        "comparisons": comparisons,
    }
    given |= changes
    return Settings(**given, order=list(given["comparisons"]))


def settings_of_values() -> Settings:
    """Settings of one task whose values are given, without runs, judgements and texts."""
    given = Task("Given", [], "", "", {name: Source(name, "storms", "") for name in ("bm25", "tuned")})
    compared = {"c": Comparison("bm25", "tuned", MEASURE, 0.05, True, ["given"])}
    return settings(tasks={"given": given}, comparisons=compared)


def settings_of_ties() -> Settings:
    """Settings of a comparison of two systems that never differ."""
    same = task_settings("floods", True)
    same.sources["copy"] = same.sources["bm25"]
    compared = {"c": Comparison("bm25", "copy", MEASURE, 0.05, False, ["floods"])}
    return settings(tasks={"floods": same}, systems={"bm25": "BM25", "copy": "Copy"}, comparisons=compared)


def write_inputs() -> None:
    for task in TASKS:
        write_task(task)


def write_explorer(folder: Path, asked: Settings) -> Path:
    """The explorer of what lies below the working directory; gives its page."""
    found = Path("results/e")
    runs, metrics = sorted(found.glob("runs/*/*/*.gz")), sorted(found.glob("metrics/*/*/*.tsv"))
    write(folder, metrics, runs, asked)
    return folder / "index.html"


def unpacked(path: Path):
    """What a part of the page's data holds."""
    import base64
    import re
    import zlib

    packed = re.fullmatch(r'explorer\.receive\("([A-Za-z0-9+/=]*)"\);\n', path.read_text("ascii"))[1]
    return json.loads(zlib.decompress(base64.b64decode(packed)))
