"""Anserini's reference scores, from the reproduction files in Pyserini's jar; no network is needed.

Reads the jar, the Lucene indices of our BM25 and the statistics of our datasets. Writes a TSV of published numbers
(docs/archive.md): of each task whose collection Anserini knows, the number of documents, with whether
documents, non-empty documents and terms are those of its index, then the scores of each system that matches.
Where the sizes are the same, `fault_beyond` says how far our score may be from Anserini's before that is a fault.
"""

from __future__ import annotations

import importlib.resources
import json
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import yaml

from ranktrial.bm25.lucene import with_java_errors
from ranktrial.common.command_line import job
from ranktrial.common.files import atomic_text
from ranktrial.ir.measure_names import cutoff, parse
from scripts.bm25.terms import open_reader

FILES = "reproduce/from-document-collection/configs"
FAMILIES = ("beir-v1.0.0-{}", "{}")  # prefixes of its files, by the name of a collection
VERSIONS = {"miracl-": "miracl-v1.0-", "mrtydi-": "mrtydi-v1.1-"}
MODELS = {"splade-cocondenser-ensembledistil": "splade-pp-ed"}  # the last part of a hub id: Anserini's name
ENDS = {"bm25": (".flat", "")}  # of the files of BM25; of a model's:
ENDS_OF_MODEL = (".{}.parquet.flat.onnx", ".{}.flat.onnx", ".{}.onnx")
SPLIT = re.compile(r"^.*[.-](?=(train|dev|test)$)")  # the collection before it, in topics of Anserini 2
DIGITS = 0.00005  # BM25 is the same arithmetic: what differs in the fourth digit differs
ENCODED = 0.001  # of models: vectors of two runtimes, impacts rounded to whole numbers
SIZES = ("documents", "documents (non-empty)", "total terms")
COLUMNS = ("table", "row", "column", "printed", "comparison", "task", "system", "quantity", "factor", "note",
           "fault_beyond")  # fmt: skip


@dataclass(frozen=True)
class ReferenceTask:
    """A task, and what Anserini may call its collection and the models of its systems."""

    task: Annotated[str, "its name"]
    dataset: Annotated[str, "its dataset"]
    split: Annotated[str, "the split of its queries"]
    corpus: Annotated[str, "the dataset whose documents are ranked"]
    names: Annotated[list[str], "of the collection"]
    systems: Annotated[dict[str, str], "system: model"]


@dataclass(frozen=True)
class Settings:
    """What is looked for."""

    tasks: Annotated[list[ReferenceTask], "the tasks with documents"]
    measures: Annotated[list[str], "those of the experiment"]
    depth: Annotated[int, "documents kept per query: a measure that looks at more is not compared"]


class Expected(NamedTuple):
    """What Anserini has of a model on a collection: sizes of its index, and values of measures as printed."""

    display: str
    sizes: dict[str, int]
    scores: dict[str, str]


class Jar:
    """The reproduction files of Anserini."""

    def __init__(self) -> None:
        jars = importlib.resources.files("pyserini.resources.jars")
        path = next(Path(str(jar)) for jar in jars.iterdir() if jar.name.endswith("-fatjar.jar"))
        self.name = "Anserini " + path.name.removeprefix("anserini-").removesuffix("-fatjar.jar")
        self.archive = zipfile.ZipFile(path)
        self.names = set(self.archive.namelist())

    def expected(self, names: list[str], model: str, split: str) -> Expected | None:
        """The scores of a model on the collection with one of these names; None if there are none."""
        for file in (f"{FILES}/{name}.yaml" for name in file_names(names, model)):
            if file in self.names:
                return read_expected(yaml.safe_load(self.archive.read(file)), split)
        return None


def file_names(names: list[str], model: str) -> Iterator[str]:
    """The names that a reproduction file of a model on a collection may have."""
    ends = ENDS.get(model) or [end.format(MODELS.get(model, model)) for end in ENDS_OF_MODEL]
    for name in names:
        for plain, versioned in VERSIONS.items():
            name = re.sub(f"^{plain}(?!v)", versioned, name)
        yield from (family.format(name) + end for family in FAMILIES for end in ends)


def read_expected(content: Any, split: str) -> Expected | None:
    """The scores of a file's first model on a split's topics; None if it has other topics."""
    topics = [SPLIT.sub("", str(entry["id"])) for entry in content["topics"]]
    alone = len(topics) == 1 and topics[0] not in ("train", "dev", "test") and split == "test"
    if split not in topics and not alone:
        return None
    place = 0 if alone else topics.index(split)
    first = content["models"][0]
    scores = {measure: f"{values[place]:.4f}" for measure, values in first["results"].items()}
    return Expected(str(first["display"]), content.get("index_stats", {}), scores)


def sizes_of(index: Path | None, documents: int) -> dict[str, int]:
    """Our sizes by Anserini's names; without an index, only the number of documents."""
    sizes = {"documents": documents}
    if index is None:
        return sizes
    reader = open_reader(index)
    counts = (reader.getDocCount("contents"), reader.getSumTotalTermFreq("contents"))
    return sizes | dict(zip(SIZES[1:], counts, strict=True))


def compared(ours: dict[str, int], theirs: dict[str, int]) -> tuple[bool, str]:
    """Whether all sizes are known and the same, and a text about them."""
    names = ("documents", "non-empty", "terms")
    known = [(ours[size], theirs[size], name) for size, name in zip(SIZES, names, strict=True) if size in ours]
    different = [f"{our:,} of {their:,} {name}" for our, their, name in known if our != their]
    if different:
        return False, f"the texts differ: {', '.join(different)}"
    if len(known) < len(SIZES):
        return False, "as many documents; terms are not compared, since no BM25 here is set up as Anserini's"
    return True, f"the same texts by their sizes: {', '.join(f'{our:,} {name}' for our, _, name in known)}"


def left_out(split: dict[str, int]) -> str:
    """The text if more is left out of a query's results than the document with its id, as Anserini does."""
    excluded, own = split.get("excluded", 0), split.get("own_documents", 0)
    return "" if excluded == own else f"; {excluded:,} documents are excluded for a query here, {own:,} by Anserini"


def rows_of(
    jar: Jar, task: ReferenceTask, measures: list[str], ours: dict[str, int], excluded: str = ""
) -> Iterator[tuple[str, ...]]:
    """The rows of a task: its documents, then the scores of each system; none if Anserini lacks the collection."""
    of_texts = jar.expected(task.names, "bm25", task.split)
    if of_texts is None:
        return
    same, said = compared(ours, of_texts.sizes)
    same, said = same and not excluded, said + excluded
    documents = (f"{task.dataset}/{task.split}", "", "documents", "1", said, "")
    yield jar.name, task.task, "documents", str(of_texts.sizes["documents"]), "", *documents
    for system, model in task.systems.items():
        expected = jar.expected(task.names, model, task.split)
        for measure in measures if expected else ():
            if printed := expected.scores.get(measure):
                beyond = str(DIGITS if model == "bm25" else ENCODED) if same else ""
                ours_at = (task.task, system, measure, "1", "" if same else said, beyond)
                yield jar.name, f"{task.task}, {expected.display}", measure, printed, "", *ours_at


def within(measures: list[str], depth: int) -> list[str]:
    """The measures that look at no more documents than a run has."""
    return [name for name in measures if (cutoff(parse(name)) or 0) <= depth]


@with_java_errors
def references(indices: list[Path], statistics: list[Path], references: Path, settings: Settings) -> None:
    """Anserini's reference scores, from the reproduction files in Pyserini's jar; no network is needed."""
    jar = Jar()
    index_of = {path.parent.name: path for path in indices}
    statistics_of = {path.parent.name: path for path in statistics}
    measures = within(settings.measures, settings.depth)
    rows = [COLUMNS]
    for task in settings.tasks:
        if jar.expected(task.names, "bm25", task.split):
            counts = json.loads(statistics_of[task.dataset].read_text())
            ours = sizes_of(index_of.get(task.corpus), counts["documents"])
            rows += rows_of(jar, task, measures, ours, left_out(counts["splits"][task.split]))
    with atomic_text(references) as file:
        file.write(f"# Source: the reproduction files of {jar.name}, in the jar that Pyserini brings.\n")
        file.writelines("\t".join(row) + "\n" for row in rows)


if __name__ == "__main__":
    job(references)
