"""An endpoint on this machine, which answers as a test says: chats, embeddings and scores."""

import hashlib
import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

Reply = tuple[int, dict[str, str], bytes]  # status, headers, content
SHOWN = re.compile(r"^\[(\d+)\] (.*)$", re.MULTILINE)


def said(text: str | None, **usage: int) -> Reply:
    """An answer of the protocol that says `text`."""
    content = {"choices": [{"message": {"role": "assistant", "content": text}}], "usage": usage}
    return 200, {"Content-Type": "application/json"}, json.dumps(content).encode()


def error(status: int, message: str = "", **headers: str) -> Reply:
    """What the protocol says of an error; in names of headers `_` is a hyphen."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return status, named, json.dumps({"error": {"message": message}}).encode()


def shown(request: dict) -> list[str]:
    """The passages that a request shows, in their order."""
    return [text for _, text in SHOWN.findall(request["messages"][-1]["content"])]


def by_words(request: dict) -> Reply:
    """Orders passages by how many words they share with the query: a judge that knows what is relevant."""
    content = request["messages"][-1]["content"]
    query = set(re.search(r"^Search Query: (.*)\.$", content, re.MULTILINE)[1].split())
    shares = {number: len(query & set(text.split())) for number, text in SHOWN.findall(content)}
    best_first = sorted(shares, key=lambda number: (-shares[number], int(number)))
    return said(" > ".join(f"[{number}]" for number in best_first), prompt_tokens=100, completion_tokens=10)


def graded(request: dict) -> Reply:
    """Grades a document by the share of the query's words that it holds: a judge that knows what is relevant."""
    asked = re.search(r"^Query: (.*)\n\nPassage: (.*)$", request["messages"][-1]["content"], re.MULTILINE)
    query, passage = set(asked[1].split()), set(asked[2].split())
    grade = round(3 * len(query & passage) / len(query))
    return said(f"The passage is read.\nfinal grade: {grade}", prompt_tokens=100, completion_tokens=10)


def answered(content: object) -> Reply:
    """An answer with this content."""
    return 200, {"Content-Type": "application/json"}, json.dumps(content).encode()


def vector(text: str, dimensions: int = 64) -> list[float]:
    """The words of a text, counted in buckets, and not of unit length."""
    counts = [0.0] * dimensions
    for word in text.split():
        counts[int(hashlib.sha256(word.encode()).hexdigest(), 16) % dimensions] += 2.0
    return counts


def shared(query: str, text: str) -> float:
    """How many words of a text are the query's."""
    return float(len(set(query.split()) & set(text.split())))


def embedded(request: dict) -> Reply:
    """OpenAI's answer to /embeddings, in another order than that of the texts."""
    data = [{"index": index, "embedding": vector(text)} for index, text in enumerate(request["input"])]
    tokens = sum(len(text.split()) for text in request["input"])
    return answered({"data": data[::-1], "usage": {"prompt_tokens": tokens, "total_tokens": tokens}})


def scored(request: dict) -> Reply:
    """The answer of Cohere, Jina and vLLM to /rerank, the best document first."""
    scores = [shared(request["query"], text) for text in request["documents"]]
    results = [{"index": index, "relevance_score": score} for index, score in enumerate(scores)]
    results.sort(key=lambda result: -result["relevance_score"])
    return answered({"results": results, "usage": {"total_tokens": 10 * len(results)}})


def embedded_by_tei(request: dict) -> Reply:
    """TEI's answer to /embed."""
    return answered([vector(text) for text in request["inputs"]])


def scored_by_tei(request: dict) -> Reply:
    """TEI's answer to /rerank."""
    return answered(
        [{"index": index, "score": shared(request["query"], text)} for index, text in enumerate(request["texts"])]
    )


class Asked:
    """What a server was asked: the paths, the headers and the bodies, in the order in which they came."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.requests: list[dict] = []
        self.headers: list[dict[str, str]] = []
        self.probes = 0


@contextmanager
def answering(
    answer: Callable[[dict], Reply] | dict[str, Callable[[dict], Reply]], probe: Reply = (200, {}, b"{}")
) -> Iterator[Asked]:
    """A server whose answers to chats are those of `answer`, or those to other paths by these.

    Whether it is there, `probe` tells.
    """
    answers = answer if isinstance(answer, dict) else {"chat/completions": answer}

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            asked.probes += self.path == "/v1/models"
            self.reply(probe)

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with lock:
                asked.requests.append(body)
                asked.headers.append(dict(self.headers))
            reply = answers.get(self.path.removeprefix("/v1/"), lambda request: error(404))
            self.reply(reply(body))

        def reply(self, reply: Reply) -> None:
            status, headers, content = reply
            self.send_response(status)
            for name, value in ({"Content-Length": str(len(content))} | headers).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *arguments: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    lock, asked = threading.Lock(), Asked(f"http://127.0.0.1:{server.server_port}/v1")
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    try:
        yield asked
    finally:
        server.shutdown()
        server.server_close()
