"""Count the word pieces of a dataset's documents and queries with the tokenizer of a model.

Reads a prepared corpus, the queries of each split, and the tokenizer in a model's folder. Writes
data/{dataset}/word-pieces.json: the mean per document and, by split, per query, without special tokens and without the
model's maximum length. Of more than SAMPLE texts of one kind, a sample is counted, which gives the mean to a percent.
"""

from __future__ import annotations

import hashlib
import heapq
import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from ranktrial.common.command_line import job
from ranktrial.common.errors import UserError
from ranktrial.common.files import write_json
from ranktrial.common.processes import threads
from ranktrial.ir.collection import read_corpus, read_texts
from ranktrial.models.model_files import backbone, check_tokenizer

if TYPE_CHECKING:
    from tokenizers import Tokenizer

SAMPLE = 10_000  # texts
BATCH = 1_000  # texts per call of the tokenizer
Text = tuple[str, str]  # id, text


def read_tokenizer(model: Path) -> Tokenizer:
    """The tokenizer of a model's folder, without truncation and padding. Raises UserError if it cannot be read."""
    from tokenizers import Tokenizer

    file = backbone(model) / "tokenizer.json"
    if not file.is_file():
        raise UserError(f"word_pieces: {model} has no tokenizer.json; name a model that has one")
    check_tokenizer(file)
    tokenizer = Tokenizer.from_file(str(file))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def sample(texts: Iterable[Text], seed: int) -> list[str]:
    """At most SAMPLE texts: those whose SHA-256 of seed and id comes first, so that their order does not matter."""
    drawn = heapq.nsmallest(SAMPLE, texts, key=lambda one: hashlib.sha256(f"{seed}\t{one[0]}".encode()).digest())
    return [text for _, text in drawn]


def mean_pieces(tokenizer: Tokenizer, texts: list[str]) -> float | None:
    """The mean number of pieces of texts, without special tokens; None for no text."""
    batches = [texts[start : start + BATCH] for start in range(0, len(texts), BATCH)]
    divided = (tokenizer.encode_batch(batch, add_special_tokens=False) for batch in batches)
    pieces = sum(len(one.ids) for encodings in divided for one in encodings)
    return pieces / len(texts) if texts else None


def counts(tokenizer: Tokenizer, corpus: Path, queries: list[Path], seed: int) -> dict:
    """The means of documents and, by split, of queries."""
    documents = sample(((document.id, document.contents) for document in read_corpus(corpus)), seed)
    means = {path.stem: mean_pieces(tokenizer, sample(read_texts(path), seed)) for path in queries}
    return {
        "mean_document_word_pieces": mean_pieces(tokenizer, documents),
        "splits": {split: {"mean_query_word_pieces": mean} for split, mean in means.items() if mean is not None},
    }


def word_pieces(
    corpus: Path, queries: list[Path], model: Path, pieces: Path,
    tokenizer: Annotated[str, "the model's name, for the table of datasets"],
    seed: Annotated[int, "of the sample"],
) -> None:  # fmt: skip
    """Count the word pieces of a dataset's documents and queries with the tokenizer of a model."""
    os.environ.setdefault("RAYON_NUM_THREADS", str(threads()))  # the tokenizers' threads
    found = counts(read_tokenizer(model), corpus, queries, seed)
    found = {"tokenizer": tokenizer, "word_pieces_sample": SAMPLE, **found}
    write_json(pieces, found, indent=2)


if __name__ == "__main__":
    job(word_pieces)
