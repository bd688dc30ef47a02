"""Fetch datasets through ir_datasets into its home folder, with a record of the files.

The library checks each file that it downloads by the MD5 that it documents. All documents, queries and judgements are
read once, because only then is everything unpacked, so that later jobs need no network. The record names the files with
their MD5, so it is the same wherever they are fetched; the job prepare reads it.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ranktrial.common.errors import UserError
from ranktrial.common.files import write_json
from ranktrial.common.progress import Progress
from ranktrial.datasets.formats._ir_library import (
    SCHEME,
    KnownFile,
    files_of,
    find,
    guarded,
    home_beside,
    md5,
    open_library,
    version,
)

PARTS = ("docs", "queries", "qrels")


def fetch_ids(target: Path, location: str, ids: list[str]) -> None:
    """Let the library fetch the documents of a location and the queries and judgements of ids; write the record."""
    home = home_beside(target)
    library = open_library(home, network=True)
    name = location.removeprefix(SCHEME)
    documents = find(library, name, "docs")
    datasets = {subset: find(library, subset, "queries") for subset in ids}
    with alone(home):
        counts = {name: {"documents": exhausted(name, documents.docs_iter, f"documents of {name}", documents)}}
        for subset, dataset in datasets.items():
            counts.setdefault(subset, {})["queries"] = exhausted(subset, dataset.queries_iter, "queries", dataset)
            if dataset.has("qrels"):
                counts[subset]["judgements"] = exhausted(subset, dataset.qrels_iter, "judgements", dataset)
        files = {file: None for file in files_of(documents, "docs")}
        for dataset in datasets.values():
            files |= dict.fromkeys(files_of(dataset, "queries", "qrels"))
        described = [described_file(file, home) for file in files]
    record = {"library": version(library), "documents": name, "ids": ids, "counts": counts, "files": described}
    write_json(target, record, indent=1)


@contextlib.contextmanager
def alone(home: Path) -> Iterator[None]:
    """Wait until no other job fetches into this home: in the library, two would write the same temporary file."""
    if not os.access(home, os.W_OK):  # nothing can be written there
        yield
        return
    with open(home / ".ranktrial-lock", "w") as lock:
        fcntl.lockf(lock, fcntl.LOCK_EX)
        yield


def exhausted(name: str, items: Any, what: str, dataset: Any) -> int:
    """The number of items, each of which is read. Raises UserError, with instructions for files that users must get."""
    progress = Progress(f"fetch {what}", 0)
    count = 0
    try:
        for _ in guarded(name, items):
            count += 1
            progress.add()
    except UserError as error:
        lacking = [file for file in files_of(dataset, *PARTS) if not there(file)]
        if by_hand := [file.instructions for file in lacking if file.instructions]:
            raise UserError(f"{SCHEME}{name}: cannot be fetched: {by_hand[0]}") from None
        urls = [file.url for file in lacking if file.url]
        if urls and not any(url in str(error) for url in urls):
            raise UserError(f"{error}; still to be fetched: {', '.join(urls[:3])}") from None
        raise error
    return count


def there(file: KnownFile) -> bool:
    return file.path is not None and file.path.exists()


def described_file(file: KnownFile, home: Path) -> dict[str, Any]:
    """The record of a file. A user's own file that differs from the documented one is reported."""
    entry: dict[str, Any] = {"url": file.url, "documented_md5": file.md5, "documented_bytes": file.size}
    kept = home.resolve()  # a file in it may be a link, which leads elsewhere
    if file.path is not None and file.path.is_file() and file.path.is_relative_to(kept):
        inside = file.path.relative_to(kept).as_posix()
        entry |= {"path": inside, "md5": md5(file.path), "bytes": file.path.stat().st_size}
        if file.md5 and entry["md5"] != file.md5.lower():
            problem = f"has the MD5 {entry['md5']}, and ir_datasets documents {file.md5}: it is not the published file"
            print(f"{inside}: {problem}", file=sys.stderr)
    return {key: value for key, value in entry.items() if value is not None}
