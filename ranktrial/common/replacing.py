"""Writing a small file atomically, for files that are not outputs of jobs (for those, see files.atomic_path)."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary path beside `path`, of this process alone. Once the block succeeds, it replaces `path`.

    Its name is short, since that of `path` may already have the maximum length of the file system.
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
    """Write a file atomically, so that no other process sees half of it."""
    with replacing(path) as temporary:
        temporary.write_bytes(content)
