"""Let a model write training queries for documents of a corpus, each relevant to its document (Wang et al. 2022, GPL).

Reads a checkpoint and the corpus; writes the queries and judgements of train, in the layout of prepare.py, with
statistics.json, and generation.json, which counts what was written. Empty and repeated queries are left out. Answers of
an endpoint are cached beside the folder as they arrive, so that none is requested twice.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

from ranktrial.common.command_line import job
from ranktrial.common.errors import REFUSED_IN_FILES, UserError
from ranktrial.common.files import atomic_folder, write_json
from ranktrial.datasets.formats import Collection
from ranktrial.datasets.formats.generated import PROMPT
from ranktrial.datasets.splits import sample
from ranktrial.ir.collection import Document, read_corpus
from ranktrial.ir.trec import LONGEST_ID, shown
from ranktrial.models.adapters import adapter
from ranktrial.models.kept_answers import keep_answers_beside
from ranktrial.models.reasoning import without_reasoning
from scripts.datasets import prepare


@dataclass(frozen=True)
class Settings:
    type: Annotated[str, "type of the model, one that writes"]
    max_length: Annotated[int, "tokens kept of a prompt with its document"]
    batch_size: Annotated[int, "prompts per batch"]
    seed: Annotated[int, "of the sample of documents, and of what is drawn while writing"]
    sampled_documents: Annotated[int | Literal["all"], "for how many of them queries are written"]
    queries_per_document: Annotated[int, "queries for each"]
    prompt: Annotated[str, "what the model is asked, with {document}"] = PROMPT


class Written(NamedTuple):
    """The queries by id, the document of each, and the numbers of empty and repeated ones."""

    queries: dict[str, str]
    documents: dict[str, str]
    empty: int
    repeated: int


def chosen(documents: Iterable[Document], settings: Settings) -> dict[str, str]:
    """The documents for which queries are written, by id: a sample of those with a text."""
    texts = {document.id: document.contents for document in documents if document.contents.strip()}
    if settings.sampled_documents == "all" or settings.sampled_documents >= len(texts):
        return texts
    return {name: texts[name] for name in sample(list(texts), settings.sampled_documents, settings.seed, "generated")}


def check_ids(documents: Iterable[str], each: int, corpus: Path) -> None:
    """Raise UserError for a document whose queries, the ids of which contain its own, would have too long ids."""
    longest = LONGEST_ID - len(id_of("", each))
    for name in documents:
        if len(name) > longest:
            problem = f"has {len(name):,} characters; ids of its queries can be made from at most {longest:,}"
            raise UserError(f"{corpus}: the id {shown(name)} {problem}")


def id_of(document: str, number: int) -> str:
    """The id of a document's query."""
    return f"{document}-{number}"


def cleaned(answer: str) -> str:
    """The query in an answer: its first non-empty line, without surrounding quotes and control characters."""
    said = REFUSED_IN_FILES.sub("", without_reasoning(answer))
    lines = [" ".join(line.split()).strip("\"'“”„` ") for line in said.splitlines()]
    return next(filter(None, lines), "")


def collected(documents: list[str], rounds: Iterable[list[str]]) -> Written:
    """The queries of all rounds, in each of which every document has an answer."""
    found = Written({}, {}, 0, 0)
    seen: set[str] = set()
    for number, answers in enumerate(rounds, 1):
        for document, answer in zip(documents, answers, strict=True):
            query = cleaned(answer)
            repeated = query.casefold() in seen
            seen.add(query.casefold())
            if query and not repeated:
                found.queries[id_of(document, number)] = query
                found.documents[id_of(document, number)] = document
            else:
                found = found._replace(empty=found.empty + (not query), repeated=found.repeated + (query != ""))
    return found


def generate_queries(
    checkpoint: Path, corpus: Path,
    queries: list[Path], qrels: list[Path], statistics: Path, generation: Path, settings: Settings,
) -> None:  # fmt: skip
    """Let a model write training queries for documents of a corpus, each relevant to its document."""
    folder = statistics.parent  # `queries` and `qrels` lie there too
    keep_answers_beside(folder)
    texts = chosen(read_corpus(corpus), settings)
    check_ids(texts, settings.queries_per_document, corpus)
    writer = adapter(settings.type).load_writer(checkpoint, settings.max_length, settings.batch_size)
    rounds = [
        writer.write(settings.prompt, list(texts.values()), settings.seed + number)
        for number in range(settings.queries_per_document)
    ]
    found = collected(list(texts), rounds)
    counts = {"documents": len(texts), "queries": len(found.queries), "empty": found.empty, "repeated": found.repeated}
    if not found.queries:
        raise UserError(f"{checkpoint}: no query was written for {len(texts)} documents")
    judged = {query: {document: 1} for query, document in found.documents.items()}
    data = Collection(read_corpus(corpus), {"train": found.queries}, {"train": judged})
    how = prepare.Settings(source="", format="generated", seed=settings.seed)
    with atomic_folder(folder) as target:
        for remark in prepare.write(target, data, how, prepare.Files(shared=corpus), {}):
            print(f"{folder.name}: {remark}", file=sys.stderr)
        write_json(target / generation.name, counts | writer.facts, indent=2)
    print(", ".join(f"{count} {what}" for what, count in counts.items()), file=sys.stderr)


if __name__ == "__main__":
    job(generate_queries)
