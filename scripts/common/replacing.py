"""Writing a small file whole or not at all, outside of what jobs make (see files.atomic_path for that)."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary path beside `path`, of this process alone. Once the block succeeds, it replaces `path`.

    Its name is short, as that of `path` may have all the characters that a file system takes.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    name = hashlib.sha256(os.fsencode(path.name)).hexdigest()[:12]
    temporary = path.with_name(f".{name}.{os.getpid()}.partial")
    try:
        yield temporary
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def write_whole(path: Path, content: bytes) -> None:
    """Write a file in one step, so that no other process sees half of it."""
    with replacing(path) as temporary:
        temporary.write_bytes(content)
