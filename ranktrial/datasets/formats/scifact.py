"""SciFact as its authors release it (Wadden et al. 2020): claims, and the abstracts that they cite.

A document is an abstract of corpus.jsonl (doc_id, title, abstract: its sentences). A query is a claim, and the
abstracts that it cites (cited_doc_ids) are relevant, whether or not they hold evidence, as in BEIR. The claims of
claims_train are the training queries, those of claims_dev the test queries: the authors do not publish the answers of
claims_test.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ranktrial.common.errors import UserError
from ranktrial.common.unpacking import only_folder_with
from ranktrial.datasets.formats import Collection, Format, Found, identifier, judged_queries, text_in, with_texts
from ranktrial.ir.collection import Document, json_lines
from ranktrial.ir.trec import Qrels, add_judgement

NAME = "scifact"
FILES = {"train": "claims_train.jsonl", "test": "claims_dev.jsonl"}
FORMAT = Format(
    location="SciFact, as released by its authors: `corpus.jsonl`, `claims_train.jsonl`, `claims_dev.jsonl`",
    splits=lambda entry: set(FILES),
)


@dataclass(frozen=True)
class Options:
    """The format has no keys of its own."""


def read(root: Path, options: Options) -> Collection:
    """Read the release (found anywhere below `root`). Raises UserError with file and line."""
    folder = only_folder_with(root, "corpus.jsonl")
    queries, qrels = {}, {}
    for split, name in FILES.items():
        texts, qrels[split] = read_claims(folder / name)
        queries[split] = judged_queries(texts, qrels[split], str(folder / name))
    corpus = folder / "corpus.jsonl"
    return Collection(with_texts(read_abstracts(corpus), str(corpus), "the key abstract"), queries, qrels)


def read_abstracts(path: Path) -> Iterator[Found]:
    """The abstracts, whose sentences are joined by spaces."""
    for number, record in json_lines(path):
        where = f"{path}:{number}"
        sentences = _list(record, "abstract", str, where)
        document = identifier(record.get("doc_id"), where, "document")
        yield Found(Document(document, text_in(record, "title", where), " ".join(sentences)), record)


def read_claims(path: Path) -> tuple[dict[str, str], Qrels]:
    """The claims by their ids, and the abstracts that each cites."""
    texts: dict[str, str] = {}
    qrels: Qrels = {}
    for number, record in json_lines(path):
        where = f"{path}:{number}"
        claim = identifier(record.get("id"), where, "claim")
        if claim in texts:
            raise UserError(f"{where}: duplicate claim id {claim}")
        texts[claim] = text_in(record, "claim", where)
        for cited in _list(record, "cited_doc_ids", int, where):
            add_judgement(qrels, claim, str(cited), "1", where)
    return texts, qrels


def _list(record: dict[str, Any], key: str, kind: type, where: str) -> list[Any]:
    value = record.get(key)
    if not (isinstance(value, list) and all(isinstance(one, kind) for one in value)):
        expected = "sentences" if kind is str else "numbers of documents"
        raise UserError(f"{where}: {key} is no list of {expected}, as in SciFact's release")
    return value
