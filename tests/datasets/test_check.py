"""The check before an experiment: each place from which data and models come, there and missing."""

import http.server
import json
import re
import threading

import pytest
from huggingface_hub import constants

from ranktrial.common.errors import UserError
from ranktrial.common.files import sha256
from ranktrial.datasets.from_hub import in_hub_cache
from scripts.datasets import check
from scripts.datasets.fetch import fetch
from tests.support.calling import call


class Handler(http.server.BaseHTTPRequestHandler):
    """A server of two files, one of which it gives by GET alone, and of a hub with two models."""

    def log_message(self, *arguments):
        pass

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        self.server.asked.append((self.command, self.path))
        files = {"/a.zip": b"x" * 2_000_000, "/shy.zip": b"shy"}
        hub = {"org/good": ["config.json", "model.safetensors"], "org/old": ["pytorch_model.bin"]}
        model = self.path.removeprefix("/api/models/").removesuffix("/revision/v1")
        if self.path == "/shy.zip" and self.command == "HEAD":
            return self.answer(405, b"")
        if self.path in files:
            return self.answer(200, files[self.path])
        if model in hub:
            siblings = [{"rfilename": name} for name in hub[model]]
            return self.answer(200, json.dumps({"id": model, "sha": "c0ffee", "siblings": siblings}).encode())
        return self.answer(404, b'{"error": "no such thing"}')

    def answer(self, status, body):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)


@pytest.fixture
def server(monkeypatch):
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as made:
        made.asked, made.url = [], f"http://127.0.0.1:{made.server_port}"
        threading.Thread(target=made.serve_forever, daemon=True).start()
        monkeypatch.setenv("HF_ENDPOINT", made.url)
        monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
        yield made
        made.shutdown()


@pytest.fixture(autouse=True)
def hub_cache(tmp_path, monkeypatch):
    """An empty cache of the hub."""
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    return tmp_path / "hub"


def cache_model(cache, model, *files):
    """Put a model of revision v1 into the hub's cache."""
    folder = cache / f"models--{model.replace('/', '--')}"
    (folder / "refs").mkdir(parents=True)
    (folder / "refs" / "v1").write_text("abc")
    for file in files:
        (folder / "snapshots" / "abc").mkdir(parents=True, exist_ok=True)
        (folder / "snapshots" / "abc" / file).write_text(file)


def state(tmp_path, location, mirrors=(), **others):
    source = check.Source("n", location, str(tmp_path / "downloads" / "n"), **others)
    return check.look(source, [tmp_path / mirror for mirror in mirrors])


def test_a_folder_lacks_a_file_that_the_configuration_names(tmp_path):
    for name in ("docs/a.jsonl", "topics.tsv", "qrels[1].txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    named = ["docs/*.jsonl", "topics.tsv", "qrels[1].txt"]

    def found(place, *named):
        return check.look(check.Source("n", str(place), named=list(named)), [])

    assert found(tmp_path, *named) == check.State("n", str(tmp_path), "here", False)
    assert found(tmp_path / "topics.tsv", "q").state == "here"  # an archive, not unpacked yet
    assert found(tmp_path / "none").state == "no such file or folder"
    for wrong, said in (
        ("topic.tsv", "has no topic.tsv (did you mean 'topics.tsv'?)"),
        ("docs/*.xml", "has no docs/*.xml (did you mean 'docs/a.jsonl'?)"),
    ):
        lacking = found(tmp_path, *named, wrong)
        assert lacking.missing and lacking.state == said


def test_urls_are_asked_for_and_not_downloaded(server, tmp_path):
    assert state(tmp_path, f"{server.url}/a.zip").state == "the server answers, 2.0 MB"
    assert server.asked == [("HEAD", "/a.zip")]
    assert not state(tmp_path, f"{server.url}/shy.zip").missing
    gone = state(tmp_path, f"{server.url}/gone.zip")
    assert gone.missing and gone.state.startswith(f"{server.url}/gone.zip: 404") and "\n" not in gone.state
    nobody = state(tmp_path, "http://127.0.0.1:9/a.zip")
    assert nobody.missing and "\n" not in nobody.state


def test_every_file_below_a_url_is_asked_for(server, tmp_path):
    assert not state(tmp_path, server.url, files={"a.zip": None, "shy.zip": None}).missing
    found = state(tmp_path, server.url, files={"a.zip": None, "gone.zip": None})
    assert found.missing and "gone.zip: 404" in found.state


def test_what_lies_here_in_a_mirror_or_among_the_downloads_is_not_asked_for(server, tmp_path):
    (tmp_path / "mirror").mkdir()
    (tmp_path / "mirror/a.zip").write_bytes(b"right")
    right = sha256(tmp_path / "mirror/a.zip")
    assert state(tmp_path, f"{server.url}/a.zip", ["mirror"], sha256=right).state.startswith("in a mirror: ")
    assert server.asked == []
    assert state(tmp_path, f"{server.url}/a.zip", ["mirror"], sha256="0" * 64).state.startswith("the server answers")
    (tmp_path / "downloads/n").mkdir(parents=True)
    assert state(tmp_path, f"{server.url}/gone.zip").state == "downloaded"
    here = str(tmp_path / "mirror")
    assert check.look(check.Source("n", here), []) == check.State("n", here, "here")
    assert check.look(check.Source("n", "nowhere"), []).missing


def test_the_hub_says_whether_it_has_the_model(server, tmp_path):
    good = state(tmp_path, "org/good", revision="v1")
    assert good.state == "the hub has it, commit c0ffee"
    for model, said in (
        ("org/none", "cannot be fetched from the hub: "),
        ("org/old", "has no safetensors"),
        ("a b/c", "cannot be fetched from the hub"),
    ):
        found = state(tmp_path, model, revision="v1")
        assert found.missing and said in found.state and "\n" not in found.state
    assert state(tmp_path, "org/good", revision="v2").missing


def test_the_hubs_cache_counts_and_is_taken_when_the_hub_does_not_answer(hub_cache, tmp_path, monkeypatch):
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    cache_model(hub_cache, "org/kept", "config.json", "model.safetensors")
    cache_model(hub_cache, "org/half", "config.json")
    assert state(tmp_path, "org/kept", revision="v1").state == "in the hub's cache"
    assert state(tmp_path, "org/half", revision="v1").missing
    assert in_hub_cache("org/kept", "v2") is None
    fetch(tmp_path / "got", "org/kept", None, [], "v1")
    assert {path.name for path in (tmp_path / "got").iterdir()} == {"config.json", "model.safetensors"}
    with pytest.raises(UserError, match=r"^org/half \(v1\): cannot be fetched from the hub: "):
        fetch(tmp_path / "bad", "org/half", None, [], "v1")
    assert not (tmp_path / "bad").exists()


@pytest.mark.slow  # asks PyPI
def test_the_package_index_is_asked_through_pip(tmp_path):
    assert state(tmp_path, "pypi:six==1.16.0").state == "the package index has it"
    assert "the index has no version 0.0.0, but" in state(tmp_path, "pypi:six==0.0.0").state


def test_the_table_is_printed_and_each_missing_thing_is_a_line(server, tmp_path, capsys):
    places = {
        "datasets.d": f"{server.url}/a.zip",
        "datasets.e": f"{server.url}/e.zip",
        "models.m": f"{server.url}/m.zip",
    }
    sources = [{"name": n, "location": where, "download": f"none/{n}"} for n, where in places.items()]
    settings = {"mirrors": [], "sources": sources}
    with pytest.raises(UserError, match=r"^models\.m: .*404[^\n]*$"):
        call(check.check, settings)
    printed = capsys.readouterr()
    assert re.fullmatch(r"error: datasets\.e: .*404.*\n", printed.err)
    lines = [line.split() for line in printed.out.splitlines()]
    assert lines[0] == ["name", "location", "state"]
    assert [(line[0], line[2]) for line in lines[1:]] == [
        ("datasets.d", "the"),
        ("datasets.e", "MISSING"),
        ("models.m", "MISSING"),
    ]
