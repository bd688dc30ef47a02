"""Split the texts of a collection into passages: groups of sentences of at most so many characters.

Reads a prepared corpus or query file. Writes JSON lines of the same layout (`_id`, `title` (empty), `text`), one per
passage; the passages of a text follow each other and have its id, those of a query also its excluded documents. pysbd
finds the sentences. A sentence that is longer than a passage may be stays whole, as a passage of its own; the model
truncates it at its max_length. A text without content is one empty passage, so that every document can be scored.
Several threads are as many processes, as pysbd is written in Python; the passages are the same.
"""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from itertools import pairwise
from typing import Annotated

from scripts.common.command_line import parser, run
from scripts.common.files import lines
from scripts.common.in_processes import in_processes
from scripts.common.progress import track
from scripts.common.threads import threads
from scripts.ir.collection import Document, read_excluded, read_texts, write_corpus

# pysbd's time grows with the square of a text's length (4 s for 100,000 characters), so it sees so many at a time.
WINDOW = 20_000
PIECE = 50_000  # characters that a process gets at a time: about a tenth of a second


@dataclass(frozen=True)
class Settings:
    """How texts are cut."""

    length: Annotated[int, "the most characters of several sentences together"]
    language: Annotated[str, "of the texts (ISO 639-1)"]


@cache
def segmenter(language: str):
    """pysbd's segmenter of a language (ISO 639-1) that gives the places of sentences in the text."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)  # of pysbd's own source, when it is compiled
        import pysbd

    return pysbd.Segmenter(language=language, clean=False, char_span=True)


def sentences(text: str, splitter) -> list[str]:
    """The sentences of a text, stripped; none where it is blank.

    They are cut out of the text at pysbd's places, so nothing is lost where pysbd fails to find a sentence again.
    """
    starts = [0]
    while starts[-1] < len(text):
        first = starts[-1]
        window = text[first : first + WINDOW]
        places = sorted({first + span.start for span in splitter.segment(window)} - {first})
        starts += places
        if first + WINDOW >= len(text):
            break
        if not places:  # the window's end need not be a sentence's, unless nothing else can be had
            starts.append(first + WINDOW)
    cut = (text[start:end].strip() for start, end in pairwise([*starts, len(text)]))
    return [sentence for sentence in cut if sentence]


def grouped(parts: Iterable[str], length: int) -> list[str]:
    """Neighbouring sentences joined by a space up to `length` characters; at least one passage, which may be empty."""
    passages: list[str] = []
    for part in parts:
        if passages and len(passages[-1]) + 1 + len(part) <= length:
            passages[-1] += " " + part
        else:
            passages.append(part)
    return passages or [""]


def split(text: str, length: int, splitter) -> list[str]:
    """The passages of a text, in its order."""
    return grouped((re.sub(r"\s+", " ", sentence) for sentence in sentences(text, splitter)), length)


def split_texts(texts: list[tuple[str, str]], settings: Settings) -> list[list[Document]]:
    """The passages of each of some texts, given as (id, text)."""
    splitter = segmenter(settings.language)
    return [[Document(name, "", part) for part in split(text, settings.length, splitter)] for name, text in texts]


def pieces(texts: Iterable[tuple[str, str]]) -> Iterator[list[tuple[str, str]]]:
    """Some texts at a time: neighbours, of about PIECE characters."""
    piece, size = [], 0
    for text in texts:
        piece.append(text)
        size += len(text[1])
        if size >= PIECE:
            yield piece
            piece, size = [], 0
    if piece:
        yield piece


def main() -> None:
    options = parser(__doc__, "texts", "passages", settings=Settings).parse_args()
    count, length = sum(1 for _ in lines(options.texts)), options.settings.length
    work = partial(split_texts, settings=options.settings)
    done = in_processes(work, pieces(read_texts(options.texts)), threads())
    documents = track((document for piece in done for document in piece), "split", count, "text")
    passages = (passage for document in documents for passage in document)
    written = write_corpus(options.passages, passages, read_excluded(options.texts))
    print(f"{options.texts}: {count} texts, {written} passages of at most {length} characters", file=sys.stderr)


if __name__ == "__main__":
    run(main)
