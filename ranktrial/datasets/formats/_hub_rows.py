"""The rows of a dataset of the hub in parquet and JSON lines, and the meaning of their columns.

Files are streamed; from parquet only the requested columns are read, a few hundred rows at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ranktrial.common.errors import UserError
from ranktrial.datasets.formats._trec_documents import ID_KEYS, TEXT_KEYS
from ranktrial.ir.collection import json_lines

BATCH = 500  # rows of parquet in memory
Columns = Mapping[str, tuple[str, ...]]  # what is needed -> its possible names, in order of preference
DOCUMENT: Columns = {"id": (*ID_KEYS, "corpus-id"), "text": TEXT_KEYS}
QUERY: Columns = {"id": ("_id", "id", "query-id", "query_id", "qid"), "text": ("text", "query", "question")}
JUDGEMENT: Columns = {
    "query": ("query-id", "query_id", "qid"),
    "document": ("corpus-id", "corpus_id", "docid", "doc_id", "pid"),
    "grade": ("score", "relevance", "label"),
}
PAIR: Columns = {role: names for role, names in JUDGEMENT.items() if role != "grade"}


def columns(path: Path) -> list[str]:
    """The columns of a file; for JSON lines, the keys of the first. Raises UserError for another or damaged file."""
    if path.suffix != ".parquet":
        return next((list(record) for _, record in json_lines(path)), [])
    import pyarrow.parquet as parquet

    try:
        return list(parquet.read_schema(path).names)
    except Exception as error:  # pyarrow raises many kinds
        raise UserError(f"{path}: not a parquet file, or damaged ({_said(error)})") from None


def chosen(path: Path, needed: Columns, what: str) -> dict[str, str]:
    """The column for each need. Raises UserError, with the columns that the file has, if one is not found.

    Judgements of queries and documents alone (NanoBEIR) need no grade: each pair is relevant.
    """
    there = columns(path)
    if needed is JUDGEMENT and len(there) == len(PAIR) and all(set(names) & set(there) for names in PAIR.values()):
        needed = PAIR
    found = {}
    for role, names in needed.items():
        column = next((name for name in names if name in there), None)
        if column is None:
            expected = f"{what} need {role} as {' or '.join(names)}"
            raise UserError(f"{path}: has the columns {', '.join(map(str, there[:20])) or 'none'}; {expected}")
        found[role] = column
    return found


def rows(path: Path, wanted: list[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each row of a file with its place; from parquet, only with the wanted columns."""
    if path.suffix != ".parquet":
        yield from ((f"{path}:{number}", record) for number, record in json_lines(path))
        return
    import pyarrow.parquet as parquet

    number = 0
    try:
        with parquet.ParquetFile(path) as file:
            for batch in file.iter_batches(batch_size=BATCH, columns=wanted):
                for record in batch.to_pylist():
                    number += 1
                    yield f"{path}: row {number}", record
    except (OSError, ValueError) as error:  # pyarrow's own are of these
        raise UserError(f"{path}: damaged behind row {number} ({_said(error)})") from None


def _said(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:200]
