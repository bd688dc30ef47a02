"""A strict reader of JSON from outside. It refuses what Python's reader accepts although it is invalid or ambiguous.

It refuses duplicate keys, NaN and infinity, integers beyond 64 bits, lone surrogates (which UTF-8 cannot encode) and
deep nesting.
"""

from __future__ import annotations

import json
import math
import re
from itertools import accumulate
from pathlib import Path

from ranktrial.common.errors import UserError
from ranktrial.common.reading import open_regular
from ranktrial.common.wording import LARGEST

LONGEST_INTEGER = 400  # digits
DEEPEST = 500  # levels of nesting; Python 3.13 itself allows 10,000 and crashes where Java runs in the process
_STRING = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
_NO_BRACKET = re.compile(r"[^][{}]+")
_ESCAPED_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


class _Refused(ValueError):
    """Something that Python's JSON reader accepts and this one does not."""


def _object(pairs: list[tuple[str, object]]) -> dict:
    mapping = dict(pairs)
    if len(mapping) != len(pairs):
        keys = [key for key, _ in pairs]
        raise _Refused(f"duplicate key {next(key for key in keys if keys.count(key) > 1)!r}")
    return mapping


def _constant(text: str) -> None:
    raise _Refused(f"{text} is not a JSON number")


def _integer(text: str) -> int:
    if len(text) > 20:  # Python refuses to read very long integers
        raise _Refused(f"the number {text[:20]}… is beyond 64 bits")
    value = int(text)
    if abs(value) > LARGEST:
        raise _Refused(f"the number {text} is beyond 64 bits")
    return value


def _float(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise _Refused(f"the number {text} is beyond 64 bits")
    return value


def _large_integer(text: str) -> int:
    if len(text) > LONGEST_INTEGER:
        raise _Refused(f"the number {text[:20]}… has {len(text)} digits")
    return int(text)


_REFUSALS = {"object_pairs_hook": _object, "parse_constant": _constant, "parse_float": _float}
_DECODER = json.JSONDecoder(**_REFUSALS, parse_int=_integer)
_LARGE = json.JSONDecoder(**_REFUSALS, parse_int=_large_integer)
_OF_PANDAS = json.JSONDecoder(object_pairs_hook=_object, parse_float=_float, parse_int=_integer)


def _too_deep(text: str) -> bool:
    if text.count("[") + text.count("{") <= DEEPEST:
        return False
    brackets = _NO_BRACKET.sub("", _STRING.sub("", text))
    return max(accumulate(1 if one in "[{" else -1 for one in brackets), default=0) > DEEPEST


def plain_json(text: str | bytes):
    """The value of a JSON text that may be damaged, as Python reads it. Raises ValueError, also if nested too deep."""
    if _too_deep(text.decode(errors="replace") if isinstance(text, bytes) else text):
        raise ValueError(f"more than {DEEPEST} levels")
    return json.loads(text)


def parse_json(text: str, where: str, any_size: bool = False, any_float: bool = False):
    """The value of a JSON text. Raises UserError, beginning with `where`, if it is not strictly JSON.

    With `any_size`, integers may be larger than 64 bits: tokenizers write 10^30 for an unlimited length. With
    `any_float`, NaN and infinity are floats: pandas writes them for missing values.
    """
    if _too_deep(text):
        raise UserError(f"{where}: nested too deep; expected at most {DEEPEST} levels")
    decoder = _OF_PANDAS if any_float else _LARGE if any_size else _DECODER
    try:
        value = decoder.decode(text)
        if _ESCAPED_SURROGATE.search(text):
            json.dumps(value, ensure_ascii=False).encode()
    except json.JSONDecodeError as error:
        place = f"column {error.colno}" if error.lineno == 1 else f"line {error.lineno}, column {error.colno}"
        raise UserError(f"{where}: not JSON ({error.msg} at {place})") from None
    except _Refused as error:
        raise UserError(f"{where}: {error}") from None
    except UnicodeEncodeError:
        raise UserError(f"{where}: half of a surrogate pair (\\ud800 to \\udfff), which is not a character") from None
    return value


def read_json(path: Path, any_size: bool = False):
    """The value of a JSON file in UTF-8. Raises UserError, with the file, if it is not strictly JSON."""
    try:
        with open_regular(path) as file:
            text = file.read().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UserError(f"{path}: not UTF-8 text") from None
    return parse_json(text, str(path), any_size)
