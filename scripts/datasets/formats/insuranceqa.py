"""InsuranceQA (Feng et al., 2015) as PyPI's insuranceqa_data packs it: answers, train, valid and test as gzipped JSON.

One domain of it makes a collection: its questions, and every answer given to any of them. valid is dev.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path

from scripts.common.archives import only_folder_with
from scripts.common.collection import Document
from scripts.common.errors import UserError
from scripts.datasets.formats import Collection

FILES = {"train": "train", "dev": "valid", "test": "test"}


def read(root: Path, settings: dict) -> Collection:
    """Read the questions of `domain` (all when absent) in `language`; question ids get their split as prefix."""
    folder = only_folder_with(root, "answers.json.gz")
    domain, language = settings.get("domain"), settings["language"]
    answers = _load(folder / "answers.json.gz")
    queries: dict[str, dict[str, str]] = {}
    qrels: dict[str, dict[str, dict[str, int]]] = {}
    domains = set()
    for split, file in FILES.items():
        questions = _load(folder / f"{file}.json.gz")
        domains |= {question["domain"] for question in questions.values()}
        asked = {f"{split}-{name}": one for name, one in questions.items() if domain in (None, one["domain"])}
        queries[split] = {name: _text(question[language]) for name, question in asked.items()}
        qrels[split] = {name: dict.fromkeys(question["answers"], 1) for name, question in asked.items()}
    if domain and domain not in domains:
        raise UserError(f"no domain {domain!r} in InsuranceQA; it has {', '.join(sorted(domains))}")
    given = {answer for judged in qrels.values() for documents in judged.values() for answer in documents}
    documents = [Document(name, "", _text(answers[name][language])) for name in answers if name in given]
    return Collection(documents, queries, qrels)


def _text(words: str) -> str:
    return " ".join(words.split())


def _load(path: Path) -> dict:
    try:
        with gzip.open(path, "rt", encoding="utf-8") as file:
            return json.load(file)
    except (FileNotFoundError, gzip.BadGzipFile, json.JSONDecodeError) as error:
        raise UserError(f"{path.name}: not InsuranceQA's: {error}") from None
