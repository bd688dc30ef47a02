"""The topics of a TREC collection on disk: TREC markup or XML, JSON lines, or lines of id and text.

<top><num> Number: 301 <title> organised crime </top>      TREC's ad hoc, Robust, Terabyte and Blog tracks
<topic number="1" type="faceted"><query>…</query></topic>  Web track, TREC-COVID
<topic number="1">a 19-year-old man …</topic>              clinical trials
<topic><identifier>10.2452/401-AH</identifier><title>…     CLEF
{"query_id": "2024001", "query": "…"}                      JSON lines; _id, id, qid … and text, query, title, question
701:u s oil industry history                               Million Query, Terabyte efficiency; or with a tab
20001:1:obama family tree                                  Million Query 2009: id, priority, text
"""

from __future__ import annotations

import html
import re
from bisect import bisect
from collections.abc import Container, Iterator
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

from ranktrial.common.errors import UserError
from ranktrial.common.files import lines
from ranktrial.common.reading import UTF_8, WrongEncoding, open_bytes, why_no_encoding
from ranktrial.datasets.formats import MOST_NAMES, identifier, text_in
from ranktrial.ir.collection import json_lines
from ranktrial.ir.trec import shown

FIELDS = {
    "title": ("title", "query"),
    "description": ("description", "desc"),
    "narrative": ("narrative", "narr"),
}  # the tracks' names of a field; any other field has only its own name
NUMBERS = ("num", "number", "identifier", "id", "qid", "query_id", "topic_id")
JSON_IDS = ("_id", *NUMBERS)
JSON_TEXTS = ("title", "query", "text", "question")  # of the field title
TWO_COLUMNS = "expected 2, separated by a tab: query id, text"
_TOPIC = re.compile(r"<(/?)top(?:ic)?(?:\s[^<>]*)?>", re.IGNORECASE)
_TAG = re.compile(r"<([A-Za-z][^\s<>/]*)(?:\s[^<>]*)?>")
_ATTRIBUTE = re.compile(r"""(?<![\w:.-])([A-Za-z_-]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>"']+))""")
_STATED = re.compile(rb"""\s*<\?xml[^>]*\sencoding=["']([A-Za-z0-9._-]+)["']""")
_BEFORE = re.compile(r"^(Topic|Description|Narrative):\s*")
_COLON = re.compile(r"\s*([^\s:]+):(.*)")
_PRIORITY = re.compile(r"\s*([^\s:]+):[0-9]:(.*)")  # of a query, between its id and its text
_TAB = re.compile(r"([^\t]*)\t(.*)")  # a text may contain further tabs


class Topic(NamedTuple):
    """A topic: its place, its id, the text of the wanted field (or none), and the names of its fields."""

    where: str
    id: str
    text: str
    names: list[str]


def read_topics(path: Path, field: str, judged: Container[str] = (), encoding: str = UTF_8) -> dict[str, str]:
    """Query id -> the text of a field, empty if a topic has none and is not `judged`.

    A file that is not UTF-8 is read in the encoding that its XML states, or in `encoding`. Raises UserError, with file
    and line, for a file of another form, a duplicate id and a judged topic without text.
    """
    texts: dict[str, str] = {}
    for topic in _topics(path, field, encoding):
        if topic.id in texts:
            raise UserError(f"{topic.where}: duplicate query id {topic.id}")
        if not topic.text and topic.id in judged:
            seen = ", ".join(shown(name)[1:-1] for name in topic.names[:MOST_NAMES])
            problem = f"query {topic.id} has no text (topic field: {field}{f'; it has {seen}' if seen else ''})"
            raise UserError(f"{topic.where}: {problem}")
        texts[topic.id] = topic.text
    return texts


def _topics(path: Path, field: str, encoding: str) -> Iterator[Topic]:
    numbered, encoding = _lines(path, encoding)
    first = numbered[0][1].lstrip(" ") if numbered else ""
    if first.startswith("<"):
        yield from _marked_topics(path, numbered, field)
    elif first.startswith("{"):
        yield from _json_topics(path, field, encoding)
    else:
        yield from _topics_in_lines(path, numbered, ":" if "\t" not in first and _COLON.match(first) else "\t")


def _lines(path: Path, encoding: str) -> tuple[list[tuple[int, str]], str]:
    """The numbered lines, and their encoding: UTF-8, that stated in the XML, or the given one."""
    try:
        return list(lines(path)), UTF_8
    except UserError:
        with open_bytes(path) as file:
            stated = _STATED.match(file.read(200))
        name = stated[1].decode() if stated else encoding
        encoding = encoding if why_no_encoding(name) else name
        try:
            return list(lines(path, encoding)), encoding
        except WrongEncoding as error:
            raise UserError(f"{error}{error.remedy}") from None


def _topics_in_lines(path: Path, numbered: list[tuple[int, str]], separator: str) -> Iterator[Topic]:
    pattern = _COLON if separator == ":" else _TAB
    if separator == ":" and len(numbered) > 1 and all(_PRIORITY.match(line) for _, line in numbered):
        pattern = _PRIORITY
    if separator == "\t":
        _check_columns(path, numbered)
    for number, line in numbered:
        where = f"{path}:{number}"
        found = pattern.match(line)
        if not found:
            expected = "expected id:text, as above" if separator == ":" else f"1 columns, {TWO_COLUMNS}"
            raise UserError(f"{where}: {expected}")
        name, text = found[1].strip(), " ".join(found[2].split("\t")).strip()
        if number == numbered[0][0] and name in JSON_IDS and text in JSON_TEXTS:
            continue  # a heading
        yield Topic(where, identifier(name, where, "query"), text, [])


def _check_columns(path: Path, numbered: list[tuple[int, str]]) -> None:
    """Raise UserError if all lines have one number of columns above two: a table, and not texts that contain tabs."""
    widths = {line.count("\t") + 1 for _, line in numbered}
    if len(widths) == 1 and (width := widths.pop()) > 2:
        raise UserError(f"{path}:{numbered[0][0]}: {width} columns, {TWO_COLUMNS}")


def _json_topics(path: Path, field: str, encoding: str) -> Iterator[Topic]:
    keys = {"title": JSON_TEXTS}.get(field) or FIELDS.get(field, (field,))
    for number, record in json_lines(path, encoding):
        where = f"{path}:{number}"
        query = identifier(next((record[key] for key in JSON_IDS if key in record), None), where, "query")
        text = next((text for key in keys if (text := text_in(record, key, where).strip())), "")
        yield Topic(where, query, text, list(record))


def _marked_topics(path: Path, numbered: list[tuple[int, str]], field: str) -> Iterator[Topic]:
    for where, opening, body in _elements(path, numbered):
        names = list(dict.fromkeys(name.lower() for name in _TAG.findall(body)))
        number = _number(opening, body, where).removeprefix("Number:").strip()
        query = identifier(number, where, "topic")
        of_field = [text for name in FIELDS.get(field, (field,)) if (text := _field(body, name, where)) is not None]
        if field == "title" and not of_field and not set(names) - set(NUMBERS):
            of_field = [_own_text(body)]
        text = _BEFORE.sub("", next(filter(None, of_field), ""))
        yield Topic(where, query, text, [name for name in names if name not in NUMBERS])


def _elements(path: Path, numbered: list[tuple[int, str]]) -> Iterator[tuple[str, str, str]]:
    """Yield (`file:line` where it begins, its opening tag, the markup in it) of each topic."""
    text = "\n".join(line for _, line in numbered)
    starts = list(accumulate((len(line) + 1 for _, line in numbered), initial=0))
    begun: tuple[re.Match, str] | None = None
    count = 0
    for tag in _TOPIC.finditer(text):
        line = numbered[bisect(starts, tag.start()) - 1][0]
        if tag[1] and begun is None:
            raise UserError(f"{path}:{line}: a topic ends that has not begun")
        if not tag[1] and begun is not None:
            raise UserError(f"{path}:{line}: a topic begins before that of {begun[1]} has ended")
        if begun is None:
            begun, count = (tag, f"{path}:{line}"), count + 1
        else:
            yield begun[1], begun[0][0], text[begun[0].end() : tag.start()]
            begun = None
    if begun is not None:
        raise UserError(f"{begun[1]}: a topic has no end (</top>)")
    if not count:
        raise UserError(f"{path}:1: neither TREC topics (<top> or <topic>), JSON lines, id:text nor two columns")


def _number(opening: str, body: str, where: str) -> str:
    """The id of a topic: in an element, or an attribute of the topic."""
    found = [text for name in NUMBERS if (text := _field(body, name, where))]
    attributes = {name.lower().replace("-", "_"): "".join(values) for name, *values in _ATTRIBUTE.findall(opening)}
    found += [attributes[name] for name in NUMBERS if attributes.get(name)]
    return found[0] if found else ""


def _field(body: str, name: str, where: str) -> str | None:
    """The text of the field of this name, up to its end tag or, without one, the next tag. None: there is none.

    Raises UserError if there are several.
    """
    starts = list(re.finditer(rf"<{re.escape(name)}(?:\s[^<>]*)?>", body, re.IGNORECASE))
    if not starts:
        return None
    if len(starts) > 1:
        raise UserError(f"{where}: two fields <{name}> in one topic")
    rest = body[starts[0].end() :]
    end = re.search(rf"</{re.escape(name)}\s*>", rest, re.IGNORECASE) or re.search(r"<[A-Za-z/!?]", rest)
    return _plain(rest[: end.start()] if end else rest)


def _own_text(body: str) -> str:
    """The text of a topic outside the element with its id."""
    for name in NUMBERS:
        body = re.sub(rf"<{name}(?:\s[^<>]*)?>[^<]*(?:</{name}\s*>)?", " ", body, flags=re.IGNORECASE)
    return _plain(body)


def _plain(markup: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[A-Za-z/!?][^<>]*>", " ", markup)).split())
