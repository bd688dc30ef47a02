"""Answers of an endpoint, kept in a file from the moment that each comes: what was paid for is not asked again.

The file has a JSON object a line, under the SHA-256 of its request. It lies beside the outputs of a job and is none of
them: a job that was killed goes on, and one that runs again takes what it asked before. A line that was cut when its
writer was killed counts for nothing. Answers stay on the disk until they are looked at, as those of a corpus are many.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path

from scripts.common.files import full_disk_reported
from scripts.common.keys import JsonObject
from scripts.models.endpoint import Answer

_beside: list[Path] = []  # the output of this job


def digest(url: str, request: JsonObject) -> str:
    """What identifies a request: endpoint, model, prompt and all else that is sent, but for the key."""
    return hashlib.sha256(json.dumps([url, request], sort_keys=True).encode()).hexdigest()


def keep_answers_beside(output: Path) -> None:
    """Let the models of this job that ask an endpoint keep its answers beside the job's output."""
    _beside[:] = [output]


def answers_beside() -> KeptAnswers:
    """The answers that were kept beside the job's output."""
    return KeptAnswers(Path(f"{_beside[0]}.resume") / "answers.jsonl")


def total(counts: list[int | None]) -> int | None:
    """The sum of tokens; None where one answer does not report it, since a sum of the others would pass for all."""
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == len(counts) else None


class KeptAnswers:
    """The answers of a file by their request. Several threads can add to them."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self._lock = threading.Lock()
        self._places = {request: place for request, place, _ in _records(file)}

    def __len__(self) -> int:
        return len(self._places)

    def __contains__(self, request: str) -> bool:
        return request in self._places

    def get(self, request: str) -> Answer | None:
        """The answer to a request by its digest; None where it was not asked."""
        return self[request] if request in self._places else None

    def __getitem__(self, request: str) -> Answer:
        with open(self.file, "rb") as opened:
            opened.seek(self._places[request])
            record = _record(opened.readline())
        assert record is not None  # it was read, or written, before
        return record[1]

    def add(self, request: str, answer: Answer) -> None:
        """Keep an answer; it is on the disk when this returns."""
        self.add_all({request: answer})

    def add_all(self, answers: Mapping[str, Answer]) -> None:
        """Keep answers; they are on the disk when this returns."""
        with self._lock, full_disk_reported(self.file.parent):
            self.file.parent.mkdir(parents=True, exist_ok=True)
            with open(self.file, "ab") as opened:
                for request, answer in answers.items():
                    opened.write(b"\n")  # a new line first: the last one may have been cut
                    self._places[request] = opened.tell()
                    opened.write(json.dumps({"request": request, **answer._asdict()}).encode())
                opened.flush()
                os.fsync(opened.fileno())


def _records(file: Path) -> Iterator[tuple[str, int, Answer]]:
    """The requests, places and answers of the whole lines of a file."""
    if not file.is_file():
        return
    place = 0
    with open(file, "rb") as opened:
        for line in opened:
            if record := _record(line):
                yield record[0], place, record[1]
            place += len(line)


def _record(line: bytes) -> tuple[str, Answer] | None:
    """The request and the answer of a line; None for one that is not whole."""
    try:
        record = json.loads(line)
        request, answer = record.pop("request"), Answer(**record)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None
    counted = all(count is None or type(count) is int for count in (answer.prompt_tokens, answer.completion_tokens))
    whole = isinstance(request, str) and isinstance(answer.text, str) and isinstance(answer.seconds, float) and counted
    return (request, answer) if whole else None
