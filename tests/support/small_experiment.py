"""A small experiment on runs and clusters of others, and its data, which is drawn at random but always the same."""

from __future__ import annotations

import json
import random
from pathlib import Path

TASKS = ("t0", "t1", "t2", "t3")
SYSTEMS = ("base", "better", "third")
QUERIES, DOCUMENTS = 24, 40
WORDS = ("hail", "storm", "flood", "theft", "claim", "pension", "tenant", "fire")


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
    write_clusters(folder, 2)
    write_texts(folder / "data/texts", rng)


def write_texts(folder: Path, rng: random.Random) -> None:
    """The last task's documents, queries and judgements, as BEIR has them."""
    (folder / "qrels").mkdir(parents=True, exist_ok=True)
    names = {"corpus": ("d", DOCUMENTS), "queries": ("q", QUERIES + 4 * (len(TASKS) - 1))}
    for name, (letter, count) in names.items():
        texts = [{"_id": f"{letter}{n}", "text": " ".join(rng.choices(WORDS, k=6))} for n in range(count)]
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(text) + "\n" for text in texts))
    rows = [line.split() for line in (folder.parent / f"{TASKS[-1]}.qrels").read_text().splitlines()]
    judged = "".join(f"{query}\t{document}\t{grade}\n" for query, _, document, grade in rows)
    (folder / "qrels/test.tsv").write_text(f"query-id\tcorpus-id\tscore\n{judged}")


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
