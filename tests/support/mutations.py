"""A small experiment on runs, scores and clusters of others, and changes of it, generated from the declared keys.

A key that is declared and has no value here fails `changes_of`, so each new key is covered once it is declared.
"""

from __future__ import annotations

import copy
import json
import os
import random
import typing
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from scripts.common.keys import Key, keys_of
from scripts.experiment.sections.comparison import ComparisonEntry, MultipleComparison
from scripts.experiment.sections.figure import Figure

TASKS = ("t0", "t1", "t2", "t3")
SYSTEMS = ("base", "better", "third")
QUERIES, DOCUMENTS = 24, 40
WORDS = ("hail", "storm", "flood", "theft", "claim", "pension", "tenant", "fire")
Change = Callable[[dict, Path], None]

# Values of keys that are names or have constraints that their type does not state; None: no value beside the others'.
OF_COMPARISON: dict[str, Any] = {
    "control": "third", "treatment": "third", "tasks": ["t2", "t0", "t1"], "measure": "RR@10", "effect": "SMD",
    "estimator": "DL", "interval": "knapp-hartung", "task_interval": "bca", "alpha": 0.2, "permutations": 500,
    "bayesian": {"tau_scale": 0.3}, "margin": 0.02, "family": "mine", "clusters": "query", "moderators": ["queries"],
    "same": None, "treatment_on": None, "measure_on": {"t1": "RR@10"}, "subgroups": None, "figure": None,
}  # fmt: skip
OF_FIGURE: dict[str, Any] = {
    "title": "A {title}", "width": 6.5, "height": 5.5, "x_label": "gain", "font": None, "together": "both",
    "limits": [-0.4, 0.4], "ticks": [-0.2, 0.0, 0.2], "axis": "shared", "columns": ["n", "weight"], "digits": 4,
    "bayesian": None,
}  # fmt: skip
OF_FAMILY: dict[str, Any] = {
    "systems": ["third", "base", "better"], "tasks": ["t1", "t0", "t2"], "measure": "RR@10", "against": "third",
    "alpha": 0.2, "permutations": 300, "title": "All of them",
}  # fmt: skip
WITH = {"measure_on": {"effect": "SMD"}, "margin": {}, "correction": {}}


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
    lines = [f"q{q}\tc{q // size:02d}\n" for q in range(QUERIES)]
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


def other(key: Key, said: dict[str, Any]) -> Any:
    """A value of a key other than its default; None if `said` says that there is none. Fails for an unknown key."""
    if key.name in said:
        return said[key.name]
    options = [one for option in (key.type_of_values, *get_args(key.type)) if get_origin(option) is Literal
               for one in get_args(option)]  # fmt: skip
    if options:
        return next(one for one in options if one != key.default)
    assert key.type_of_values is bool, f"{key.name}: give it another value in tests/support/mutations.py"
    return not key.default


def changes_of(record: type, said: dict[str, Any], place: Callable[[dict], dict]) -> Iterator[tuple[str, Change]]:
    """One change for each declared key of an entry."""
    for key in keys_of(record).values():
        if (value := other(key, said)) is not None:

            def change(config: dict, folder: Path, name: str = key.name, value: Any = value) -> None:
                place(config).update(WITH.get(name, {}) | {name: copy.deepcopy(value)})

            yield f"{record.__name__}.{key.name}", change


def replaced(path: str, text: Callable[[str], str], dated: typing.Literal["older", "same"]) -> Change:
    """Another content for a file, which is older, or has the same size and dates."""

    def change(config: dict, folder: Path) -> None:
        file = folder / path
        before, status = file.read_text(), file.stat()
        after = text(before)
        assert after != before and (dated == "older" or len(after) == len(before))
        file.write_text(after)
        date = status.st_mtime_ns - (10**15 if dated == "older" else 0)
        os.utime(file, ns=(date, date))

    return change


def configured(change: Callable[[dict], Any]) -> Change:
    return lambda config, folder: change(config) and None


def turned(section: dict) -> None:
    """Turn the order of a mapping round."""
    entries = list(section.items())[::-1]
    section.clear()
    section.update(entries)


def exchanged(config: dict, comparison: str) -> None:
    entry = config["comparisons"][comparison]
    entry["control"], entry["treatment"] = entry["treatment"], entry["control"]


def renamed(section: dict, old: str, new: str) -> None:
    entries = {new if name == old else name: entry for name, entry in section.items()}
    section.clear()
    section.update(entries)


def two_swapped(text: str) -> str:
    """The same bytes with the clusters of the first and the ninth query exchanged."""
    lines = text.splitlines()
    (first, one), (ninth, two) = lines[0].split("\t"), lines[8].split("\t")
    lines[0], lines[8] = f"{first}\t{two}", f"{ninth}\t{one}"
    return "\n".join(lines) + "\n"


def turned_scores(text: str) -> str:
    """A run with the scores of its first two lines exchanged."""
    lines = text.splitlines()
    one, two = lines[0].split(), lines[1].split()
    one[4], two[4] = two[4], one[4]
    return "\n".join([" ".join(one), " ".join(two), *lines[2:]]) + "\n"


BY_HAND: dict[str, Change] = {
    "roles exchanged": configured(lambda c: exchanged(c, "helps")),
    "roles of the other exchanged": configured(lambda c: exchanged(c, "third")),
    "tasks turned": configured(lambda c: c["tasks"].reverse()),
    "systems turned": configured(lambda c: turned(c["systems"])),
    "comparisons turned": configured(lambda c: turned(c["comparisons"])),
    "datasets turned": configured(lambda c: turned(c["datasets"])),
    "measures turned": configured(lambda c: c["measures"].reverse()),
    "a task less": configured(
        lambda c: c["tasks"].remove("t3") or [s["runs"].pop("t3") for s in c["systems"].values()]
    ),
    "a system less": configured(lambda c: [c["systems"].pop("third"), c["comparisons"].pop("third")]),
    "a comparison less": configured(lambda c: c["comparisons"].pop("third")),
    "a comparison more": configured(lambda c: c["comparisons"].update(new={"control": "better", "treatment": "third"})),
    "a comparison renamed": configured(lambda c: renamed(c["comparisons"], "helps", "does-help")),
    "a system labelled": configured(lambda c: c["systems"]["better"].update(label="Better <b>")),
    "a task labelled": configured(lambda c: c["datasets"]["t1"].update(label="Task {one}")),
    "labels exchanged": configured(
        lambda c: [c["systems"][a].update(label=b) for a, b in (("base", "better"), ("better", "base"))]
    ),
    "runs of two systems exchanged": configured(
        lambda c: [
            c["systems"]["base"].update(runs={t: f"data/{t}.better.run" for t in TASKS}),
            c["systems"]["better"].update(runs={t: f"data/{t}.base.run" for t in TASKS}),
        ]
    ),
    "clusters on another task": configured(
        lambda c: c["comparisons"]["third"].update(clusters={"t1": "data/t0.clusters"})
    ),
    "depth": configured(lambda c: c.update(depth=5)),
    "seed": configured(lambda c: c.update(seed=7)),
    "a measure more": configured(lambda c: c["measures"].append("P@5")),
    "a figure together": configured(
        lambda c: [one.setdefault("figure", {}).update(together="both") for one in c["comparisons"].values()]
    ),
    "together, turned": configured(
        lambda c: [
            turned(c["comparisons"]),
            *(one.setdefault("figure", {}).update(together="both") for one in c["comparisons"].values()),
        ]
    ),
    "a word of a query": replaced("data/texts/queries.jsonl", lambda text: text.replace("hail", "Hail", 1), "same"),
    "a word of a document": replaced("data/texts/corpus.jsonl", lambda text: text.replace("fire", "Fire", 1), "older"),
    "older clusters": replaced("data/t0.clusters", two_swapped, "older"),
    "clusters of the same size and date": replaced("data/t0.clusters", two_swapped, "same"),
    "an older run": replaced("data/t1.better.run", turned_scores, "older"),
    "a run of the same size and date": replaced("data/t1.better.run", turned_scores, "same"),
    "older judgements": replaced("data/t2.qrels", lambda text: text.replace(" 2\n", " 1\n", 3), "older"),
    "judgements of the same size and date": replaced("data/t2.qrels", lambda t: t.replace(" 2\n", " 1\n", 3), "same"),
}


def changes() -> dict[str, Change]:
    """All changes by their names."""
    return BY_HAND | {
        **dict(changes_of(ComparisonEntry, OF_COMPARISON, lambda config: config["comparisons"]["third"])),
        **dict(changes_of(Figure, OF_FIGURE, lambda config: config["comparisons"]["helps"]["figure"])),
        **dict(changes_of(MultipleComparison, OF_FAMILY, lambda config: config["multiple_comparisons"]["all"])),
    }
