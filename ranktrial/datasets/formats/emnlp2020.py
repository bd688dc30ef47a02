"""Fact-checks of tweets by Vo and Lee (EMNLP 2020), PolitiFact or Snopes: articles, tweets with images, their pairs.

A document is an article: its title; its text is the article's paragraphs and then the claim that it checks. A query is
a tweet as cleaned by the data's authors, and with `text: tweet+image` also the text that they read from its images. Ids
are the numbers of the `*_mapped.json` files. The data has no splits: all of it is train, to be carved (split_by:
documents).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from ranktrial.common.errors import UserError
from ranktrial.common.files import lines
from ranktrial.common.reading import read_text
from ranktrial.common.strict_json import parse_json
from ranktrial.common.unpacking import only_folder_with
from ranktrial.datasets.formats import Collection, Format, identifier, judged_queries
from ranktrial.ir.collection import Document
from ranktrial.ir.trec import Qrels, add_judgement

PAIRS = "query_article_interaction.csv"

NAME = "emnlp2020"


@dataclass(frozen=True)
class Keys:
    """The choice of the query's text."""

    text: Annotated[
        Literal["tweet", "tweet+image"], "the query is the tweet, or the tweet with the text read from its images"
    ]


Options = Keys
FORMAT = Format(
    location="PolitiFact or Snopes, as released by Vo and Lee (2020); `text: tweet` or `tweet+image`",
    splits=lambda entry: {"train"},
)


class Table:
    """A JSON file with an object; errors are reported with the line of their key."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.text = read_text(path)
        self.records = parse_json(self.text, str(path))
        if not isinstance(self.records, dict):
            raise UserError(f"{path}:1: expected a JSON object, not {type(self.records).__name__}")
        if odd := [key for key in self.records if any(ord(character) < 32 for character in key)]:
            raise UserError(f"{path}: the key {odd[0]!r} contains a control character")

    def where(self, key: str) -> str:
        """`file:line` of a key of the outer object."""
        spelt = (json.dumps(key, ensure_ascii=ascii) + ":" for ascii in (True, False))
        places = [place for place in map(self.text.find, spelt) if place >= 0]
        return f"{self.path}:{self.text.count(chr(10), 0, places[0]) + 1}" if places else f"{self.path}: {key}"

    def field(self, key: str, name: str, kind: type):
        """A record's field, which must be of this kind."""
        record = self.records[key]
        value = record.get(name) if isinstance(record, dict) else None
        if not isinstance(value, kind):
            expected = {str: "text", list: "a list", dict: "a mapping"}[kind]
            raise UserError(f"{self.where(key)}: {key} has no {name!r}, or it is not {expected}")
        return value


def read(root: Path, options: Options) -> Collection:
    """Read a folder of five files (found anywhere below `root`). Raises UserError with file and line."""
    folder = only_folder_with(root, PAIRS)
    articles, tweets = Table(folder / "articles_content.json"), Table(folder / "queries_content.json")
    article_ids = numbers(folder / "article_mapped.json", articles)
    tweet_ids = numbers(folder / "query_mapped.json", tweets)
    documents = [document(articles, key, name) for name, key in article_ids.items()]
    qrels = read_pairs(folder / PAIRS, set(tweet_ids), set(article_ids))
    with_images = options.text == "tweet+image"
    texts = {name: tweet_text(tweets, tweet_ids[name], with_images) for name in qrels}
    return Collection(documents, {"train": judged_queries(texts, qrels, str(folder / PAIRS))}, {"train": qrels})


def numbers(path: Path, contents: Table) -> dict[str, str]:
    """The number of each record -> its key, in numeric order. UserError for a key or number that does not match."""
    table = Table(path)
    keys: dict[str, str] = {}
    for key, number in table.records.items():
        name = identifier(number, table.where(key), "record")
        if not (name.isascii() and name.isdecimal()):
            raise UserError(f"{table.where(key)}: {name!r} is not a number")
        if name in keys:
            raise UserError(f"{table.where(key)}: duplicate number {name}, first for {keys[name]}")
        if key not in contents.records:
            raise UserError(f"{table.where(key)}: {key} is not in {contents.path.name}")
        keys[name] = key
    for key in contents.records:
        if key not in table.records:
            raise UserError(f"{contents.where(key)}: {key} has no number in {path.name}, and so no id")
    return dict(sorted(keys.items(), key=lambda item: int(item[0])))


def document(articles: Table, key: str, name: str) -> Document:
    """An article: title; paragraphs and claim on separate lines, so that a sentence splitter sees their ends."""
    paragraphs = articles.field(key, "body-text", list)
    if not all(isinstance(paragraph, str) for paragraph in paragraphs):
        raise UserError(f"{articles.where(key)}: {key}: 'body-text' must be a list of texts")
    text = "\n".join([*paragraphs, articles.field(key, "claim", str)])
    return Document(name, articles.field(key, "headerTitle", str), text)


def tweet_text(tweets: Table, key: str, with_images: bool) -> str:
    """A tweet's cleaned text and, if wanted, the text read from its images, in the file's order."""
    parts = [tweets.field(key, "OriginalTweetContent_Processed", str)]
    if with_images:
        for image in tweets.field(key, "Images_in_tweet", dict).values():
            read_from_it = image.get("text_for_the_image") if isinstance(image, dict) else None
            if not isinstance(read_from_it, str):
                raise UserError(f"{tweets.where(key)}: {key}: an image without 'text_for_the_image'")
            parts.append(read_from_it)
    text = " ".join(part for part in parts if part.strip())
    if not text:
        raise UserError(f"{tweets.where(key)}: tweet {key} has no text")
    return text


def read_pairs(path: Path, tweets: set[str], articles: set[str]) -> Qrels:
    """The positive pairs, one `tweet,article` per line, as qrels. UserError for a pair with an unknown id."""
    qrels: Qrels = {}
    for number, line in lines(path):
        fields = [field.strip() for field in line.split(",")]
        if len(fields) != 2:
            raise UserError(f"{path}:{number}: {len(fields)} columns, expected 2, separated by a comma: tweet, article")
        for name, known, what in zip(fields, (tweets, articles), ("tweet", "article"), strict=True):
            if name not in known:
                raise UserError(f"{path}:{number}: the pair names the unknown {what} {name!r}")
        add_judgement(qrels, *fields, "1", f"{path}:{number}")
    return qrels
