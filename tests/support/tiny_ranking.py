"""Encoding, search and re-ranking of the collection of tiny_task.py, as their jobs are called, beside the library's."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from ranktrial.common.errors import UserError
from ranktrial.ir.collection import Document, read_corpus, read_queries, write_corpus, write_queries
from ranktrial.ir.trec import ranking, read_run
from scripts.inference.encode import encode
from scripts.inference.rerank import rerank
from scripts.inference.search import search
from tests.support.calling import call
from tests.support.tiny_bert import build
from tests.support.tiny_task import WORDS


def build_two_kinds(folder: Path) -> None:
    """A bi-encoder `bi`, and a cross-encoder `cross` that starts from it."""
    import torch

    from ranktrial.models.types import cross_encoder

    build(folder / "bi", [" ".join(WORDS)], seed=1)
    torch.manual_seed(1)
    cross = cross_encoder.load(folder / "bi", 32, to_train=True)
    cross.save_pretrained(str(folder / "cross"), create_model_card=False)


@dataclass(frozen=True)
class Ranker:
    """A model in the folder of the task, by its type, and the form of its index."""

    type: str
    model: str
    form: str

    @property
    def settings(self) -> dict:
        """Those of its encoding, which ranking has too."""
        return {"type": self.type, "max_length": 16, "batch_size": 4}

    def encode(self, task: Path, out: Path, **changes: Path) -> Path:
        """Write the index, which is returned, and e.json."""
        paths = {"checkpoint": task / self.model, "corpus": task / "corpus.jsonl"} | changes
        call(encode, self.settings, **paths, index=out / f"e.{self.form}", timing=out / "e.json")
        return out / f"e.{self.form}"

    def retrieve(self, task: Path, out: Path, depth: int = 10, **changes: Path) -> dict:
        """Search the index, by default that of `out`, and write run.json beside the run."""
        paths = {name: task / f"{name}.jsonl" for name in ("corpus", "queries")}
        paths |= {"checkpoint": task / self.model, "index": out / f"e.{self.form}"} | changes
        settings = self.settings | {"tag": "tiny", "depth": depth, "form": self.form}
        call(search, settings, **paths, run=out / "run.trec.gz", timing=out / "run.json")
        return read_run(out / "run.trec.gz")

    def rerank(self, task: Path, out: Path, **changes: Path) -> dict:
        """Re-rank the first five documents of each query of the first stage."""
        paths = {name: task / f"{name}.jsonl" for name in ("corpus", "queries")}
        paths |= {"checkpoint": task / self.model, "first_stage": task / "first.trec"} | changes
        settings = self.settings | {"tag": "tiny", "depth": 5, "backend": "torch"}
        call(rerank, settings, **paths, run=out / "run.trec", timing=out / "run.json", index=[])
        return read_run(out / "run.trec")


def encode_four(folder: Path, queries: dict[str, str]) -> tuple[dict, dict]:
    """The paths and settings with which four documents are encoded into e.index, by a model that ONNX Runtime runs."""
    from tests.models.test_onnx_texts import made

    model = made(folder / "tiny", "mean")
    texts = {f"d{n}": text for n, text in enumerate(["ash", "elm fig oak yew", "yew yew", "oak ash elm"])}
    write_corpus(folder / "corpus.jsonl", (Document(name, "", text) for name, text in texts.items()))
    write_queries(folder / "queries.jsonl", queries)
    paths = {"checkpoint": model, "corpus": folder / "corpus.jsonl"}
    settings = {"type": "bi-encoder", "max_length": 32, "batch_size": 2}
    call(encode, settings, **paths, index=folder / "e.index", timing=folder / "e.json")
    return paths | {"queries": folder / "queries.jsonl"}, settings


def by_the_library(task: Path, model) -> dict:
    """All scores, by the model's own encoding and similarity."""
    queries = read_queries(task / "queries.jsonl")
    documents = {document.id: document.contents for document in read_corpus(task / "corpus.jsonl")}
    encoded = model.encode_query(list(queries.values())), model.encode_document(list(documents.values()))
    scores = model.similarity(*encoded).tolist()
    return {query: dict(zip(documents, row, strict=True)) for query, row in zip(queries, scores, strict=True)}


def check_re_ranked(task: Path, run: dict, expected: dict, **near: float) -> None:
    """The run has the first five documents of each query of the first stage, with the expected scores."""
    first = read_run(task / "first.trec")
    assert list(run) == list(first)
    for query, documents in run.items():
        assert set(documents) == set(ranking(first[query])[:5])
        assert documents == pytest.approx({name: expected[query][name] for name in documents}, **near)


def check_mistakes(ranker: Ranker, task: Path, index: Path, folder: Path) -> None:
    """Weights or a corpus that are not those of the index, and empty files, are reported in one line."""
    with pytest.raises(UserError, match=r"made with other weights than those of .*other; delete it and encode again$"):
        ranker.retrieve(task, folder, index=index, checkpoint=task / "other")
    write_corpus(folder / "short.jsonl", [Document("d", "", "ashen")])
    with pytest.raises(UserError, match=r"of 51 documents, but the corpus has 1; encode it again$"):
        ranker.retrieve(task, folder, index=index, corpus=folder / "short.jsonl")
    (folder / "empty.jsonl").touch()
    with pytest.raises(UserError, match="no query"):
        ranker.retrieve(task, folder, index=index, queries=folder / "empty.jsonl")
    with pytest.raises(UserError, match="nothing to encode"):
        ranker.encode(task, folder, corpus=folder / "empty.jsonl")
