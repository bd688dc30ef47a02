"""Touché's comparative questions (task 2 of 2020 to 2022): topics in XML, documents as JSON lines, qrels.

    <topics><topic><number>25</number><title>Which is better, A or B?</title><objects>A, B</objects>…</topic></topics>

Only the topics of 2022 have `objects`, and those of 2021 have neither description nor narrative. A line of documents
has `id` and `contents` (the passages of 2022); the pages of ClueWeb12 of 2020 and 2021 must be converted to such lines.
Judgements of quality are a separate dataset, with `runs_of` this one.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from ranktrial.common.errors import UserError
from ranktrial.common.strict_xml import Element, read_xml
from ranktrial.datasets.formats import Collection, Format, Mistake, identifier, trec
from ranktrial.ir.trec import Qrels

QUERIES = ("title", "description", "narrative")
FIELDS = ("number", "objects", *QUERIES)


def mistake(entry: trec.Options) -> Mistake | None:
    """An error as in trec's datasets, or a field that Touché's topics do not have."""
    if entry.topic_field not in QUERIES:
        return Mistake("topic_field", f"{entry.topic_field!r} is none of {', '.join(QUERIES)}")
    return trec.mistake(entry)


NAME = "touche"
Keys = trec.Keys
FORMAT = Format(
    location=(
        "Touché: documents as JSON lines (`id`, `contents`), comparative questions in XML, qrels; keys of `trec`"
    ),
    splits=trec.FORMAT.splits,
    unjudged=trec.FORMAT.unjudged,
    judgements=trec.FORMAT.judgements,
    mistake=mistake,
)


class Topic(NamedTuple):
    """A topic; fields that its year does not have are empty."""

    number: str
    title: str
    objects: tuple[str, ...] = ()
    description: str = ""
    narrative: str = ""


@dataclass(frozen=True)
class Options(trec.Options):
    """The options of trec, and the field of the query."""

    topic_field: Literal["title", "description", "narrative"] = "title"


def read(root: Path, options: Options) -> Collection:
    """Read the files that the options name, below `root`. Raises UserError with file and line."""

    def texts_of(topics: Path, qrels: Qrels) -> dict[str, str]:
        texts = {topic.number: getattr(topic, options.topic_field) for topic in read_topics(topics)}
        if empty := next((number for number in qrels if texts.get(number) == ""), None):
            raise UserError(f"{topics}: topic {empty} has no <{options.topic_field}>")
        return texts

    return trec.collection(root, options, texts_of)


def read_topics(path: Path) -> list[Topic]:
    """The topics of an XML file, in its order. Raises UserError, with the line, for anything else."""
    root = read_xml(path)
    if root.tag != "topics":
        raise UserError(f"{path}:{root.line}: <{root.tag[:40]}> is outermost, expected <topics>")
    topics: dict[str, Topic] = {}
    for element in root.children:
        where = f"{path}:{element.line}"
        topic = _topic(element, where)
        if topic.number in topics:
            raise UserError(f"{where}: duplicate topic number {topic.number}")
        topics[topic.number] = topic
    if not topics:
        raise UserError(f"{path}:{root.line}: no <topic> in <topics>")
    return list(topics.values())


def _topic(element: Element, where: str) -> Topic:
    if element.tag != "topic":
        raise UserError(f"{where}: <{element.tag[:40]}> in <topics>, expected <topic>")
    texts: dict[str, str] = {}
    for child in element.children:
        if child.tag in texts and child.tag in FIELDS:
            raise UserError(f"{where}: a second <{child.tag}> in one topic")
        texts[child.tag] = child.text
    number = identifier(texts.get("number"), where, "topic (<number>)")
    objects = tuple(name.strip() for name in texts.get("objects", "").split(",") if name.strip())
    return Topic(number, texts.get("title", ""), objects, texts.get("description", ""), texts.get("narrative", ""))
