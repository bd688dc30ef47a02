"""Write the terms of each query after analysis by an index's analyser, in their order.

Reads prepared queries, writes a JSON object: query id -> list of terms, as searching with this analyser takes them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from ranktrial.bm25.lucene import java_class, make_analyzer, with_java_errors
from ranktrial.common.command_line import parser, run
from ranktrial.common.errors import UserError
from ranktrial.common.files import write_json
from ranktrial.ir.collection import read_queries


@dataclass(frozen=True)
class Settings:
    analyzer: Annotated[str, "english stems and drops stop words, standard does neither; or the code of a language"]


def analysed(queries: dict[str, str], analyzer: str) -> dict[str, list[str]]:
    """The terms of each query."""
    java, tools = make_analyzer(analyzer), java_class("io.anserini.analysis.AnalyzerUtils")
    return {query: list(tools.analyze(java, text)) for query, text in queries.items()}


def main() -> None:
    options = parser(__doc__, "queries", "terms", settings=Settings).parse_args()
    queries = read_queries(options.queries)
    if not queries:
        raise UserError(f"{options.queries}: no query to analyse; the dataset lacks this split")
    write_json(options.terms, analysed(queries, options.settings.analyzer), ensure_ascii=False, indent=1)


if __name__ == "__main__":
    run(with_java_errors(main))
