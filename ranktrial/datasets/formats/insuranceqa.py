"""InsuranceQA (Feng et al., 2015) in PyPI's package insuranceqa_data: answers, train, valid and test as gzipped JSON.

One domain is a collection: its questions, and every answer given to any of them. valid is dev.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from ranktrial.common.errors import UserError
from ranktrial.common.reading import read_text
from ranktrial.common.strict_json import parse_json
from ranktrial.common.unpacking import only_folder_with
from ranktrial.datasets.formats import Collection, Format, Mistake, identifier
from ranktrial.ir.collection import Document
from ranktrial.ir.trec import Qrels, add_judgement

FILES = {"train": "train", "dev": "valid", "test": "test"}
LANGUAGES = ("en", "zh")

NAME = "insuranceqa"


@dataclass(frozen=True)
class Keys:
    """The part of the data."""

    domain: Annotated[str | None, "one of its domains, such as annuities; default all"] = None


MEANINGS = {"language": "its English or Chinese part"}


def mistake(entry: Any) -> Mistake | None:
    """A language that the data does not have."""
    if entry.language in LANGUAGES:
        return None
    return Mistake("language", f"the data has no side in {entry.language}; expected {' or '.join(LANGUAGES)}")


FORMAT = Format(
    location="PyPI's `insuranceqa_data`; `domain` selects a domain",
    splits=lambda entry: set(FILES),
    narrowing=("domain",),
    mistake=mistake,
)


@dataclass(frozen=True)
class Options(Keys):
    """The language of the data to read, and the domain; None is all."""

    language: Literal["en", "zh"] = "en"


def read(root: Path, options: Options) -> Collection:
    """Read the questions of `domain` (all when absent) in `language`; question ids get their split as prefix.

    A split without a question of the domain is absent. Raises UserError with the file and the record.
    """
    folder = only_folder_with(root, "answers.json.gz")
    domain, language = options.domain, options.language
    answers = _load(folder / "answers.json.gz")
    queries: dict[str, dict[str, str]] = {}
    qrels: dict[str, Qrels] = {}
    domains = set()
    for split, file in FILES.items():
        path = folder / f"{file}.json.gz"
        questions = _load(path)
        domains_of = {name: _text(question, "domain", f"{path}: {name}") for name, question in questions.items()}
        domains |= set(domains_of.values())
        of_domain = {name: question for name, question in questions.items() if domain in (None, domains_of[name])}
        if of_domain:
            texts = {name: _asked(question, language, f"{path}: {name}") for name, question in of_domain.items()}
            queries[split] = {f"{split}-{name}": text for name, text in texts.items()}
            qrels[split] = _judged(split, of_domain, path)
    if domain and domain not in domains:
        raise UserError(f"no domain {domain!r} in InsuranceQA; it has {', '.join(sorted(domains))}")
    if not qrels:
        raise UserError(f"{folder}: no question")
    given = {answer for judged in qrels.values() for documents in judged.values() for answer in documents}
    where = folder / "answers.json.gz"
    texts = {name: _text(answer, language, f"{where}: {name}") for name, answer in answers.items() if name in given}
    return Collection([Document(name, "", text) for name, text in texts.items()], queries, qrels)


def _asked(question: dict, language: str, where: str) -> str:
    text = _text(question, language, where)
    if not text:
        raise UserError(f"{where}: the question has no text")
    return text


def _judged(split: str, questions: dict[str, dict], path: Path) -> Qrels:
    """The answers given to each question, as judgements. UserError for a question without any."""
    qrels: Qrels = {}
    for name, question in questions.items():
        where = f"{path}: {name}"
        given = question.get("answers")
        if not isinstance(given, list) or not given:
            raise UserError(f"{where}: 'answers' must be a list of answers' numbers, at least one")
        for answer in given:
            query = f"{split}-{identifier(name, where, 'question')}"
            add_judgement(qrels, query, identifier(answer, where, "answer"), "1", where)
    return qrels


def _text(record: dict, key: str, where: str) -> str:
    if not isinstance(value := record.get(key), str):
        raise UserError(f"{where}: no {key!r}, or it is not text")
    return " ".join(value.split())


def _load(path: Path) -> dict[str, dict]:
    records = parse_json(read_text(path), str(path))
    if not isinstance(records, dict) or not all(isinstance(record, dict) for record in records.values()):
        raise UserError(f"{path}: not InsuranceQA's: expected an object of objects")
    for name in records:
        identifier(name, str(path), "record")
    return records
