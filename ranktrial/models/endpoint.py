"""An endpoint that answers JSON requests: requests, retries and errors.

Credentials come only from the environment: the configuration names the variable that holds the key. The key is sent to
this address and no other (redirects are refused), and it is hidden in everything that the endpoint returns. Only a
complete answer of bounded size counts. Transient failures, such as rate limiting, are retried; any other failure is
reported in one line.
"""

from __future__ import annotations

import http.client
import json
import ssl
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from email.utils import parsedate_to_datetime
from typing import Any, NamedTuple, TypeVar

from ranktrial.common import urls
from ranktrial.common.errors import UserError
from ranktrial.common.keys import JsonObject
from ranktrial.common.strict_json import parse_json, plain_json
from ranktrial.common.timed_http import Deadline, opened
from ranktrial.common.urls import service

LARGEST = 32_000_000  # bytes of an answer; a batch of embeddings takes several million
CHAT = "chat/completions"
SHOWN = 200  # characters shown of an endpoint's error message
PASSING = (408, 425, 429, 500, 502, 503, 504, 529)
FIRST_WAIT, LONGEST_WAIT = 1.0, 60.0  # seconds until the next attempt; doubled each time
LONGEST_ASKED = 300.0  # seconds; upper bound on a Retry-After header
PROBE = 15.0  # seconds allowed for the check that an endpoint responds
MOST_TOKENS = 10**9
SHORTEST_SECRET = 8  # characters; a shorter key (local servers accept any) could be part of a word


Item = TypeVar("Item")
Outcome = TypeVar("Outcome")


class Answer(NamedTuple):
    """A model's answer, its token counts (None if they are not reported), and the seconds that it took."""

    text: str
    prompt_tokens: int | None
    completion_tokens: int | None
    seconds: float


class _Passing(Exception):
    """A transient failure; `wait` is the number of seconds that the endpoint asks for."""

    def __init__(self, reason: str, wait: float | None = None) -> None:
        super().__init__(reason)
        self.wait = wait


class _Refused(Exception):
    """A permanent failure; `status` is the HTTP status, or 0 for any other reason."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status, self.reason = status, reason


class Endpoint:
    """An address and its API key. The methods are thread-safe; `stop` ends all waiting."""

    def __init__(self, url: str, key: str | None, environment: Mapping[str, str], timeout: float, retries: int) -> None:
        try:
            self.url = service(url)
        except ValueError as error:
            raise UserError(f"url: this URL {error}") from None
        self.variable, self.key = key, environment.get(key, "") if key else ""
        if any(not 32 < ord(character) < 127 for character in self.key):
            raise UserError(f"the environment variable {key} contains a space or another character that no key has")
        self.timeout, self.retries = timeout, retries
        self.retried = 0
        self.stopped = threading.Event()
        self._counting = threading.Lock()

    def probe(self) -> None:
        """Raise UserError if the endpoint does not answer or denies access. No model is queried."""
        try:
            self._exchange("models", None, min(self.timeout, PROBE))
        except _Passing as error:
            if isinstance(error.__cause__, OSError | http.client.HTTPException):
                raise self._failed(f"does not answer: {error}") from None
        except _Refused as error:
            if error.status in (401, 403) or error.status < 400:
                raise self._failed(self._why(error, "models")) from None

    def ask(self, request: JsonObject) -> Answer:
        """The answer to a chat request of OpenAI's protocol. Raises UserError if there is none."""
        (text, prompt, completion), seconds = self.post(CHAT, request, _said)
        return Answer(self._without_key(text), prompt, completion, seconds)

    def post(self, name: str, request: JsonObject, read: Callable[[Any], Outcome]) -> tuple[Outcome, float]:
        """The result of `read` on the answer to a POST to `name` below the address, and the seconds that it took.

        Raises UserError if there is no answer after all attempts, or if `read` raises ValueError.
        """
        body = json.dumps(request).encode()
        wait = FIRST_WAIT
        for attempt in range(self.retries + 1):
            if self.stopped.is_set():
                raise self._failed("stopped")
            start = time.perf_counter()
            try:
                return read(_parsed(self._exchange(name, body, self.timeout))), time.perf_counter() - start
            except ValueError as error:
                raise self._failed(str(error)) from None
            except _Refused as error:
                raise self._failed(self._why(error, name)) from None
            except _Passing as error:
                if attempt == self.retries:
                    counted = f" ({attempt + 1} attempts)" if attempt else ""
                    raise self._failed(f"{error}{counted}") from None
                self._wait(wait if error.wait is None else min(error.wait, LONGEST_ASKED))
                wait = min(2 * wait, LONGEST_WAIT)
        raise AssertionError("the last attempt returns or raises")

    def side_by_side(self, do: Callable[[Item], Outcome], items: list[Item], threads: int) -> Iterator[Outcome]:
        """The results of `do` for all items, in order, computed by several threads; the first exception ends all."""
        failures: list[BaseException] = []

        def stopping(item: Item) -> Outcome:
            try:
                return do(item)
            except BaseException as error:
                failures.append(error)
                self.stop()  # before this thread takes another item
                raise

        with ThreadPoolExecutor(threads) as pool:
            try:
                yield from pool.map(stopping, items)
            except BaseException as error:
                self.stop()
                pool.shutdown(wait=False, cancel_futures=True)
                raise failures[0] if failures else error from None

    def stop(self) -> None:
        """Prevent all threads from starting or awaiting another attempt."""
        self.stopped.set()

    def _wait(self, seconds: float) -> None:
        with self._counting:
            self.retried += 1
        if self.stopped.wait(seconds):
            raise self._failed("stopped")

    def _exchange(self, name: str, body: bytes | None, timeout: float) -> bytes:
        """The body of an answer with status 200. Raises _Passing or _Refused."""
        headers = {"Accept": "application/json", "User-Agent": "ranktrial"}
        headers |= {"Content-Type": "application/json"} if body else {}
        headers |= {"Authorization": f"Bearer {self.key}"} if self.key else {}
        request = urllib.request.Request(self.url.below(name).written, body, headers)
        try:
            with opened(request, Deadline(timeout)) as response:
                return _within_bounds(response)
        except urllib.error.HTTPError as error:
            with error:
                reason = self._said(error)
            if error.code in PASSING:
                raise _Passing(f"{error.code} {reason}".strip(), _asked_for(error.headers.get("Retry-After"))) from None
            raise _Refused(error.code, reason) from None
        except (OSError, http.client.HTTPException) as error:
            cause = getattr(error, "reason", error)
            if isinstance(cause, ssl.SSLCertVerificationError):
                raise _Refused(0, f"its certificate is not trusted: {cause.verify_message}") from None
            if isinstance(cause, TimeoutError):
                raise _Passing(f"no answer within {timeout:g} seconds") from error
            raise _Passing(self._short(str(cause) or type(cause).__name__)) from error

    def _said(self, error: urllib.error.HTTPError) -> str:
        """An endpoint's error message, shortened."""
        try:
            text = _within_bounds(error).decode(errors="replace")
        except (_Refused, OSError, http.client.HTTPException):
            return ""
        try:
            content = plain_json(text)
        except ValueError:
            content = text
        for name in ("error", "message", "detail"):
            if isinstance(content, dict):
                content = content.get(name, content)
        return self._short(content if isinstance(content, str) else text)

    def _short(self, text: str) -> str:
        return " ".join(urls.redacted(self._without_key(text[: 20 * SHOWN])).split())[:SHOWN]

    def _without_key(self, text: str) -> str:
        if len(self.key) >= SHORTEST_SECRET:
            for form in urls.forms(self.key.encode()):
                text = text.replace(form.decode(), urls.HIDDEN)
        return text

    def _why(self, error: _Refused, name: str) -> str:
        """The reason why a request to `name` below the address is refused, as text."""
        if error.status == 0:
            return error.reason
        said = f": {error.reason}" if error.reason else ""
        if error.status < 400:
            where = f"redirects to another address ({error.status})"
            return f"{where}, to which no key is sent; give the address that answers"
        if error.status in (401, 403):
            held = f"the key is that of the environment variable {self.variable}"
            if not self.key:
                held = f"the environment variable {self.variable} is not set" if self.variable else "no key is sent"
            return f"refuses access ({error.status}; {held}){said}"
        if error.status == 404:
            return f"has no such model, or no {name} below this address (404){said}"
        return f"refuses the request ({error.status}){said}"

    def _failed(self, problem: str) -> UserError:
        return UserError(f"{self.url.shown}: {problem}")


def _within_bounds(response: Any) -> bytes:
    """All bytes of a response. Raises _Refused if there are too many."""
    parts, size = [], 0
    while part := response.read1(65536):
        parts.append(part)
        size += len(part)
        if size > LARGEST:
            raise _Refused(0, f"an answer of more than {LARGEST:,} bytes")
    return b"".join(parts)


def _asked_for(text: str | None) -> float | None:
    """The seconds stated by a Retry-After header, which is a number or a date; None if it is neither."""
    if text is None:
        return None
    if text.strip().isdecimal() and len(text) < 10:
        return float(text)
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - time.time())
    except (ValueError, TypeError, OverflowError):
        return None


def _parsed(content: bytes) -> Any:
    """The JSON of an answer. Raises _Passing if it is damaged."""
    try:
        return parse_json(content.decode(), "an answer")
    except UnicodeDecodeError:
        raise _Passing("an answer that is not UTF-8") from None
    except UserError as error:
        raise _Passing(str(error)[:SHOWN]) from None


def _said(answer: Any) -> tuple[str, int | None, int | None]:
    """The text of an answer, and the token counts of prompt and answer. Raises ValueError for another protocol."""
    try:
        text = answer["choices"][0]["message"]["content"]
    except (KeyError, IndexError, TypeError):
        raise ValueError("an answer without choices[0].message.content, so not of OpenAI's protocol") from None
    if text is not None and not isinstance(text, str):
        raise ValueError("an answer whose choices[0].message.content is no text")
    return text or "", tokens(answer, "prompt_tokens"), tokens(answer, "completion_tokens")


def tokens(answer: Any, name: str) -> int | None:
    """The token count under a name of an answer's `usage`; None if it is not reported."""
    usage = answer.get("usage") if isinstance(answer, dict) else None
    count = usage.get(name) if isinstance(usage, dict) else None
    return count if type(count) is int and 0 <= count <= MOST_TOKENS else None
