"""Records of results: frozen dataclasses stored as JSON, read and written like settings (settings.py).

A field without a default is always written; a field equal to its default is left out. Tuples are lists in JSON. The
keys of a field marked INLINE (keys.py) are keys of the outer object, so that a record with parts is one flat object in
its file.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, TypeVar

from ranktrial.common.files import write_text
from ranktrial.common.keys import given
from ranktrial.common.settings import read_settings

Record = TypeVar("Record")


def read_record(kind: type[Record], path: Path) -> Record:
    """The record of a JSON file. Raises UserError, with file and key, if it does not match."""
    return read_settings(kind, json.loads(path.read_text(encoding="utf-8")), str(path))


def write_record(path: Path, record: Any, indent: int = 2, ensure_ascii: bool = True) -> None:
    """Write a record as JSON."""
    write_text(path, json.dumps(given(record), indent=indent, allow_nan=False, ensure_ascii=ensure_ascii) + "\n")
