"""The client of Elasticsearch, against a small HTTP server that speaks the endpoints needed (no real server is tried)."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

import pytest

from ranktrial.bm25.server import Server, credentials, definition, index_name
from ranktrial.common.errors import UserError
from ranktrial.ir.collection import Document, write_corpus, write_queries
from ranktrial.ir.trec import read_run
from scripts.bm25 import index as index_script
from scripts.bm25 import search as search_script
from tests.support.calling import call

DOCUMENTS = [
    Document("1", "a zebra", "lion lion"),
    Document("2", "", "zebra zebra zebra lion"),
    Document("ünï/code", "tiger", ""),
    Document("empty", "", ""),
]
SETTINGS = {"analyzer": "standard", "fields": "best", "k1": 1.2, "b": 0.75, "depth": 2}


class FakeServer(ThreadingHTTPServer):
    """Keeps indexes in memory; a document's score in a field is how often it has the query's words."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.indexes: dict[str, dict] = {}
        self.requests: list[tuple[str, str]] = []
        self.authorization: str | None = None
        self.refuses: str | None = None
        self.url = f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    def log_message(self, *arguments) -> None:
        pass

    def answer(self, body, status: int = 200) -> None:
        content = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("X-Elastic-Product", "Elasticsearch")
        self.send_header("Content-Type", "application/vnd.elasticsearch+json;compatible-with=9")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def do(self) -> None:
        kept = self.server.indexes
        path = urlsplit(self.path).path
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
        self.server.requests.append((self.command, path))
        self.server.authorization = self.headers.get("Authorization")
        name, _, action = path.strip("/").partition("/")
        if self.server.refuses and self.server.refuses in path:
            reason = {"type": "security_exception", "reason": "not allowed"}
            return self.answer({"error": reason | {"root_cause": [reason]}, "status": 403}, 403)
        if not name:
            return self.answer({"version": {"number": "9.9.9"}, "tagline": "You Know, for Search"})
        if name == "_bulk":
            lines = [json.loads(line) for line in body.splitlines()]
            items = []
            for action, source in zip(lines[::2], lines[1::2], strict=True):
                kept[action["index"]["_index"]]["documents"][action["index"]["_id"]] = source
                items.append({"index": {"_id": action["index"]["_id"], "status": 201}})
            return self.answer({"errors": False, "took": 1, "items": items})
        if self.command == "PUT" and not action:
            kept[name] = {"documents": {}, **json.loads(body)}
            return self.answer({"acknowledged": True})
        if name not in kept:
            reason = {"type": "index_not_found_exception", "reason": f"no such index [{name}]"}
            return self.answer({"error": reason | {"root_cause": [reason]}, "status": 404}, 404)
        if self.command == "DELETE":
            del kept[name]
            return self.answer({"acknowledged": True})
        if action == "_mapping":
            if self.command == "PUT":
                kept[name]["mappings"] |= json.loads(body)
                return self.answer({"acknowledged": True})
            return self.answer({name: {"mappings": kept[name]["mappings"]}})
        if action == "_count":
            return self.answer({"count": len(kept[name]["documents"])})
        if action == "_search":
            return self.answer(self.search(kept[name]["documents"], json.loads(body)))
        return self.answer({"_shards": {"failed": 0}})

    def search(self, documents: dict, asked: dict) -> dict:
        query = asked["query"]["multi_match"]
        assert query["type"] == "best_fields"
        words = query["query"].split()
        scores = {
            name: max(sum(source[field].split().count(word) for word in words) for field in query["fields"])
            for name, source in documents.items()
        }
        best = sorted((name for name in scores if scores[name]), key=lambda name: -scores[name])[: asked["size"]]
        hits = [{"_id": name, "_score": float(scores[name])} for name in best]
        return {"timed_out": False, "_shards": {"failed": 0}, "hits": {"hits": hits}}

    do_GET = do_PUT = do_POST = do_HEAD = do_DELETE = do


@pytest.fixture
def server():
    made = FakeServer()
    threading.Thread(target=made.serve_forever, daemon=True).start()
    yield made
    made.shutdown()
    made.server_close()


@pytest.fixture(autouse=True)
def no_credentials(monkeypatch):
    for name in ("API_KEY", "USERNAME", "PASSWORD", "CA_CERTS"):
        monkeypatch.delenv(f"ELASTICSEARCH_{name}", raising=False)


def fill(folder, url: str):
    write_corpus(folder / "corpus.jsonl", DOCUMENTS)
    settings = SETTINGS | {"url": url}
    paths = {"corpus": folder / "corpus.jsonl", "record": folder / "es.json"}
    call(index_script.index_elasticsearch, **paths, settings=settings)
    return json.loads((folder / "es.json").read_text())


def search(folder, excluded=None, depth=2):
    write_queries(folder / "queries.jsonl", {"q1": "zebra", "q2": "lion", "none": "bear"}, excluded or {})
    paths = {"index": folder / "es.json", "queries": folder / "queries.jsonl", "run": folder / "run.trec.gz"}
    settings = SETTINGS | {"tag": "es", "depth": depth}
    call(search_script.search, **paths, timing=folder / "timing.json", settings=settings)
    return read_run(folder / "run.trec.gz"), json.loads((folder / "timing.json").read_text())


def test_a_corpus_is_indexed_and_searched(server, tmp_path, capsys):
    record = fill(tmp_path, server.url)
    assert {key: record[key] for key in ("url", "version", "documents")} == {
        "url": server.url, "version": "9.9.9", "documents": 3,
    }  # fmt: skip
    assert record["settings"]["similarity"]["default"] == {"type": "BM25", "k1": 1.2, "b": 0.75}
    kept = server.indexes[record["index"]]
    assert kept["settings"] == record["settings"]
    assert kept["mappings"]["properties"] == record["mappings"]["properties"]
    assert kept["documents"]["ünï/code"] == {"title": "tiger", "text": ""}
    run, timing = search(tmp_path)
    assert run == {"q1": {"2": 3.0, "1": 1.0}, "q2": {"1": 2.0, "2": 1.0}}
    assert timing["elasticsearch"] == record
    assert timing["queries_without_results"] == 1
    assert "3 of 4 documents" in capsys.readouterr().err


def test_a_document_that_is_excluded_for_a_query_is_left_out_before_the_cut(server, tmp_path):
    fill(tmp_path, server.url)
    run, _ = search(tmp_path, excluded={"q1": {"2"}, "none": {"1", "2"}}, depth=1)
    assert run == {"q1": {"1": 1.0}, "q2": {"1": 2.0}}


def test_an_index_is_made_once_and_again_when_it_is_not_whole(server, tmp_path):
    record = fill(tmp_path, server.url)
    del server.requests[:]
    assert fill(tmp_path, server.url) == record
    assert server.requests and all(path != "/_bulk" for _, path in server.requests)
    kept = server.indexes[record["index"]]
    del kept["mappings"]["_meta"], kept["documents"]["1"]  # as a killed job would have left it
    assert fill(tmp_path, server.url) == record
    assert len(server.indexes[record["index"]]["documents"]) == 3


def test_another_corpus_or_other_settings_are_another_index():
    usual = definition(**SETTINGS)
    names = {index_name(corpus, made) for corpus in "ab" for made in (usual, definition(**SETTINGS | {"k1": 0.9}))}
    assert len(names) == 4
    assert definition(**SETTINGS | {"depth": 20000})["settings"]["max_result_window"] == 30000
    assert list(definition(**SETTINGS | {"fields": "together"})["mappings"]["properties"]) == ["contents"]


def test_credentials_come_from_the_environment_and_are_kept_nowhere(server, tmp_path, monkeypatch):
    monkeypatch.setenv("ELASTICSEARCH_API_KEY", "c2VjcmV0")
    fill(tmp_path, server.url)
    search(tmp_path)
    assert server.authorization == "ApiKey c2VjcmV0"
    assert all("c2VjcmV0" not in (tmp_path / name).read_text() for name in ("es.json", "timing.json"))
    environment = {"ELASTICSEARCH_USERNAME": "me", "ELASTICSEARCH_PASSWORD": "word", "ELASTICSEARCH_CA_CERTS": "ca.pem"}
    assert credentials(environment) == {"basic_auth": ("me", "word"), "ca_certs": "ca.pem"}
    with pytest.raises(UserError, match="give them in the environment"):
        Server("http://me:word@localhost:9200")


@pytest.mark.parametrize("url", ["http://127.0.0.1:9", "http://no-such-host.invalid:9200"])
def test_a_server_that_does_not_answer_is_one_line(tmp_path, url):
    with pytest.raises(UserError, match=rf"^{url}: no Elasticsearch server answers: [^\n]+$"):
        fill(tmp_path, url)
    assert not (tmp_path / "es.json").exists()


def test_what_the_server_refuses_and_an_index_that_is_gone_are_one_line(server, tmp_path):
    server.refuses = "_bulk"
    with pytest.raises(UserError, match=r"^[^\n]*the server refuses: [^\n]*not allowed[^\n]*$"):
        fill(tmp_path, server.url)
    assert not (tmp_path / "es.json").exists()
    server.refuses = None
    fill(tmp_path, server.url)
    server.indexes.clear()
    with pytest.raises(UserError, match=r"^[^\n]*the server refuses: [^\n]*no such index[^\n]*$"):
        search(tmp_path)
    assert not (tmp_path / "run.trec.gz").exists()
