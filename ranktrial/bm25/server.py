"""An Elasticsearch server: its address, credentials, an index of a corpus, and searches.

The address is from the configuration, the credentials only from the environment (ELASTICSEARCH_API_KEY, or
ELASTICSEARCH_USERNAME and ELASTICSEARCH_PASSWORD; ELASTICSEARCH_CA_CERTS names a file of certificates), so that neither
configurations nor results contain a secret.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable
from typing import TypeVar
from urllib.parse import urlsplit

from elastic_transport import ApiError, TransportError
from elasticsearch import Elasticsearch
from elasticsearch.helpers import BulkIndexError, bulk

from ranktrial.bm25.lucene import contents
from ranktrial.common.errors import UserError
from ranktrial.common.progress import track
from ranktrial.ir.collection import Document
from ranktrial.ir.trec import Run

T = TypeVar("T")
TIMEOUT = 60  # seconds that one request may take
WINDOW = 10000  # hits per query beyond the depth of a run: the maximum number of excluded documents


def credentials(environment: dict[str, str]) -> dict:
    """The credentials in the environment, as arguments of the client."""
    arguments = {}
    if key := environment.get("ELASTICSEARCH_API_KEY"):
        arguments["api_key"] = key
    elif name := environment.get("ELASTICSEARCH_USERNAME"):
        arguments["basic_auth"] = (name, environment.get("ELASTICSEARCH_PASSWORD", ""))
    if certificates := environment.get("ELASTICSEARCH_CA_CERTS"):
        arguments["ca_certs"] = certificates
    return arguments


def definition(analyzer: str, fields: str, k1: float, b: float, depth: int) -> dict:
    """The settings and mappings of an index: one shard, so that idf and ties are those of one collection."""
    properties = {name: {"type": "text", "analyzer": analyzer} for name in contents(Document("", "", ""), fields)}
    return {
        "settings": {
            "number_of_shards": 1,
            "number_of_replicas": 0,
            "max_result_window": depth + WINDOW,
            "similarity": {"default": {"type": "BM25", "k1": k1, "b": b}},
        },
        "mappings": {"dynamic": False, "properties": properties},
    }


def index_name(corpus_sha256: str, made: dict) -> str:
    """The name of an index, which identifies its corpus and settings."""
    content = json.dumps([corpus_sha256, made], sort_keys=True)
    return "ranktrial-" + hashlib.sha256(content.encode()).hexdigest()[:20]


class Server:
    """A connection. Raises UserError, in one line, if the server does not answer or refuses."""

    def __init__(self, url: str) -> None:
        if urlsplit(url).username or urlsplit(url).password:
            raise UserError("the server's URL contains a name or password: give them in the environment")
        self.url = url
        try:
            self.client = Elasticsearch(url, request_timeout=TIMEOUT, **credentials(dict(os.environ)))
        except ValueError as error:
            raise UserError(f"{url}: not the address of an Elasticsearch server: {error}") from None
        self.version = self.ask(lambda: self.client.info()["version"]["number"])

    def create(self, name: str, made: dict, documents: Iterable[Document], fields: str, total: int) -> int:
        """Make the index `name`, unless it exists and is complete; return its number of documents.

        An index is complete if its mapping, written last, says so; one left by a killed job is made again.
        """
        if self.ask(lambda: self.client.indices.exists(index=name)):
            mapping = self.ask(lambda: self.client.indices.get_mapping(index=name))[name]["mappings"]
            if "documents" in mapping.get("_meta", {}):
                return mapping["_meta"]["documents"]
            self.ask(lambda: self.client.indices.delete(index=name))
        self.ask(lambda: self.client.indices.create(index=name, **made))
        actions = (
            {"_index": name, "_id": document.id, **contents(document, fields)}
            for document in track(documents, "indexed", total, "document")
            if document.contents
        )
        count, _ = self.ask(lambda: bulk(self.client, actions))
        self.ask(lambda: self.client.indices.refresh(index=name))
        arrived = self.ask(lambda: self.client.count(index=name))["count"]
        if arrived != count:
            raise UserError(f"{self.url}: {arrived} of {count} documents arrived in the index {name}")
        self.ask(lambda: self.client.indices.put_mapping(index=name, meta={"documents": count}))
        return count

    def ask(self, request: Callable[[], T]) -> T:
        try:
            return request()
        except BulkIndexError as error:
            first = next(iter(error.errors[0].values())).get("error", {})
            message = f"{len(error.errors)} documents are refused, the first one: {first.get('reason', first)}"
        except ApiError as error:
            message = f"the server refuses: {error}"
        except TransportError as error:
            message = f"no Elasticsearch server answers: {error}"
        raise UserError(f"{self.url}: {' '.join(message.split())}")


class ServerSearcher:
    """An index on a server; the methods are those of the searchers of local indexes."""

    def __init__(self, server: Server, index: str, fields: str) -> None:
        self.server, self.index = server, index
        self.fields = list(contents(Document("", "", ""), fields))

    def search(self, text: str, depth: int) -> dict[str, float]:
        """The `depth` best documents of one query, with their scores, each that of the better field."""
        query = {"multi_match": {"query": text, "fields": self.fields, "type": "best_fields"}}
        request = {"index": self.index, "query": query, "size": depth, "source": False}
        response = self.server.ask(lambda: self.server.client.search(**request))
        if response["timed_out"] or response["_shards"]["failed"]:
            raise UserError(f"{self.server.url}: the index {self.index} answers in part only; nothing was kept")
        return {hit["_id"]: hit["_score"] for hit in response["hits"]["hits"]}

    def batch(self, queries: dict[str, str], depth: int, label: str = "searched") -> Run:
        """The `depth` best documents of each query, in the order of the queries."""
        return {query: self.search(queries[query], depth) for query in track(queries, label, len(queries), "query")}
