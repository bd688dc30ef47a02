"""BM25 with Lucene or Elasticsearch: analyser, fields, feedback, and k1 and b, either given or tuned on dev."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from ranktrial.common.keys import Needs, Not, Rule, Share
from ranktrial.configuration.checker import Checker
from ranktrial.experiment.records import System
from ranktrial.experiment.systems._lexical import (
    LUCENE,
    Lexical,
    LexicalKeys,
    Settings,
    Similarity,
    feedback_values,
    grid_of,
    lexical_settings,
    parameters_of_entry,
    plain_lists,
    settings_of,
)

NAME = "bm25"
PYSERINI_BM25 = {"k1": 0.9, "b": 0.4}
ELASTICSEARCH_BM25 = {"k1": 1.2, "b": 0.75}
SIMILARITY = Similarity(NAME, "BM25", PYSERINI_BM25, {"k1": [0.6, 0.9, 1.2, 1.5, 2.0], "b": [0.2, 0.4, 0.6, 0.75, 0.9]})


@dataclass(frozen=True, kw_only=True)
class Parameters:
    """The parameters of BM25."""

    k1: Annotated[
        Annotated[float, Rule(minimum=0, maximum=1000)] | None,
        "bm25: saturation of term frequencies; default 0.9 as in Pyserini; with Elasticsearch, its default 1.2",
    ] = None
    b: Annotated[
        Share | None,
        "bm25: normalisation by document length; default 0.4 as in Pyserini; with Elasticsearch, its default 0.75",
    ] = None


Grid: Any = grid_of(Parameters)


@dataclass(frozen=True, kw_only=True)
class Keys(Parameters, LexicalKeys):
    engine: Annotated[
        Literal["lucene", "elasticsearch"] | None,
        "bm25: Lucene within the job (default), or an Elasticsearch server",
        Needs("url", of="elasticsearch"),
    ] = None
    url: Annotated[
        str | None,
        "the server's address; user name and password are read only from the environment",
        Needs("engine: elasticsearch"),
        Rule(title="an address that begins with http:// or https://", pattern="^https?://[^{}<>]+$"),
    ] = None
    tune: Annotated[
        bool | None,
        "bm25: choose k1 and b on the dev split, then the parameters of feedback",
        Not("engine: elasticsearch", LUCENE, of=True),
    ] = None
    grid: Annotated[
        Grid | None, "bm25: the values tried when tuning, and the measure that decides", Needs("tune: true")
    ] = None


PLAIN_LISTS = plain_lists(SIMILARITY)


class Bm25(Lexical):
    def settings(self, check: Checker, key: str, entry: LexicalKeys) -> Settings:
        assert isinstance(entry, Keys)
        return bm25_settings(check, key, entry)

    def engine(self, system: System) -> str:
        return "Elasticsearch" if settings_of(system).url else "Lucene"


TYPE = Bm25(SIMILARITY)


def bm25_settings(check: Checker, key: str, entry: Keys) -> Settings:
    """Return the settings of a BM25 system with Lucene or with Elasticsearch, which has other defaults.

    Raises UserError for keys that exclude each other.
    """
    on_server = entry.engine == "elasticsearch"
    if entry.url is not None and "@" in entry.url:
        raise check.fail(f"{key}.url", "no name or password here: give them in the environment")
    if not on_server:
        return lexical_settings(check, key, entry, SIMILARITY)
    feedback_values(check, key, entry)
    return Settings(
        analyzer=entry.analyzer or "standard",
        fields=entry.fields or "best",
        url=entry.url,
        parameters=parameters_of_entry(entry, ELASTICSEARCH_BM25),
    )
