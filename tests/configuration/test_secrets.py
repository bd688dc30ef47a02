"""Secrets in locations: refused where written out, looked up only to fetch."""

import base64
import copy
import http.server
import json
import os
import re
import subprocess
import sys
import threading
from pathlib import Path
from urllib.parse import quote

import pytest

from ranktrial.archive.identities import identities
from ranktrial.archive.ir_metadata import _data
from ranktrial.common.errors import UserError
from ranktrial.common.urls import holds_secret, key, parse, redacted, shown
from ranktrial.engine.downloads import HOW, names, plain_name, sources
from ranktrial.experiment.descriptions import describe, weights_name
from ranktrial.experiment.resolution import resolve
from scripts.datasets import check
from scripts.datasets.fetch import fetch, fetch_files
from tests.support.located import CONFIG, SHA
from tests.support.secret import ROOT, SECRET, put

WRITTEN_OUT = {
    "password": f"https://ann:{quote(SECRET, safe='')}@h/x.zip",
    "password with strokes": f"https://ann:{SECRET}@h/x.zip",
    "password with @": "https://ann:hUnter2@s3cr3t@h/x.zip",
    "password alone": "https://:hUnter2@h/x.zip",
    "password empty": "https://hUnter2:@h/x.zip",
    "user alone": "https://ghp_hUnter2@h/x.zip",
    "http": "http://ann:hUnter2@h/x.zip",
    "large letters": "HTTPS://ann:hUnter2@h/x.zip",
    "IPv6": "https://ann:hUnter2@[::1]/x.zip",
    "half a reference": "https://${NAME}:hUnter2${PASSWORD}@h/x.zip",
    "reference and password": "https://${NAME}:hUnter2@h/x.zip",
    "token": "https://h/x.zip?token=hUnter2",
    "large TOKEN": "https://h/x.zip?TOKEN=hUnter2",
    "access_token": "https://h/x.zip?a=1&access_token=hUnter2",
    "encoded name": "https://h/x.zip?%74oken=hUnter2",
    "semicolon": "https://h/x.zip?a=1;token=hUnter2",
    "api_key": "https://h/x.zip?api_key=hUnter2",
    "key": "https://h/x.zip?key=hUnter2",
    "signature of S3": "https://h/x.zip?X-Amz-Signature=hUnter2&X-Amz-Expires=60",
    "credential of S3": "https://h/x.zip?X-Amz-Credential=hUnter2",
    "signature of Azure": "https://h/x.zip?sv=2020&sig=hUnter2%3D",
    "password in the query": "https://h/x.zip?password=hUnter2",
    "short password in the query": "https://h/x.zip?pw=hUnter2",
    "session": "https://h/x.zip?sessionid=hUnter2",
    "JWT": "https://h/x.zip?jwt=hUnter2",
    "token of digits": "https://h/x.zip?token=12345678",
    "token of letters": "https://h/x.zip?token=correcthorsehUnter",
    "half a reference in the query": "https://h/x.zip?token=hUnter2${TOKEN}",
    "words before a reference": "https://h/x.zip?auth=Bearer${TOKEN}",
}
LOOKS_SECRET = {
    "odd name": "https://h/x.zip?d=A1b2C3hUnter2d4E5",
    "no name": "https://h/x.zip?A1b2C3hUnter2d4E5",
    "base64": "https://h/x.zip?d=aFVudGVyMg==",
    "hexadecimal": "https://h/x.zip?d=deadbeef0123hUnter2",
    "long": "https://h/x.zip?d=" + "hUnter" * 10,
    "UUID": "https://h/x.zip?id=123e4567-e89b-12d3-hUnter2-426614174000",
}


def refusal(config: dict) -> str:
    with pytest.raises(UserError) as error:
        resolve(config, "c.yaml")
    said = str(error.value)
    assert "\n" not in said and "hUnter" not in said and SECRET not in said and "ghp_" not in said
    return said


@pytest.mark.parametrize("location", (WRITTEN_OUT | LOOKS_SECRET).values(), ids=WRITTEN_OUT | LOOKS_SECRET)
@pytest.mark.parametrize("path", ["datasets/d/location", "models/m/weights"])
def test_a_secret_that_is_written_out_is_refused_and_not_repeated(path, location):
    said = refusal(put(path, location))
    assert said.startswith(f"c.yaml: {path.replace('/', '.')}: ") and "${NAME}" in said


ELSEWHERE = [
    "published/file", "published/mapping", "systems/bm25/url", "datasets/d/licence", "datasets/d/label", "actor/name",
    "datasets/d/documents", "datasets/d/qrels/test", "systems/x/runs/d", "mirrors", "models/m/revision", "models/m/file",
    "datasets/d/corpus", "charts/c/systems", "experiment", "measures", "unknown", "comparisons/c/figure/title",
    "recipes/r/train_on", "datasets/d/files/x", "models/m/licence", "tasks",
]  # fmt: skip


@pytest.mark.parametrize("path", ELSEWHERE)
@pytest.mark.parametrize(
    "location", [WRITTEN_OUT["password"], "see https://h/x?token=hUnter2."], ids=["password", "token"]
)
def test_no_other_key_takes_a_url_with_a_secret(path, location):
    for value in (location, [location], {"a": [{"b": location}]}, {location: 1}):
        assert refusal(put(path, value)).startswith("c.yaml: ")


def test_an_alias_that_leads_back_to_itself_is_no_endless_way():
    config = copy.deepcopy(CONFIG)
    config["datasets"]["d"]["splits"] = config
    config["actor"] = {"name": WRITTEN_OUT["token"]}
    assert "actor.name" in refusal(config)


HARMLESS = [
    "https://orcid.org/0000-0002-1825-0097", "mail ann@example.org", "https://h/@scope/x", "https://h:8080/@a/x",
    "https://h/x?page=2", "https://${NAME}:${PASSWORD}@h/x", "https://h/x?token=${TOKEN}", "a:b@c", "12:30 @ home",
    "https://github.com/MeteSertkan/ranger data/ranger (commit ecb1744)", "https://h/x?keyword=fever",
]  # fmt: skip


@pytest.mark.parametrize("text", HARMLESS)
def test_texts_without_a_secret_are_taken(text):
    assert not holds_secret(text)
    resolve(put("datasets/d/licence", text), "c.yaml")


BY_REFERENCE = {
    "token": "https://h/x.zip?token=${TOKEN}",
    "user and password": "https://${NAME}:${PASSWORD}@h/x.zip",
    "user alone": "https://${TOKEN}@h/x.zip",
    "all": "https://${NAME}:${PASSWORD}@h/x.zip?token=${TOKEN}&download=1",
}


@pytest.mark.parametrize("location", BY_REFERENCE.values(), ids=BY_REFERENCE)
def test_names_settings_and_pages_hold_neither_user_info_nor_query_values(location, monkeypatch):
    for name in ("TOKEN", "NAME", "PASSWORD"):
        monkeypatch.setenv(name, SECRET)
    config = put("datasets/d", {"format": "beir", "location": location, "sha256": SHA})
    config["models"]["m"] |= {"weights": location, "sha256": SHA}
    experiment = resolve(config, "c.yaml")
    found = sources(experiment.datasets, experiment.models, "c.yaml")
    reported = [
        *names(found.values(), {}),
        *(json.dumps(one) for one in found.values()),
        plain_name(key(location)),
        shown(location),
        weights_name(location),
        describe(experiment, experiment.systems["dense"]),
        json.dumps(identities(experiment, [], {})),
        json.dumps(
            _data(experiment, experiment.tasks["d"], experiment.systems["dense"], {"inputs": {}, "outputs": {}})
        ),
    ]
    for text in reported:
        assert not re.search(r"TOKEN|PASSWORD|NAME|@|download=1|hUnter", text), text


class Guarded(http.server.BaseHTTPRequestHandler):
    """Gives files to who brings the token or the password; otherwise says no, with what was asked in its words."""

    def log_message(self, *arguments):
        pass

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        self.server.asked.append((self.path, self.headers.get("Authorization")))
        right = "Basic " + base64.b64encode(f"ann:{SECRET}".encode()).decode()
        if self.path.startswith("/away"):
            self.send_response(302)
            self.send_header("Location", "http://127.0.0.1:9/gone?token=" + self.path.partition("token=")[2])
            return self.end_headers()
        if self.path.startswith("/hang-up"):
            return self.connection.close()
        good = f"token={quote(SECRET, safe='')}" in self.path or self.headers.get("Authorization") == right
        self.send_response(200 if good else 403, None if good else f"no {self.path}")
        self.end_headers()
        if good and self.command == "GET":
            self.wfile.write(b"data")


@pytest.fixture
def guarded():
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Guarded) as made:
        made.asked, made.host = [], f"127.0.0.1:{made.server_port}"
        threading.Thread(target=made.serve_forever, daemon=True).start()
        yield made
        made.shutdown()


@pytest.fixture
def secret(monkeypatch):
    monkeypatch.setattr("urllib3.util.Retry.sleep", lambda *_: None)  # between attempts
    monkeypatch.setenv("MY_TOKEN", SECRET)
    monkeypatch.setenv("WRONG", "wrong-hUnter2-wrong")


DATA = "3a6eb0790f39ac87c94f3856b2dd2c5d110e6811602261a9a923d3bb23adc8b7"  # of b"data"


@pytest.mark.parametrize("form", ["http://{}/x?token=${{MY_TOKEN}}&a=1", "http://ann:${{MY_TOKEN}}@{}/x"])
def test_a_reference_is_looked_up_when_fetching(guarded, secret, tmp_path, form):
    fetch(tmp_path / "got", form.format(guarded.host), DATA, [])
    assert (tmp_path / "got").read_bytes() == b"data"
    fetch_files(tmp_path / "files", form.format(guarded.host), {"a": DATA}, [])
    assert (tmp_path / "files/a").read_bytes() == b"data"
    assert guarded.asked and not any("ann" in path for path, _ in guarded.asked)


def failure(location: str, target: Path, checksum: str = DATA) -> str:
    with pytest.raises(UserError) as error:
        fetch(target, location, checksum, [])
    said = str(error.value)
    for form in (SECRET, quote(SECRET, safe=""), quote(SECRET), "hUnter2", "wrong-"):
        assert form not in said, said
    assert "\n" not in said and not target.exists()
    return said


@pytest.mark.parametrize(
    ("form", "said"),
    [
        ("http://{}/x?token=${{WRONG}}", "cannot be fetched: 403"),
        ("http://ann:${{WRONG}}@{}/x", "cannot be fetched: 403"),
        ("http://{}/x?token=${{MY_TOKEN}}", "SHA-256 is"),
        ("http://{}/away?token=${{MY_TOKEN}}", "cannot be fetched: "),
        ("http://{}/hang-up?token=${{MY_TOKEN}}", "cannot be fetched: "),
        ("http://127.0.0.1:9/x?token=${{MY_TOKEN}}", "cannot be fetched: "),
        ("https://{}/x?token=${{MY_TOKEN}}", "cannot be fetched: "),  # it speaks no TLS
        ("http://nowhere.invalid/x?token=${{MY_TOKEN}}", "cannot be fetched: "),
        ("http://${{MY_TOKEN}}:${{MY_TOKEN}}@nowhere.invalid/x", "cannot be fetched: "),
        ("http://{}/${{MY_TOKEN}}/x", "cannot be fetched: 403"),
        ("http://{}/x?token=${{NOT_SET}}", "the environment variable NOT_SET is not set"),
        ("http://ann:${{NOT_SET}}@{}/x", "the environment variable NOT_SET is not set"),
    ],
)
def test_no_message_of_fetching_holds_a_secret(guarded, secret, tmp_path, form, said):
    assert said in failure(form.format(guarded.host), tmp_path / "got", SHA if said == "SHA-256 is" else DATA)


@pytest.mark.parametrize("value", ["", "hUnter2\n", "a hUnter2", "hUnter2\0x", "\thUnter2"])
def test_a_variable_that_is_empty_or_has_spaces_is_refused(value, tmp_path, monkeypatch):
    if "\0" in value:
        with pytest.raises(UserError, match="the environment variable A contains") as error:
            parse("http://h/x?token=${A}").resolved({"A": value})
        assert "hUnter2" not in str(error.value)
        return
    monkeypatch.setenv("A", value)
    assert "the environment variable A" in failure("http://h/x?token=${A}", tmp_path / "got")


@pytest.mark.parametrize(
    ("value", "sent"), [("a/b+c=", "a%2Fb%2Bc%3D"), ("a%2Fb", "a%2Fb"), ("a&b=c", "a%26b%3Dc"), ("ä#", "%C3%A4%23")]
)
def test_a_value_stays_one_value(value, sent):
    address, _ = parse("https://h/x?token=${A}&b=1").resolved({"A": value})
    assert address == f"https://h/x?token={sent}&b=1"
    assert parse("https://${A}:${A}@h/x").resolved({"A": "p@/:?#"}) == ("https://h/x", ("p@/:?#", "p@/:?#"))


def test_the_check_beforehand_tells_no_secret(guarded, secret, tmp_path):
    for path in ("x?token=${MY_TOKEN}", "x?token=${WRONG}", "away?token=${MY_TOKEN}", "x?token=${NOT_SET}"):
        source = check.Source("n", f"http://{guarded.host}/{path}", str(tmp_path / "n"), SHA)
        state = check.look(source, [])
        assert state.missing == (path != "x?token=${MY_TOKEN}")
        for text in (*map(str, state), check.table([state])):
            assert "hUnter2" not in text and "TOKEN" not in state.location


def test_the_job_itself_prints_no_secret_and_is_given_none(guarded, tmp_path):
    """As Snakemake runs it: the address comes by the environment, the settings hold what is shown."""
    location = f"http://{guarded.host}/x?token=${{MY_TOKEN}}"
    for token, code in ((SECRET, 0), ("wrong-hUnter2", 1)):
        how = json.dumps({"mirrors": [], "addresses": {"got": location}})
        settings = json.dumps({"location": key(location), "sha256": DATA})
        command = [sys.executable, "scripts/datasets/fetch.py", "--download", tmp_path / "got", "--settings", settings]
        environment = os.environ | {"PYTHONPATH": str(ROOT), HOW: how, "MY_TOKEN": token}
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
        assert done.returncode == code, done.stderr
        assert "hUnter2" not in done.stdout + done.stderr + settings and "Traceback" not in done.stderr
    assert done.stderr.count("error: ") == 1


def test_pip_prints_no_password_of_an_index(tmp_path, monkeypatch):
    for name, value in {"PIP_INDEX_URL": "http://ann:hUnter2@127.0.0.1:9/simple", "PIP_RETRIES": "0"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("PIP_EXTRA_INDEX_URL", raising=False)
    with pytest.raises(UserError, match=r"^pypi:six==1.16.0: pip cannot fetch it: [^\n]*$") as error:
        fetch(tmp_path / "got", "pypi:six==1.16.0", None, [])
    assert "hUnter2" not in str(error.value)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("404 for https://ann:hUnter2@h/x?token=hUnter2&a=1", "404 for https://***@h/x?token=***&a=***"),
        ("(url: http://h/x?hUnter2y)", "(url: http://h/x?=***"),
        ("https://ann:hUn/ter2@h/x", "https://***@h/x"),
        ("https://h/x", "https://h/x"),
        ("no URL: a@b ?c=d", "no URL: a@b ?c=d"),
    ],
)
def test_messages_of_other_programs_lose_what_may_be_secret(text, kept):
    assert redacted(text) == kept
