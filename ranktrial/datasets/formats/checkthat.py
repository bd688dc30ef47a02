"""CLEF-2020 CheckThat! task 2: verified_claims.docs.tsv, and one folder per part with its tweets and their claims.

The claims and the tweets are tables with tabs and quoted fields, which may contain line ends. A document is a verified
claim: its title is the title of the fact-check, its text the claim. `parts` maps splits to folders, since studies
differ: some use the release's dev tweets as their test set.
"""

from __future__ import annotations

import csv
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from ranktrial.common.errors import UserError
from ranktrial.common.files import lines
from ranktrial.common.reading import DAMAGE, damaged, open_text
from ranktrial.common.unpacking import only_folder_with
from ranktrial.datasets.formats import (
    Collection,
    FilesOfSplits,
    Format,
    Mistake,
    file_in,
    identifier,
    judged_queries,
    outside,
    same_file_twice,
)
from ranktrial.ir.collection import Document
from ranktrial.ir.trec import Qrels, add_judgement, columns

CLAIMS = "verified_claims.docs.tsv"
TWEETS = "tweets.queries.tsv"
PAIRS = "tweet-vclaim-pairs.qrels"


def mistake(entry: Keys) -> Mistake | None:
    """A part that is not a folder below the location, or that two splits name."""
    folders = {split: name.removesuffix("/") for split, name in entry.parts.items()}
    return outside("parts", folders) or same_file_twice("parts", entry.parts)


NAME = "checkthat"


@dataclass(frozen=True)
class Keys:
    """The parts of a release to read: split -> folder."""

    parts: Annotated[
        FilesOfSplits, "the folder of the release that serves as each split, such as {train: train, test: dev}"
    ]


Options = Keys
FORMAT = Format(
    location="a release of CLEF-2020 CheckThat! task 2; `parts` maps splits to its folders",
    splits=lambda entry: set(entry.parts),
    judgements="parts",
    mistake=mistake,
)


def read(root: Path, options: Options) -> Collection:
    """Read the claims and the parts that the options name. Raises UserError with file and line."""
    folder = only_folder_with(root, CLAIMS)
    documents = list(read_claims(folder / CLAIMS))
    known = {document.id for document in documents}
    queries, qrels = {}, {}
    for split, part in options.parts.items():
        place = file_in(folder, part, f"parts.{split}")
        qrels[split] = read_pairs(place / PAIRS, known)
        tweets = read_tweets(place / TWEETS, qrels[split])
        queries[split] = judged_queries(tweets, qrels[split], str(place / PAIRS))
    return Collection(documents, queries, qrels)


def read_table(path: Path, *wanted: str) -> Iterator[tuple[str, list[str]]]:
    """Yield (`file:line` of a record's start, [id, the wanted columns …]) of a quoted TSV; ids are its first column.

    Raises UserError for a missing column, a record of another length, and unclosed quotes.
    """
    begins = 1
    try:
        with open_text(path, newline="") as file:
            table = csv.reader(_without_nul(file, path), delimiter="\t", strict=True)
            header = next(table, [])
            missing = [name for name in wanted if header[1:].count(name) != 1]
            if missing:
                present = " ".join(", ".join(header[1:]).split()) or "none"
                several = "several columns" if missing[0] in header[1:] else "no column"
                raise UserError(f"{path}:1: {several} {missing[0]!r} after the id, only {present[:300]}")
            places = [0, *(header.index(name, 1) for name in wanted)]
            begins = table.line_num + 1
            for record in table:
                where = f"{path}:{begins}"
                begins = table.line_num + 1
                if not record:
                    continue
                if len(record) != len(header):
                    raise UserError(f"{where}: {len(record)} columns, but the heading has {len(header)}")
                yield where, [record[place] for place in places]
    except DAMAGE as error:
        raise damaged(path, error, begins) from None
    except csv.Error as error:
        raise UserError(f"{path}:{begins}: the record that begins here is not quoted TSV: {error}") from None


def _without_nul(file: Iterable[str], path: Path) -> Iterator[str]:
    for number, line in enumerate(file, 1):
        if "\0" in line:
            raise UserError(f"{path}:{number}: a NUL character: no text, or not in UTF-8")
        yield line


def read_claims(path: Path) -> Iterator[Document]:
    """Yield the verified claims: title of the fact-check, claim."""
    lines_of: dict[str, str] = {}
    for where, (name, title, claim) in read_table(path, "title", "vclaim"):
        claim_id = identifier(name, where, "claim")
        if claim_id in lines_of:
            raise UserError(f"{where}: duplicate claim id {claim_id}, first in line {lines_of[claim_id]}")
        if not claim.strip():
            raise UserError(f"{where}: claim {claim_id} has no text")
        lines_of[claim_id] = where.rpartition(":")[2]
        yield Document(claim_id, title, claim)


def read_tweets(path: Path, judged: Container[str]) -> dict[str, str]:
    """Tweet id -> text. Raises UserError for a judged one without text."""
    texts: dict[str, str] = {}
    for where, (name, text) in read_table(path, "tweet_content"):
        tweet = identifier(name, where, "tweet")
        if tweet in texts:
            raise UserError(f"{where}: duplicate tweet id {tweet}")
        if not text.strip() and tweet in judged:
            raise UserError(f"{where}: tweet {tweet} has no text")
        texts[tweet] = text
    return texts


def read_pairs(path: Path, claims: set[str]) -> Qrels:
    """The qrels of one part; a claim that is not among `claims` is a UserError with its line."""
    qrels: Qrels = {}
    for number, line in lines(path):
        fields = columns(line, path, number)
        if len(fields) != 4:
            raise UserError(f"{path}:{number}: {len(fields)} columns, but qrels have 4: tweet id, 0, claim id, grade")
        tweet, _, claim, grade = fields
        if claim not in claims:
            raise UserError(f"{path}:{number}: tweet {tweet} is paired with claim {claim}, which {CLAIMS} lacks")
        add_judgement(qrels, tweet, claim, grade, f"{path}:{number}")
    return qrels
