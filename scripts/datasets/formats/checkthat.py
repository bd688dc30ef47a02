"""CLEF-2020 CheckThat! task 2: verified_claims.docs.tsv, and in a folder for each part its tweets and their claims.

The claims and the tweets are tables with tabs and quoted fields, which may hold line ends. A document is a verified
claim: its title is the title of the fact-check, its text the claim. `parts` says which folder is which split, since
studies differ: some take the release's dev tweets for their test set.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

from scripts.common.archives import only_folder_with
from scripts.common.collection import Document
from scripts.common.errors import UserError
from scripts.common.files import lines
from scripts.common.trec import Qrels, add_judgement
from scripts.datasets.formats import Collection, identifier, judged_queries

CLAIMS = "verified_claims.docs.tsv"
TWEETS = "tweets.queries.tsv"
PAIRS = "tweet-vclaim-pairs.qrels"


def read(root: Path, settings: dict) -> Collection:
    """Read the claims and the parts that the settings name. Raises UserError with file and line."""
    folder = only_folder_with(root, CLAIMS)
    documents = list(read_claims(folder / CLAIMS))
    known = {document.id for document in documents}
    queries, qrels = {}, {}
    for split, part in settings["parts"].items():
        place = folder / part
        qrels[split] = read_pairs(place / PAIRS, known)
        queries[split] = judged_queries(read_tweets(place / TWEETS), qrels[split], str(place / PAIRS))
    return Collection(documents, queries, qrels)


def read_table(path: Path, *wanted: str) -> Iterator[tuple[str, list[str]]]:
    """Yield (`file:line` where a record begins, [id, the wanted columns …]) of a quoted TSV; ids are its first column.

    Raises UserError for a column that is absent, a record of another length, and quotes that do not close.
    """
    begins = 1
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            table = csv.reader(file, delimiter="\t", strict=True)
            header = next(table, [])
            missing = [name for name in wanted if name not in header[1:]]
            if missing:
                found = ", ".join(header[1:]) or "none"
                raise UserError(f"{path}:1: no column {missing[0]!r} after the id, only {found}")
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
    except FileNotFoundError:
        raise UserError(f"{path}: no such file") from None
    except UnicodeDecodeError:
        raise UserError(f"{path}:{begins}: not UTF-8 text, here or shortly after") from None
    except csv.Error as error:
        raise UserError(f"{path}:{begins}: the record that begins here is no quoted TSV: {error}") from None


def read_claims(path: Path) -> Iterator[Document]:
    """Yield the verified claims: title of the fact-check, claim."""
    lines_of: dict[str, str] = {}
    for where, (name, title, claim) in read_table(path, "title", "vclaim"):
        claim_id = identifier(name, where, "claim")
        if claim_id in lines_of:
            raise UserError(f"{where}: claim id {claim_id} stands twice, first in line {lines_of[claim_id]}")
        if not claim.strip():
            raise UserError(f"{where}: claim {claim_id} has no text")
        lines_of[claim_id] = where.rpartition(":")[2]
        yield Document(claim_id, title, claim)


def read_tweets(path: Path) -> dict[str, str]:
    """Tweet id -> text."""
    texts: dict[str, str] = {}
    for where, (name, text) in read_table(path, "tweet_content"):
        tweet = identifier(name, where, "tweet")
        if tweet in texts:
            raise UserError(f"{where}: tweet id {tweet} stands twice")
        if not text.strip():
            raise UserError(f"{where}: tweet {tweet} has no text")
        texts[tweet] = text
    return texts


def read_pairs(path: Path, claims: set[str]) -> Qrels:
    """The qrels of one part; a claim that is not among `claims` is a UserError with its line."""
    qrels: Qrels = {}
    for number, line in lines(path):
        fields = line.split()
        if len(fields) != 4:
            raise UserError(f"{path}:{number}: {len(fields)} columns, but qrels have 4: tweet id, 0, claim id, grade")
        tweet, _, claim, grade = fields
        if claim not in claims:
            raise UserError(f"{path}:{number}: tweet {tweet} is paired with claim {claim}, which {CLAIMS} lacks")
        add_judgement(qrels, tweet, claim, grade, f"{path}:{number}")
    return qrels
