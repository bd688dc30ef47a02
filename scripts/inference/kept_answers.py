"""Answers of an endpoint, kept in a file from the moment that each comes: what was paid for is not asked again.

The file has a JSON object a line, under the SHA-256 of its request. It lies beside the outputs of a job and is none of
them: a job that was killed goes on, and one that runs again takes what it asked before. A line that was cut when its
writer was killed counts for nothing.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
from pathlib import Path

from scripts.common.files import full_disk_reported
from scripts.common.keys import JsonObject
from scripts.inference.endpoint import Answer


def digest(url: str, request: JsonObject) -> str:
    """What identifies a request: endpoint, model, prompt and all else that is sent, but for the key."""
    return hashlib.sha256(json.dumps([url, request], sort_keys=True).encode()).hexdigest()


class KeptAnswers:
    """The answers of a file by their request. Several threads can add to them."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self._lock = threading.Lock()
        self._answers = dict(filter(None, map(_record, _lines(file))))

    def __len__(self) -> int:
        return len(self._answers)

    def get(self, request: str) -> Answer | None:
        """The answer to a request by its digest; None where it was not asked."""
        return self._answers.get(request)

    def add(self, request: str, answer: Answer) -> None:
        """Keep an answer; it is on the disk when this returns."""
        line = json.dumps({"request": request, **answer._asdict()})
        with self._lock, full_disk_reported(self.file.parent):
            self._answers[request] = answer
            self.file.parent.mkdir(parents=True, exist_ok=True)
            with open(self.file, "a", encoding="ascii") as opened:
                opened.write(f"\n{line}")  # a new line first: the last one may have been cut
                opened.flush()
                os.fsync(opened.fileno())


def _lines(file: Path) -> list[str]:
    return file.read_text(encoding="ascii", errors="replace").splitlines() if file.is_file() else []


def _record(line: str) -> tuple[str, Answer] | None:
    """The request and the answer of a line; None for one that is not whole."""
    try:
        record = json.loads(line)
        request, answer = record.pop("request"), Answer(**record)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None
    counted = all(count is None or type(count) is int for count in (answer.prompt_tokens, answer.completion_tokens))
    whole = isinstance(request, str) and isinstance(answer.text, str) and isinstance(answer.seconds, float) and counted
    return (request, answer) if whole else None
