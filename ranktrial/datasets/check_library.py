"""Whether ir_datasets can provide what an experiment names, without fetching or writing anything."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from ranktrial.common.errors import UserError
from ranktrial.datasets.formats._ir_library import (
    HOME,
    SCHEME,
    files_of,
    find,
    home_beside,
    one_line,
    open_library,
    version,
)
from ranktrial.datasets.formats._ir_texts import document_parts, query_text


def library_state(
    location: str,
    ids: list[str],
    download: Path,
    ask: Callable[[str], str],
    fields: list[str] | None = None,
    query_field: str | None = None,
) -> str:
    """The state of what a location and ids name: whether it is known, has the fields, and its files are available.

    `ask` requests a URL. Raises UserError for what the library does not know or its servers refuse.
    """
    name = location.removeprefix(SCHEME)
    home = home_beside(download)
    with tempfile.TemporaryDirectory() as empty:
        # Importing the library makes folders in its home.
        library = open_library(home if home.is_dir() else Path(empty), network=False)
        documents = find(library, name, "docs")
        with one_line(name):
            document_parts(documents.docs_cls(), fields, f"{SCHEME}{name}")
        files = dict.fromkeys(files_of(documents, "docs"))
        for subset in ids:
            dataset = find(library, subset, "queries")
            with one_line(subset):
                query_text(dataset.queries_cls(), query_field, f"{SCHEME}{subset}")
            files |= dict.fromkeys(files_of(dataset, "queries", "qrels"))
        missing = [file for file in files if file.path is None or not file.path.exists()]
    for file in missing:
        if file.instructions:
            raise UserError(f"{SCHEME}{name}: cannot be fetched: {file.instructions}")
    here = f"{version(library)} knows it"
    if os.environ.get(HOME) and not missing:
        return f"{here}, its files are here"
    for file in missing:
        if file.url and not file.asks_otherwise:
            ask(file.url)
    size = sum(file.size or 0 for file in missing)
    return f"{here}, {len(missing)} of {len(files)} files to be fetched, about {size / 1e6:.1f} MB"
