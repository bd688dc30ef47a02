"""An endpoint: what is sent, what counts as an answer, what is tried again, and the message of each refusal."""

import threading
import time
from email.utils import formatdate
from functools import partial

import pytest

from ranktrial.common.errors import UserError
from ranktrial.models import endpoint as module
from ranktrial.models.endpoint import LARGEST, Endpoint
from tests.support.answering import answering, error, said
from tests.support.dripping import DRIPS, dripping, serving
from tests.support.one_line import one_line, refused

KEY = "sk-Very+Secret/Key=1234567890"
REQUEST = {"model": "m", "messages": [{"role": "user", "content": "é\n"}]}


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(module, "FIRST_WAIT", 0.01)


def connected(asked, key=KEY, timeout=5.0, retries=2):
    return Endpoint(asked.url, "A_KEY", {"A_KEY": key} if key else {}, timeout, retries)


def in_turn(*replies):
    """Replies one after another, the last one for ever."""
    left = list(replies)
    return lambda request: left.pop(0) if len(left) > 1 else left[0]


def test_a_question_and_its_answer():
    with answering(lambda request: said("[1]", prompt_tokens=7, completion_tokens=2)) as asked:
        answer = connected(asked).ask(REQUEST)
    assert answer[:3] == ("[1]", 7, 2) and 0 < answer.seconds < 5
    assert asked.requests == [REQUEST] and asked.headers[0]["Authorization"] == f"Bearer {KEY}"


def test_without_a_key_none_is_sent_and_tokens_may_be_unknown():
    with answering(lambda request: said(None, prompt_tokens=-3, completion_tokens=True)) as asked:
        assert connected(asked, key="").ask(REQUEST)[:3] == ("", None, None)
    assert "Authorization" not in asked.headers[0]


@pytest.mark.parametrize(
    "first",
    [
        error(429, "slow down", Retry_After="0"),
        error(429, "slow down", Retry_After=formatdate(time.time() - 9, usegmt=True)),
        error(429, "slow down", Retry_After="soon"),
        error(503),
        error(500, "\x1b[31m"),
        (200, {}, b"<html>"),
        (200, {}, b'{"choices": [{"message": {"content": "x"}}], "usage": {"prompt_tokens": NaN}}'),
        (200, {}, b"\xff"),
        (200, {"Content-Length": "999", "Connection": "close"}, b'{"choices": ['),  # cut off
    ],
)
def test_what_passes_is_tried_again(first):
    with answering(in_turn(first, said("[2]"))) as asked:
        made = connected(asked, timeout=2.0)
        assert made.ask(REQUEST).text == "[2]" and made.retried == 1 and len(asked.requests) == 2


def test_it_is_tried_again_a_few_times_only():
    with answering(lambda request: error(429, "slow down", Retry_After="0")) as asked:
        with refused(f"{asked.url}: 429 slow down (3 attempts)"):
            connected(asked).ask(REQUEST)
        assert len(asked.requests) == 3


def test_what_an_endpoint_asks_for_is_bounded(monkeypatch):
    monkeypatch.setattr(module, "LONGEST_ASKED", 0.05)
    with answering(in_turn(error(429, Retry_After="999999"), said("x"))) as asked:
        assert connected(asked).ask(REQUEST).text == "x"


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (error(401, f"no such key: {KEY}"), "refuses access (401; the key is that of the environment variable A_KEY): no such key: ***"),
        (error(403), "refuses access (403"),
        (error(404, "no model m"), "has no such model, or no chat/completions below this address (404): no model m"),
        (error(400, "temperature\nis \x1b[0mfixed"), "refuses the request (400): temperature is"),
        (error(302, Location="http://127.0.0.1:1/"), "redirects to another address (302)"),
        (error(307, Location="/v1/elsewhere"), "redirects to another address (307)"),
        ((200, {}, b" " * (LARGEST + 1)), "an answer of more than 32,000,000 bytes"),
        ((200, {}, b'{"choices": []}'), "an answer without choices[0].message.content"),
        ((200, {}, b"[]"), "an answer without choices[0].message.content"),
        ((200, {}, b'{"choices": [{"message": {"content": 3}}]}'), "is no text"),
        ((400, {}, b"\xff<html>" + b"x" * 90000), "refuses the request (400)"),
    ],
)  # fmt: skip
def test_anything_else_is_reported_at_once_in_one_line(reply, words):
    with answering(lambda request: reply) as asked:
        with pytest.raises(UserError) as reported:
            connected(asked).ask(REQUEST)
        one_line(reported, asked.url, words)
        assert KEY not in str(reported.value) and "\x1b" not in str(reported.value) and len(str(reported.value)) < 500
        assert len(asked.requests) == 1


def test_an_answer_does_not_give_the_key_away():
    with answering(lambda request: said(f"[1] {KEY} [2]")) as asked:
        assert connected(asked).ask(REQUEST).text == "[1] *** [2]"


def test_a_slow_endpoint_is_not_waited_for():
    stop = threading.Event()

    def slow(request):
        stop.wait(5)
        return said("x")

    with answering(slow) as asked:
        start = time.monotonic()
        with pytest.raises(UserError) as reported:
            connected(asked, timeout=0.3, retries=0).ask(REQUEST)
        stop.set()
        one_line(reported, "no answer within 0.3 seconds")
        assert time.monotonic() - start < 3


@pytest.mark.parametrize("drip", DRIPS)
def test_an_answer_that_drips_is_not_waited_for(drip):
    with serving(dripping(*DRIPS[drip])) as port:
        start = time.monotonic()
        with refused(f"http://127.0.0.1:{port}/v1", "429" if "error" in drip else "no answer within 0.2 seconds"):
            Endpoint(f"http://127.0.0.1:{port}/v1", None, {}, 0.2, 0).ask(REQUEST)
        assert time.monotonic() - start < 2


def test_whether_it_is_there():
    for probe in ((200, {}, b"{}"), error(404), error(405), error(500)):  # not every endpoint lists its models
        with answering(partial(said, "x"), probe) as asked:
            connected(asked).probe()
            assert asked.probes == 1 and asked.requests == []
    with (
        answering(partial(said, "x"), error(401)) as asked,
        refused("refuses access (401; the environment variable A_KEY is not set)"),
    ):
        connected(asked, key="").probe()
    with refused(asked.url, "does not answer", "refused"):
        connected(asked).probe()  # it is gone


@pytest.mark.parametrize(
    "url", ["ftp://h/v1", "http://u:p@h/v1", "https://h/v1?key=abc", "https://h/${A}", "https://h/é"]
)
def test_no_other_address_is_taken(url):
    with pytest.raises(UserError) as reported:
        Endpoint(url, None, {}, 1, 0)
    assert "abc" not in str(reported.value)


@pytest.mark.parametrize("key", ["a b", "a\nX-Other: 1", "é" * 9])
def test_a_key_that_is_none_is_refused_and_not_shown(key):
    with pytest.raises(UserError) as reported:
        Endpoint("http://127.0.0.1:1", "A_KEY", {"A_KEY": key}, 1, 0)
    one_line(reported, "the environment variable A_KEY")
    assert key not in str(reported.value)


def test_a_stopped_one_waits_no_longer():
    with answering(lambda request: error(429, Retry_After="200")) as asked:
        made = connected(asked)
        threading.Timer(0.3, made.stop).start()
        with pytest.raises(UserError, match="stopped"):
            made.ask(REQUEST)
