"""Stored answers of an endpoint, written to a file as each one arrives, so that a paid answer is not requested again.

The file has one JSON object per line, under the SHA-256 of its request. It is stored beside a job's outputs but is not
one of them: a killed job resumes, and a job that runs again reuses its earlier answers. A line that was truncated when
its writer was killed is ignored. Answers stay on disk until they are read, since a corpus has many.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path

from ranktrial.common.files import full_disk_reported
from ranktrial.common.keys import JsonObject
from ranktrial.common.strict_json import plain_json
from ranktrial.models.endpoint import Answer

_beside: list[Path] = []  # holds the output of this job


def digest(url: str, request: JsonObject) -> str:
    """The identifier of a request: a digest of endpoint, model, prompt and all else that is sent, except the key."""
    return hashlib.sha256(json.dumps([url, request], sort_keys=True).encode()).hexdigest()


def keep_answers_beside(output: Path) -> None:
    """Store the answers of all endpoint models of this job beside the job's output."""
    _beside[:] = [output]


def answers_beside() -> KeptAnswers:
    """The answers stored beside the job's output."""
    return KeptAnswers(Path(f"{_beside[0]}.resume") / "answers.jsonl")


def total(counts: list[int | None]) -> int | None:
    """The sum of token counts; None if an answer does not report its count, since a partial sum would look complete."""
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == len(counts) else None


class KeptAnswers:
    """The answers stored in a file, by request. Thread-safe for additions."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self._lock = threading.Lock()
        self._places = {request: place for request, place, _ in _records(file)}

    def __len__(self) -> int:
        return len(self._places)

    def __contains__(self, request: str) -> bool:
        return request in self._places

    def get(self, request: str) -> Answer | None:
        """The answer to a request, by its digest; None if it is not stored."""
        return self[request] if request in self._places else None

    def __getitem__(self, request: str) -> Answer:
        with open(self.file, "rb") as opened:
            opened.seek(self._places[request])
            record = _record(opened.readline())
        assert record is not None  # every known place is that of a whole line
        return record[1]

    def add(self, request: str, answer: Answer) -> None:
        """Store an answer; it is on disk when this returns."""
        self.add_all({request: answer})

    def add_all(self, answers: Mapping[str, Answer]) -> None:
        """Store answers; they are on disk when this returns."""
        with self._lock, full_disk_reported(self.file.parent):
            self.file.parent.mkdir(parents=True, exist_ok=True)
            with open(self.file, "ab") as opened:
                for request, answer in answers.items():
                    opened.write(b"\n")  # start a new line, since the last one may be truncated
                    self._places[request] = opened.tell()
                    opened.write(json.dumps({"request": request, **answer._asdict()}).encode())
                opened.flush()
                os.fsync(opened.fileno())


def _records(file: Path) -> Iterator[tuple[str, int, Answer]]:
    """Yield the request, place and answer of each complete line of a file."""
    if not file.is_file():
        return
    place = 0
    with open(file, "rb") as opened:
        for line in opened:
            if record := _record(line):
                yield record[0], place, record[1]
            place += len(line)


def _record(line: bytes) -> tuple[str, Answer] | None:
    """The request and the answer of a line; None for an incomplete line."""
    try:
        record = plain_json(line)
        request, answer = record.pop("request"), Answer(**record)
    except (ValueError, TypeError, KeyError, AttributeError):
        return None
    counted = all(count is None or type(count) is int for count in (answer.prompt_tokens, answer.completion_tokens))
    whole = isinstance(request, str) and isinstance(answer.text, str) and isinstance(answer.seconds, float) and counted
    return (request, answer) if whole else None
