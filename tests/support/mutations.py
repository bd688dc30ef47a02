"""Changes of the small experiments: those of each declared key, generated, and others by hand.

A key that is declared and has no value here fails `changes_of`, so each new key is covered once it is declared.
"""

import copy
import itertools
import os
import typing
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from ranktrial.common.keys import Key, keys_of
from ranktrial.configuration.schema import records
from ranktrial.configuration.sections.comparison import Figure, MultipleComparison
from ranktrial.experiment.systems import bm25, command, fusion
from tests.support.small_experiment import RANKER, SYSTEMS, TASKS, experiment, scored, searched, write_data

Change = Callable[[dict, Path], None]
COMPARISON = records()["comparisons"]  # with the keys that effects and intervals declare

# Values of keys that are names or have constraints that their type does not state; None: no value beside the others'.
OF_COMPARISON: dict[str, Any] = {
    "control": "better", "treatment": "third", "tasks": ["t2", "t0", "t1"], "measure": "RR@10", "effect": "SMD",
    "estimator": "DL", "interval": "knapp-hartung", "task_interval": "bca", "alpha": 0.2, "permutations": 500,
    "bayesian": {"tau_scale": 0.3}, "margin": 0.02, "family": "mine", "clusters": "query", "moderators": ["relevant-per-query"],
    "same": None, "treatment_on": None, "gain_over": None, "measure_on": {"t1": "RR@10"}, "subgroups": None, "figure": None,
    "resamples": 999,
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
OF_BM25: dict[str, Any] = {
    "label": "Terms", "type": None, "tasks": [TASKS[-1]], "feedback_terms": 4, "feedback_documents": 3,
    "original_query_weight": 0.3, "alpha": 0.6, "beta": 0.9, "gamma": 0.2, "negative_terms": 2, "negative_documents": 2,
    "feedback": "rm3", "analyzer": "standard", "fields": "best", "texts": None, "depth": 5, "k1": 0.4, "b": 0.1,
    "engine": None, "url": None, "tune": True, "grid": {"k1": [0.5, 2.0], "b": [0.1, 0.9]},
}  # fmt: skip
OF_FUSION: dict[str, Any] = {
    "label": "Both", "type": None, "tasks": [TASKS[-1]], "systems": ["stems", "words"], "method": "CombSUM", "k": 1,
    "normalise": "z-score", "weights": {"words": 3, "stems": 1}, "tune": True, "grid": {"step": 0.5},
}  # fmt: skip
OF_COMMAND: dict[str, Any] = {
    "label": "Mine", "type": None, "tasks": [TASKS[-1]], "command": [*RANKER["command"], "2"], "ranker": None,
    "code": "rankers", "parameters": {"weight": 2.0}, "train": None, "train_on": None, "seeds": 2,
    "rerank": {"first_stage": "words", "depth": 5}, "python": None, "conda": None, "container": None, "threads": 2,
}  # fmt: skip
ROCCHIO, NEGATIVE = {"feedback": "rocchio"}, {"feedback": "rocchio", "gamma": 0.3}
WEIGHTED = {"method": "weighted-sum"}
WITH = {  # what a key needs beside it
    COMPARISON: {"measure_on": {"effect": "SMD", "figure": {"influence": True}}, "hedges": {"effect": "SMD"},
                 "resamples": {"task_interval": "bca"}},
    bm25.Keys: {
        "feedback_terms": {"feedback": "rm3"}, "feedback_documents": {"feedback": "rm3"},
        "original_query_weight": {"feedback": "rm3"}, "alpha": ROCCHIO, "beta": ROCCHIO, "gamma": ROCCHIO,
        "negative_terms": NEGATIVE, "negative_documents": NEGATIVE, "grid": {"tune": True},
    },
    command.Keys: {"seeds": {"command": [*RANKER["command"], "{seed}"]},
                   "rerank": {"command": [*RANKER["command"], "0", "{first_stage}"]}},
    fusion.Keys: {"normalise": WEIGHTED | {"weights": {"words": 1, "stems": 1}}, "weights": WEIGHTED, "tune": WEIGHTED,
                  "grid": WEIGHTED | {"tune": True}},
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
                place(config).update(WITH.get(record, {}).get(name, {}) | {name: copy.deepcopy(value)})

            yield f"{_called(record)}.{key.name}", change


def _called(record: type) -> str:
    return record.__name__ if record.__name__ != "Keys" else record.__module__.rpartition(".")[2]


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


def much_less(config: dict) -> None:
    """Two tasks, two systems and one comparison, with clusters."""
    config["tasks"] = [TASKS[0], TASKS[-1]]
    config["datasets"] = {task: config["datasets"][task] for task in config["tasks"]}
    config["systems"] = {
        name: {"type": "external", "runs": {task: f"data/{task}.{name}.run" for task in config["tasks"]}}
        for name in SYSTEMS[:2]
    }
    helps = {"cumulative": True, "clusters": {"t0": "data/t0.clusters"}, "figure": {"queries": True}}
    config["comparisons"] = {"helps": config["comparisons"]["helps"] | helps}
    del config["multiple_comparisons"]


OF_CODE: dict[str, Change] = {
    "a ranker of the same size and date": replaced(
        "rankers/mine.py", lambda t: t.replace("BONUS = 0", "BONUS = 1"), "same"
    ),
}
OF_SCORES: dict[str, Change] = {
    "scores of the same size and date": replaced("data/points.tsv", lambda t: t.replace("\t0.2", "\t0.1", 3), "same"),
    "older scores": replaced("data/points.tsv", lambda t: t.replace("\t0.3", "\t0.1", 3), "older"),
    "columns of scores exchanged": configured(
        lambda c: [c["systems"][a].update(column=b) for a, b in (("large", "little"), ("little", "large"))]
    ),
    "roles of scores exchanged": configured(
        lambda c: c["comparisons"]["grows"].update(control="large", treatment="little")
    ),
}
BY_HAND: dict[str, Change] = {
    "roles exchanged": configured(lambda c: exchanged(c, "helps")),
    "roles of the other exchanged": configured(lambda c: exchanged(c, "third")),
    "tasks turned": configured(lambda c: c["tasks"].reverse()),
    "systems turned": configured(lambda c: turned(c["systems"])),
    "comparisons turned": configured(lambda c: turned(c["comparisons"])),
    "datasets turned": configured(lambda c: turned(c["datasets"])),
    "measures turned": configured(lambda c: c["measures"].reverse()),
    "much less": configured(much_less),
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


TOGETHER = (  # changes that do not touch the same entries or files run together
    ("roles exchanged", "older clusters"),
    ("roles of the other exchanged", "a word of a query"),
    ("systems turned", "clusters of the same size and date"),
    ("comparisons turned", "a run of the same size and date"),
    ("datasets turned", "a system labelled", "clusters on another task"),
    ("a comparison renamed", "a word of a document", "judgements of the same size and date"),
    ("a comparison more", "older judgements"),
    ("a task labelled", "an older run"),
)


def of_entries(record: type, said: dict[str, Any], *places: tuple[str, ...]) -> dict[str, Change]:
    """The changes of all keys of a record, in turn in one of these places of the configuration."""

    def entry(config: dict, place: tuple[str, ...]) -> dict:
        for name in place:
            config = config.setdefault(name, {})
        return config

    of_places = [dict(changes_of(record, said, lambda config, at=at: entry(config, at))) for at in places]
    return {name: of_places[number % len(places)][name] for number, name in enumerate(of_places[0])}


def searches() -> dict[str, Change]:
    """Changes of the searches, of their fusion and of a ranker of the user's."""
    keys = of_entries(bm25.Keys, OF_BM25, ("systems", "words"), ("systems", "stems"))
    own = of_entries(command.Keys, OF_COMMAND, ("systems", "mine"))
    return keys | of_entries(fusion.Keys, OF_FUSION, ("systems", "fused")) | own | OF_CODE


def changes() -> dict[str, Change]:
    """All changes by their names."""
    comparisons = [("comparisons", name) for name in ("third", "helps")]
    keys = of_entries(COMPARISON, OF_COMPARISON, *comparisons)
    figures = of_entries(Figure, OF_FIGURE, *((*place, "figure") for place in comparisons[::-1]))
    families = of_entries(MultipleComparison, OF_FAMILY, ("multiple_comparisons", "all"))
    return BY_HAND | keys | figures | families | searches() | OF_SCORES


def changed(names: Iterable[str], folder: Path) -> dict:
    """The experiment with these changes, which are of the same one; its files in `folder` are changed too."""
    everything = changes()
    write_data(folder)
    begun = {searched: searches(), scored: OF_SCORES}
    config = next((begin for begin, own in begun.items() if own.keys() & set(names)), experiment)()
    for name in names:
        everything[name](config, folder)
    return config


def groups() -> list[tuple[str, ...]]:
    """The names of the changes that run together: few runs, each change in exactly one."""
    everything = changes()
    alone = [(name,) for name in (*BY_HAND, *OF_CODE, *OF_SCORES) if not any(name in group for group in TOGETHER)]
    kinds = {record: [name for name in everything if name.startswith(f"{_called(record)}.")]
             for record in (COMPARISON, Figure, MultipleComparison, bm25.Keys, fusion.Keys, command.Keys)}  # fmt: skip
    compared, figures, families, bm25s, fusions, commands = kinds.values()
    rows = (
        *itertools.zip_longest(compared[::2], compared[1::2], figures[::2], figures[1::2], families),
        *itertools.zip_longest(bm25s[::2], bm25s[1::2], fusions, commands),
    )
    return [*TOGETHER, *alone, *(tuple(filter(None, row)) for row in rows)]
