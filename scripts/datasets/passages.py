"""Split the texts of a collection into passages: groups of sentences of limited length in characters.

Reads a prepared corpus or query file. Writes JSON lines of the same layout (`_id`, `title` (empty), `text`), one per
passage; the passages of a text follow each other and have its id, those of a query also its excluded documents.
sentencex finds the sentences. A sentence that exceeds the limit is a passage of its own; the model truncates it at its
max_length. A text without content is one empty passage, so that every document can be scored.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

from sentencex import segment

from ranktrial.common.command_line import job
from ranktrial.common.files import lines
from ranktrial.common.progress import track
from ranktrial.ir.collection import Document, read_excluded, read_texts, write_corpus


def sentences(text: str, language: str) -> list[str]:
    """The sentences of a text, with single spaces between words; empty if it is blank."""
    return [sentence for part in segment(language, text) if (sentence := " ".join(part.split()))]


def grouped(parts: Iterable[str], length: int) -> list[str]:
    """Adjacent sentences joined by a space up to `length` characters; at least one passage, which may be empty."""
    passages: list[str] = []
    for part in parts:
        if passages and len(passages[-1]) + 1 + len(part) <= length:
            passages[-1] += " " + part
        else:
            passages.append(part)
    return passages or [""]


def split(
    texts: Path, passages: Path,
    length: Annotated[int, "the most characters of several sentences together"],
    language: Annotated[str, "of the texts (ISO 639-1)"],
) -> None:  # fmt: skip
    """Split the texts of a collection into passages: groups of sentences of limited length in characters."""
    count = sum(1 for _ in lines(texts))
    found = (
        Document(name, "", passage)
        for name, text in track(read_texts(texts), "split", count, "text")
        for passage in grouped(sentences(text, language), length)
    )
    written = write_corpus(passages, found, read_excluded(texts))
    print(f"{texts}: {count} texts, {written} passages of at most {length} characters", file=sys.stderr)


if __name__ == "__main__":
    job(split)
