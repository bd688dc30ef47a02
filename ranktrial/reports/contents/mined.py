"""Mined and filtered negatives, a line for each dataset: from the records that mining writes beside them."""

from __future__ import annotations

from pathlib import Path

from ranktrial.common.records import read_record
from ranktrial.records.mining import MiningRecord
from ranktrial.reports.writing.content import Span, Text, counted

SUFFIX = ".mining.json"


def mined(paths: list[Path]) -> list[Text]:
    """A line for each dataset's negatives: the candidates that each rule removed, and the queries with too few."""
    names = [f"{path.parent.name}, {path.name.removesuffix(SUFFIX)}" for path in paths]
    records = [read_record(MiningRecord, path) for path in paths]
    return [(Span(name, "strong"), f": {_as_text(record)}.") for name, record in zip(names, records, strict=True)]


def _as_text(record: MiningRecord) -> str:
    negatives = ", ".join(f"{count:,} from {source}" for source, count in record.negatives.items())
    words = [f"{negatives}, of {record.candidates:,} candidates of {record.queries:,} queries"]
    by = f" (scores of {record.cross_encoder})" if record.cross_encoder else ""
    words += [f"{count:,} filtered by {rule} {record.rules[rule]:g}{by}" for rule, count in record.filtered.items()]
    if record.equal_texts:
        words.append(
            f"{record.equal_texts:,} left out because their text equals that of the query or of a relevant document"
        )
    if record.queries_without_positive_score:
        words.append(f"{_queries(record.queries_without_positive_score)} with a positive that the run lacks")
    if record.queries_not_found:
        words.append(
            f"not used for training: {_queries(record.queries_not_found)} whose relevant document is not found"
        )
    if record.queries_without_negatives:
        words.append(f"not used for training: {_queries(record.queries_without_negatives)} without a negative left")
    if record.queries_with_fewer_negatives:
        words.append(f"{_queries(record.queries_with_fewer_negatives)} with fewer negatives than asked for")
    return "; ".join(words)


def _queries(number: int) -> str:
    return counted(number, "query", "queries")
