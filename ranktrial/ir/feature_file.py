"""Feature files: a Parquet table with one row per query and document, and the origin of its numbers.

Columns: `query` and `document` (ids), `grade` (of the judgement; null if unjudged), then one column of 64-bit floats
per feature. Rows of a query are adjacent, in the order of the first stage. The file's metadata has, under
`ranktrial.features`, a JSON object: the features, the first stage, and the statistics and SHA-256 of each index.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ranktrial.common.errors import UserError
from ranktrial.common.files import atomic_path

KEY = b"ranktrial.features"
ID_COLUMNS = ("query", "document", "grade")


@dataclass(frozen=True)
class Features:
    """Rows of a feature file: `values` has one row per pair, one column per feature; a grade is None if unjudged."""

    queries: list[str]
    documents: list[str]
    grades: list[int | None]
    values: np.ndarray


class Writer:
    """Writes rows of features to a file, in batches."""

    def __init__(self, path: Path, temporary: Path, names: Sequence[str]) -> None:
        import pyarrow as arrow
        import pyarrow.parquet as parquet

        self.path, self.names, self.arrow = path, names, arrow
        ids = [("query", arrow.string()), ("document", arrow.string()), ("grade", arrow.int32())]
        self.schema = arrow.schema([*ids, *((name, arrow.float64()) for name in names)])
        self.parquet = parquet.ParquetWriter(temporary, self.schema, compression="zstd")

    def add(self, rows: Features) -> None:
        """Write rows. Raises UserError for the first feature that is not finite."""
        if not np.isfinite(rows.values).all():
            column = int(np.flatnonzero(~np.isfinite(rows.values).all(axis=0))[0])
            row = int(np.flatnonzero(~np.isfinite(rows.values[:, column]))[0])
            pair = f"query {rows.queries[row]} and document {rows.documents[row]}"
            number = f"{rows.values[row, column]}, not a finite number"
            raise UserError(f"{self.path}: feature {self.names[column]} of {pair} is {number}")
        columns = [rows.queries, rows.documents, rows.grades, *rows.values.T]
        self.parquet.write_table(self.arrow.table(columns, schema=self.schema))

    def close(self, about: dict[str, Any]) -> None:
        """Close the file with the origin of its numbers."""
        self.parquet.add_key_value_metadata({KEY: json.dumps(about, sort_keys=True).encode()})
        self.parquet.close()


@contextmanager
def writing(path: Path, names: Sequence[str]) -> Iterator[Writer]:
    """A writer of a feature file, which appears whole or not at all; the caller closes it."""
    with atomic_path(path) as temporary:
        writer = Writer(path, temporary, names)
        try:
            yield writer
        finally:
            writer.parquet.close()


def read_about(path: Path) -> dict[str, Any]:
    """The origin of a feature file's numbers. Raises UserError if the file is not one."""
    import pyarrow as arrow
    import pyarrow.parquet as parquet

    try:
        metadata = parquet.read_metadata(path).metadata or {}
        about: dict[str, Any] = json.loads(metadata[KEY])
        return about
    except (arrow.ArrowInvalid, KeyError, ValueError):
        raise UserError(f"{path}: is not a feature file, or is damaged") from None


def feature_names(path: Path) -> list[str]:
    """The names of the features in a feature file, in the order of its columns."""
    return [entry["name"] for entry in read_about(path)["features"]]


def check_index(path: Path, digests: dict[str, str]) -> None:
    """Raise UserError unless the features were computed from the indices with these SHA-256 (fields -> SHA-256)."""
    for fields, digest in digests.items():
        recorded = read_about(path).get("indices", {}).get(fields)
        if recorded is None:
            raise UserError(f"{path}: its features were computed from no index with the fields {fields}")
        if recorded["sha256"] != digest:
            words = f"{recorded['sha256'][:12]}…, and this one is {digest[:12]}…"
            raise UserError(f"{path}: its features were computed from another index ({words}); compute them again")


def read_features(path: Path, only: Sequence[str] | None = None) -> Iterator[Features]:
    """Yield the rows of a feature file in batches; of the features, only the columns `only` are read, which must exist.

    Raises UserError for a damaged file or a number not finite.
    """
    import pyarrow as arrow
    import pyarrow.parquet as parquet

    read_about(path)
    try:
        with parquet.ParquetFile(path) as file:
            names = file.schema_arrow.names
            if tuple(names[:3]) != ID_COLUMNS:
                raise UserError(f"{path}: expected the columns {', '.join(ID_COLUMNS)} and features, not {names[:3]}")
            asked = names if only is None else [*ID_COLUMNS, *only]
            for batch in file.iter_batches(columns=asked):
                read = dict(zip(batch.schema.names, batch.columns, strict=True))
                queries, documents, grades, *features = (read[name] for name in asked)
                values = np.stack([np.asarray(column, dtype=np.float64) for column in features], axis=1)
                if not np.isfinite(values).all():
                    raise UserError(f"{path}: contains a feature that is not a finite number")
                yield Features(queries.to_pylist(), documents.to_pylist(), grades.to_pylist(), values)
    except (arrow.ArrowInvalid, OSError) as error:
        raise UserError(f"{path}: is damaged ({str(error).splitlines()[0]})") from None
