"""Secrets that an archive would leak: found in whichever form and file, and the archive refused."""

import base64
import gzip
import json
from urllib.parse import quote

import pytest

from ranktrial.archive.privacy import Privacy, named_in
from ranktrial.common.errors import UserError
from tests.support.secret import SECRET


@pytest.fixture
def privacy(tmp_path):
    home = tmp_path / "home"
    (home / ".config/pip").mkdir(parents=True)
    (home / ".config/pip/pip.conf").write_text("[global]\nindex-url = https://ann:0f-pip-c0nf@h/simple\n")
    (home / ".git-credentials").write_text("https://ann:0f-git-cred@h\n")
    (home / ".netrc").write_text("machine h login ann password 0f-netrc-file\n")
    environment = {
        "ODDLY_CALLED": SECRET,
        "HF_TOKEN": "hf_0123456789",
        "SHORT": "ab12",
        "DIGITS": "1234",
        "PIP_INDEX_URL": "https://ann:0f-pip-ind%40ex@h/simple",
        "HTTPS_PROXY": "http://0f-proxy-user@proxy:8080",
        "GIT_AUTHOR_NAME": "Ann Example",
        "BYTES_TOKEN": "a\udcffbcdefgh",
    }
    config = {
        "datasets": {"d": {"location": "https://${SHORT}@h/x?a=${ODDLY_CALLED}"}},
        "mirrors": ["${DIGITS}", "${NONE}"],
    }
    return Privacy(tmp_path / "work", [home], environment, named_in(config))


KNOWN = [
    SECRET,
    "hf_0123456789",
    "0f-pip-ind@ex",
    "0f-pip-ind%40ex",
    "0f-proxy-user",
    "0f-pip-c0nf",
    "0f-git-cred",
    "0f-netrc-file",
]
FORMS = {
    "as it is": lambda one: one,
    "percent-encoded": lambda one: quote(one, safe=""),
    "percent-encoded, small": lambda one: quote(one, safe="").lower() if quote(one, safe="") != one else one,
    "percent-encoded but strokes": lambda one: quote(one),
    "JSON": lambda one: json.dumps(one),
    "base64": lambda one: base64.b64encode(one.encode()).decode(),
    "base64 behind a byte": lambda one: base64.b64encode(b"x" + one.encode()).decode(),
    "base64 behind two": lambda one: base64.b64encode(b"xy" + one.encode() + b"z").decode(),
    "base64 of basic auth": lambda one: base64.b64encode(f"ann:{one}".encode()).decode(),
    "base64 for URLs": lambda one: base64.urlsafe_b64encode(b"???" + one.encode()).decode(),
}


@pytest.mark.parametrize("secret", KNOWN)
@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_a_known_secret_is_taken_out_of_texts_and_refused_in_all_else(privacy, tmp_path, secret, form):
    said = form(secret).encode()
    assert said not in privacy.clean(b"a " + said + b" b")
    privacy.refuse_left({"a.txt": privacy.clean(b"a " + said + b" b"), "b.gz": privacy.clean(gzip.compress(said))})
    (tmp_path / "big.npy").write_bytes(b"\x93NUMPY" + bytes(5000) + said + bytes(5000))
    (tmp_path / "big.gz").write_bytes(gzip.compress(bytes(5000) + said))
    hidden = {
        "text": said,
        "gzip": gzip.compress(said),
        "picture": b"\x89PNG\r\n\x1a\n\0" + said,
        "page": b"%PDF-1.4\n\xe2\xe3" + said,
        "embedding": tmp_path / "big.npy",
        "packed": tmp_path / "big.gz",
    }
    for name, content in hidden.items():
        with pytest.raises(UserError, match=f"no archive is written: {name} contains a secret of yours") as error:
            privacy.refuse_left({"harmless": b"x", name: content})
        assert secret not in str(error.value)
    with pytest.raises(UserError, match="no archive is written: the name ") as error:
        privacy.refuse_left({f"results/{said.decode()}.tsv": b""})
    assert said.decode() not in str(error.value)


def test_bytes_that_are_no_text_are_not_changed(privacy):
    picture = b"\x89PNG\r\n\x1a\n\0\xff" + SECRET.encode()
    assert privacy.clean(picture) == picture and privacy.clean(gzip.compress(picture, mtime=0)) == gzip.compress(
        picture, mtime=0
    )


def test_a_short_value_that_the_configuration_refers_to_counts_as_a_word(privacy):
    with pytest.raises(UserError, match=r"a\.txt contains a secret"):
        privacy.refuse_left({"a.txt": b"key=ab12;"})
    privacy.refuse_left({"a.txt": b"xab12 ab123 0.1234", "b.txt": b"Ann Example"})


def test_a_damaged_gzip_is_looked_at_as_it_lies(privacy):
    privacy.refuse_left({"a.gz": b"\x1f\x8b" + bytes(20), "b.gz": gzip.compress(b"x" * 100)[:-9]})
    with pytest.raises(UserError, match="no archive is written"):
        privacy.refuse_left({"a.gz": b"\x1f\x8b" + SECRET.encode()})


@pytest.mark.parametrize("name", ["OPENAI_KEY", "GITHUB_PAT", "DB_PASS", "PGPASS", "KEY", "SMTP_PASSWORD", "azure_key"])
def test_a_variable_that_is_named_like_a_secret_is_one(tmp_path, name):
    assert Privacy(tmp_path, [], {name: "s3cr3t-value"}).clean_text("a s3cr3t-value b") == "a *** b"


@pytest.mark.parametrize("name", ["PATH_OF", "MY_PATH", "MONKEY", "KEYBOARD", "PATTERN", "PASSAGE_LENGTH", "AUTHOR"])
def test_a_variable_that_only_looks_like_it_is_none(tmp_path, name):
    assert Privacy(tmp_path, [], {name: "s3cr3t-value"}).secrets == []


@pytest.mark.parametrize("value", ["12345678", "0.12345678", "2026-11-26", "1.5e-07123", "12:34:56"])
def test_a_secret_that_is_a_number_is_refused_and_its_variable_named(tmp_path, value):
    """It would turn the digits of a metric into ***."""
    with pytest.raises(UserError, match=r"^nothing is archived: a secret in DB_PASS is a number: [^\n]*$") as refused:
        Privacy(tmp_path, [], {"DB_PASS": value, "HOME": "/root", "OTHER": value})
    assert value not in str(refused.value)
    with pytest.raises(UserError, match="a secret in ODD is a number"):
        Privacy(tmp_path, [], {"ODD": value}, ["ODD"])
    (tmp_path / ".netrc").write_text(f"machine h login ann password {value}\n")
    with pytest.raises(UserError, match=r"a secret in ~/\.netrc is a number"):
        Privacy(tmp_path / "work", [tmp_path], {})
    with pytest.raises(UserError, match="a secret in HTTPS_PROXY is a number"):
        Privacy(tmp_path, [], {"HTTPS_PROXY": f"http://ann:{value}@proxy:8080"})


def test_a_number_that_is_too_short_to_be_searched_or_no_secret_is_not_refused(tmp_path):
    assert Privacy(tmp_path, [], {"DB_PASS": "1234", "JOB_ID": "123456789", "A_TOKEN": "/12345678"}).secrets == []
