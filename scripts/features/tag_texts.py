"""Label the words of queries and their candidates with a model, instead of rules, to find what they compare.

Reads a checkpoint, the run of the first stage and the texts of queries and corpus, of which only a batch at a time is
in memory. Writes the structures of the queries and of the best `depth` documents of each (see
ir/comparative.py).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Annotated

from ranktrial.common.command_line import job
from ranktrial.common.errors import UserError
from ranktrial.common.progress import Progress
from ranktrial.ir.collection import read_texts
from ranktrial.ir.comparative import DOCUMENT, QUERY, Structure, write_structures
from ranktrial.ir.trec import ranking, read_run
from ranktrial.models.adapters import Spans, WordTagger, adapter

BATCHES = 16  # batches of texts read and labelled at once
BEGINNINGS = {"objects": "OBJ", "aspects": "ASP", "predicates": "PRED"}  # label prefixes by default


def parts_of(labels: frozenset[str], given: dict[str, list[str]] | None, checkpoint: Path) -> dict[str, str]:
    """Label -> part of a structure. Raises UserError for a label that the model does not have."""
    own = ", ".join(sorted(labels))
    if given is None:
        found = {
            label: part for part, start in BEGINNINGS.items() for label in labels if label.upper().startswith(start)
        }
        if "objects" not in found.values():
            wanted = "objects, aspects and predicates"
            raise UserError(f"{checkpoint}: has the labels {own}; say under tagger.labels which of them are {wanted}")
        return found
    for named in given.values():
        for label in named:
            if label not in labels:
                raise UserError(
                    f"{checkpoint}: has no label {label!r}, named under tagger.labels; its labels are {own}"
                )
    return {label: part for part, named in given.items() for label in named}


def structure(spans: Spans, part_of: dict[str, str]) -> Structure:
    """The structure formed by spans; repeated objects count once, other words each time."""
    found = {part: [words for label, words in spans if part_of.get(label) == part] for part in BEGINNINGS}
    return Structure(tuple(dict.fromkeys(found["objects"])), tuple(found["aspects"]), tuple(found["predicates"]))


def tagged(
    tagger: WordTagger, part_of: dict[str, str], texts: Iterator[tuple[str, str, str]], size: int, count: int
) -> Iterator[tuple[str, str, Structure]]:
    """Yield (kind, id, structure) for each (kind, id, text), in batches."""
    progress = Progress("labelled", count, "text")
    while some := list(islice(texts, size)):
        found = tagger.tag([text for _, _, text in some])
        for (kind, name, _), spans in zip(some, found, strict=True):
            yield kind, name, structure(spans, part_of)
        progress.add(len(some))


def tag_texts(
    checkpoint: Path, candidates: Path, texts: list[Path], structures: Path,
    type: Annotated[str, "type of the model, one that labels words"],
    max_length: Annotated[int, "tokens in a window of a text"],
    batch_size: Annotated[int, "windows that pass the model at once"],
    depth: Annotated[int, "documents of each query"],
    labels: Annotated[dict[str, list[str]] | None, "objects, aspects, predicates: the labels that mean them"] = None,
) -> None:  # fmt: skip
    """Label the words of queries and their candidates with a model, instead of rules, to find what they compare."""
    kept = {query: ranking(scores)[:depth] for query, scores in read_run(candidates).items()}
    wanted = {document for documents in kept.values() for document in documents}

    def wanted_texts() -> Iterator[tuple[str, str, str]]:
        for kind, path, names in ((QUERY, texts[0], kept), (DOCUMENT, texts[1], wanted)):
            yield from ((kind, name, text) for name, text in read_texts(path) if name in names)

    tagger = adapter(type).load_tagger(checkpoint, max_length, batch_size)
    part_of = parts_of(tagger.labels, labels, checkpoint)
    size, count = batch_size * BATCHES, len(kept) + len(wanted)
    write_structures(structures, tagged(tagger, part_of, wanted_texts(), size, count))
    print(f"{count} texts labelled as {', '.join(sorted(part_of))}", file=sys.stderr)


if __name__ == "__main__":
    job(tag_texts)
