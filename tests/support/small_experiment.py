"""Small experiments: on runs and clusters of others, on searches, on scores; their data are drawn, always the same."""

import random
from pathlib import Path

from tests.support.beir import write_beir

TASKS = ("t0", "t1", "t2", "t3")
SYSTEMS = ("base", "better", "third")
COLUMNS = ("little", "large")
QUERIES, DOCUMENTS, DEV = 24, 40, 6
WORDS = ("hail", "storm", "flood", "theft", "claim", "pension", "tenant", "fire")
RANKER = {
    "type": "command",
    "command": ["python", "rankers/mine.py", "{queries}", "{corpus}", "{run}", "{weight}"],
    "code": "rankers/mine.py",
    "parameters": {"weight": 1.0},
}
PROGRAM = """
import json, sys
queries, corpus, run, weight, shift, first_stage = [*sys.argv[1:], *("0", "")[len(sys.argv) - 5 :]]
BONUS = 0
documents = {d["_id"]: d["text"].split() for d in map(json.loads, open(corpus))}
lines = [line.split() for line in open(first_stage)] if first_stage else []
with open(run, "w") as file:
    for query in map(json.loads, open(queries)):
        allowed = [line[2] for line in lines if line[0] == query["_id"]] if first_stage else documents
        words = query["text"].split()
        scores = {d: float(weight) * sum(w in words for w in documents[d]) + float(shift) + BONUS for d in allowed}
        best = sorted(scores, key=scores.get, reverse=True)
        file.writelines(f"{query['_id']} {d} {rank} {scores[d]}\\n" for rank, d in enumerate(best, 1))
"""


def write_data(folder: Path) -> None:
    """Judgements and runs of four tasks with overlapping queries, and clusters of one."""
    rng = random.Random(4)
    (folder / "data").mkdir(parents=True, exist_ok=True)
    for number, task in enumerate(TASKS):
        judged = {q: rng.sample(range(DOCUMENTS), 3) for q in range(QUERIES + 4 * number)}
        rows = [f"q{q} 0 d{d} {rng.randint(1, 2)}\n" for q, documents in judged.items() for d in documents]
        (folder / f"data/{task}.qrels").write_text("".join(rows))
        for place, system in enumerate(SYSTEMS):
            with open(folder / f"data/{task}.{system}.run", "w") as file:
                for q, relevant in judged.items():
                    scores = {d: rng.random() + (0.1 + 0.1 * place) * (d in relevant) for d in range(DOCUMENTS)}
                    ranked = sorted(scores, key=scores.__getitem__, reverse=True)[:10]
                    file.writelines(f"q{q} Q0 d{d} {r} {scores[d]:.4f} {system}\n" for r, d in enumerate(ranked, 1))
    (folder / "rankers").mkdir(exist_ok=True)
    (folder / "rankers/mine.py").write_text(PROGRAM)
    write_clusters(folder, 2)
    write_texts(folder / "data/texts", rng)
    rows = [f"q{q}\t{rng.randint(10, 59) / 100:.2f}\t{rng.randint(20, 69) / 100:.2f}\n" for q in range(QUERIES)]
    (folder / "data/points.tsv").write_text("".join(["\t".join(["id", *COLUMNS]) + "\n", *rows]))


def write_texts(folder: Path, rng: random.Random) -> None:
    """The last task's documents, queries and judgements, as BEIR has them, with further queries for tuning."""
    asked = [*(f"q{n}" for n in range(QUERIES + 4 * (len(TASKS) - 1))), *(f"v{n}" for n in range(DEV))]
    documents = [{"_id": f"d{n}", "text": " ".join(rng.choices(WORDS, k=6))} for n in range(DOCUMENTS)]
    queries = {name: " ".join(rng.choices(WORDS, k=6)) for name in asked}
    rows = [line.split() for line in (folder.parent / f"{TASKS[-1]}.qrels").read_text().splitlines()]
    test = [f"{query}\t{document}\t{grade}" for query, _, document, grade in rows]
    dev = [f"v{n}\td{rng.randrange(DOCUMENTS)}\t1" for n in range(DEV)]
    write_beir(folder, documents, queries, {"test": test, "dev": dev})


def write_clusters(folder: Path, size: int) -> None:
    """Clusters of any task's queries."""
    lines = [f"q{q}\tc{q // size:02d}\n" for q in range(QUERIES + 4 * (len(TASKS) - 1))]
    (folder / "data/t0.clusters").write_text("".join(lines))


def experiment() -> dict:
    """Every kind of output that external runs can have."""
    own = {name: {task: f"data/{task}.{name}.run" for task in TASKS} for name in SYSTEMS}
    drawn = {"influence": True, "queries": True}
    return {
        "experiment": "small",
        "measures": ["nDCG@10", "RR@10"],
        "depth": 10,
        "datasets": {task: {"format": "qrels", "location": f"data/{task}.qrels"} for task in TASKS[:-1]}
        | {TASKS[-1]: {"format": "beir", "location": "data/texts"}},
        "systems": {name: {"type": "external", "runs": runs} for name, runs in own.items()},
        "tasks": list(TASKS),
        "comparisons": {
            "helps": {"control": "base", "treatment": "better", "permutations": 200, "figure": dict(drawn)},
            "third": {"control": "base", "treatment": "third", "permutations": 200, "cumulative": True,
                      "clusters": {"t0": "data/t0.clusters"}},
        },
        "multiple_comparisons": {"all": {"systems": "all", "permutations": 200}},
    }  # fmt: skip


def searched() -> dict:
    """Two searches of the last task's texts, their fusion, a run of others, and a ranker of the user's."""
    task, own = TASKS[-1], experiment()
    return own | {
        "datasets": {task: own["datasets"][task]},
        "systems": {
            "words": {"type": "bm25"},
            "stems": {"type": "bm25", "depth": 20},
            "base": {"type": "external", "runs": {task: f"data/{task}.base.run"}},
            "fused": {"type": "fusion", "systems": ["words", "stems"]},
            "mine": {**RANKER},
        },
        "tasks": [task],
        "comparisons": {name: {"control": name, "treatment": "fused", "permutations": 200}
                        for name in ("words", "stems", "base", "mine")},
        "multiple_comparisons": {},
    }  # fmt: skip


def scored() -> dict:
    """Values of two systems in one file, without documents."""
    given = {name: {"type": "external", "column": name, "scores": {"points": "data/points.tsv"}} for name in COLUMNS}
    return {
        "experiment": "small",
        "datasets": {"points": {"format": "scores", "measure": "accuracy"}},
        "systems": given,
        "tasks": ["points"],
        "comparisons": {"grows": {"control": "little", "treatment": "large", "measure": "accuracy",
                                  "permutations": 200}},
    }  # fmt: skip
