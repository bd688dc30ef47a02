"""Write the terms of each query after analysis by an index's analyser, in their order.

Reads prepared queries, writes a JSON object: query id -> list of terms, as searching with this analyser takes them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from ranktrial.bm25.lucene import java_class, make_analyzer, with_java_errors
from ranktrial.common.command_line import job
from ranktrial.common.errors import UserError
from ranktrial.common.files import write_json
from ranktrial.ir.collection import read_queries


def analysed(queries: dict[str, str], analyzer: str) -> dict[str, list[str]]:
    """The terms of each query."""
    java, tools = make_analyzer(analyzer), java_class("io.anserini.analysis.AnalyzerUtils")
    return {query: list(tools.analyze(java, text)) for query, text in queries.items()}


@with_java_errors
def analyse_queries(
    queries: Path, terms: Path,
    analyzer: Annotated[str, "english stems and drops stop words, standard does neither; or the code of a language"],
) -> None:  # fmt: skip
    """Write the terms of each query after analysis by an index's analyser, in their order."""
    text_of = read_queries(queries)
    if not text_of:
        raise UserError(f"{queries}: no query to analyse; the dataset lacks this split")
    write_json(terms, analysed(text_of, analyzer), ensure_ascii=False, indent=1)


if __name__ == "__main__":
    job(analyse_queries)
