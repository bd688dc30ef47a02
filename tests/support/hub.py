"""A hub on this machine: repositories of datasets and models at commits, as huggingface_hub asks for them."""

import hashlib
import http.server
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import unquote, urlsplit

Repository = dict[str, dict[str, bytes]]  # commit -> name of a file -> content; the first commit is where it stands
API = re.compile(r"/api/(?:datasets|models)/(?P<id>[^/]+/[^/]+)(?:/(?P<what>revision|tree)/(?P<commit>[^/]+))?")
FILE = re.compile(r"(?:/datasets)?/(?P<id>[^/]+/[^/]+)/resolve/(?P<commit>[^/]+)/(?P<name>.+)")


class Hub(http.server.ThreadingHTTPServer):
    """Its repositories, and the files that were asked for, in their order."""

    daemon_threads = True

    def __init__(self, repositories: dict[str, Repository]) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.repositories, self.given = repositories, []
        self.url = f"http://127.0.0.1:{self.server_port}"


class Handler(http.server.BaseHTTPRequestHandler):
    server: Hub
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments: object) -> None:
        pass

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        path = unquote(urlsplit(self.path).path)
        asked = FILE.fullmatch(path) or API.fullmatch(path)
        repository = self.server.repositories.get(asked["id"]) if asked else None
        if repository is None:
            return self.answer(404, b"{}", {"X-Error-Code": "RepoNotFound"})
        commit = asked["commit"] or next(iter(repository))
        files = repository.get(commit)
        if files is None:
            return self.answer(404, b"{}", {"X-Error-Code": "RevisionNotFound"})
        if "name" in asked.groupdict():
            return self.file(files, asked["name"], commit)
        return self.about(asked, commit, files)

    def about(self, asked: re.Match, commit: str, files: dict[str, bytes]) -> None:
        entries = [
            {"type": "file", "path": name, "size": len(content), "oid": sha1(content)}
            for name, content in files.items()
        ]
        siblings = [{"rfilename": name} for name in files]
        said = entries if asked["what"] == "tree" else {"id": asked["id"], "sha": commit, "siblings": siblings}
        self.answer(200, json.dumps(said).encode(), {"Content-Type": "application/json"})

    def file(self, files: dict[str, bytes], name: str, commit: str) -> None:
        if name not in files:
            return self.answer(404, b"{}", {"X-Error-Code": "EntryNotFound"})
        if self.command == "GET":
            self.server.given.append(name)
        self.answer(200, files[name], {"ETag": f'"{sha1(files[name])}"', "X-Repo-Commit": commit})

    def answer(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in ({"Content-Length": str(len(body))} | headers).items():
            self.send_header(name, value)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)


def sha1(content: bytes) -> str:
    """What git calls a file of this content, by which the hub's client knows it."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


@contextmanager
def serving(repositories: dict[str, Repository]) -> Iterator[Hub]:
    """A hub with these repositories; HF_ENDPOINT is to name its `url`."""
    with Hub(repositories) as hub:
        threading.Thread(target=hub.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        yield hub
        hub.shutdown()
