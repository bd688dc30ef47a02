"""The shapes of an archive's records, and the function that reads and checks them.

A shape is a type, a test (a function that returns what is wrong, or None), a list of one shape, `Keys` (a mapping with
at least these keys), `Each` (a mapping of any keys to one shape) or `Maybe` (a shape or null).
"""

from __future__ import annotations

import math
import re
import time
from dataclasses import dataclass
from pathlib import Path

from ranktrial.archive.crate import layout
from ranktrial.archive.crate.bounds import RECORD, check_values
from ranktrial.common.errors import UserError
from ranktrial.common.strict_json import parse_json

WORDS = {str: "text", int: "a whole number", float: "a number", dict: "a mapping", list: "a list",
         bool: "true or false"}  # fmt: skip
FIRST_YEAR = 946684800.0  # 2000-01-01: no job ended before it
SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class Keys:
    """A mapping with these keys."""

    of: dict


@dataclass(frozen=True)
class Each:
    """A mapping from any text to one shape; `key` tests each key."""

    of: object
    key: object = str


@dataclass(frozen=True)
class Maybe:
    """The shape, or null."""

    of: object


def check_shape(value, shape, where: str) -> None:
    """Raise UserError, beginning with `where` and the key, for a value that is not of the shape."""
    if isinstance(shape, Maybe):
        if value is not None:
            check_shape(value, shape.of, where)
    elif isinstance(shape, Keys):
        check_shape(value, dict, where)
        for key, part in shape.of.items():
            if key not in value:
                raise UserError(f"{where}: key {key!r} is missing")
            check_shape(value[key], part, f"{where}: {key}")
    elif isinstance(shape, Each):
        check_shape(value, dict, where)
        for key, part in value.items():
            check_shape(key, shape.key, where)
            check_shape(part, shape.of, f"{where}: {shown(key)}")
    elif isinstance(shape, list):
        check_shape(value, list, where)
        for position, part in enumerate(value, 1):
            check_shape(part, shape[0], f"{where}: entry {position}")
    elif isinstance(shape, type):
        allowed = (int, float) if shape is float else shape
        if not isinstance(value, allowed) or (isinstance(value, bool) and shape is not bool):
            raise UserError(f"{where}: {shown(value)} is not {WORDS[shape]}")
    elif problem := shape(value):
        raise UserError(f"{where}: {shown(value)} {problem}")


def shown(value) -> str:
    """An untrusted value in ASCII, at most 60 characters in one line."""
    text = ascii(value)
    return text if len(text) <= 60 else f"{text[:60]}…"


def sha256(value) -> str | None:
    return None if isinstance(value, str) and SHA256.fullmatch(value) else "is not a SHA-256"


def name(value) -> str | None:
    return layout.why_no_name(value) if isinstance(value, str) else "is not a name"


def count(value) -> str | None:
    return None if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else "is not a count"


def moment(value) -> str | None:
    """A test for seconds since 1970 at which a job can have run."""
    number = isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
    return None if number and FIRST_YEAR <= value <= time.time() + 86400 else "is not a time at which a job ran"


FILE = Keys({"sha256": sha256, "bytes": count, "kind": str})
MANIFEST = Keys({"experiment": name, "files": Each(FILE), "absent": Each(FILE), "rewritten": [str]})
JOB = Keys({
    "rule": str, "wildcards": Each(str), "command": Maybe(str), "start": Maybe(str), "end": Maybe(str),
    "host": Maybe(str), "slurm_job": Maybe(str), "driver": Maybe(str), "machine": Maybe(dict), "log": Maybe(str),
    "benchmark": Maybe(str), "resources": Maybe(dict), "inputs": Each(Maybe(sha256)), "outputs": Each(Maybe(sha256)),
})  # fmt: skip
RECORD_OF_SNAKEMAKE = Keys({
    "rule": str, "input": Maybe([str]), "log": Maybe([str]), "shellcmd": Maybe(str), "params": Maybe([str]),
    "code": Maybe(str), "record_format_version": count, "conda_env": Maybe(str), "container_img_url": Maybe(str),
    "software_stack_hash": Maybe(str), "job_hash": Maybe(int), "starttime": moment, "endtime": moment,
    "incomplete": Maybe(bool), "external_jobid": Maybe(str), "input_checksums": Maybe(Each(Maybe(str))),
})  # fmt: skip
SHAPES = {
    layout.JOBS: [JOB],
    layout.STATE: Keys({"config_files": [str], "records": Each(RECORD_OF_SNAKEMAKE)}),
    layout.ORIGIN: Keys({"experiment": name, "extent": str, "commit": Maybe(str)}),
    layout.IDENTITIES: Keys({
        "datasets": Each(Keys({"read": Each(sha256), "prepared": Each(sha256)})),
        "models": Each(Keys({"read": Each(sha256), "files": Each(sha256)})),
    }),
    layout.PACKAGES: Each(Keys({"packages": Each(Maybe(str))})),
    layout.SEEDS: Keys({"experiment": int, "systems": Each(list)}),
}  # fmt: skip


def read_record(folder: Path, record: str):
    """A record of an unpacked archive. Raises UserError, with its name, if it is missing or does not have its shape."""
    path = folder / record
    try:
        if path.stat().st_size > RECORD:
            raise UserError(f"{record}: refused, it is larger than {RECORD} bytes")
        content = path.read_bytes()
        check_values(content, record)
        value = parse_json(content.decode(), record)
    except FileNotFoundError:
        raise UserError(f"{record}: missing; every archive has it") from None
    except UnicodeDecodeError:
        raise UserError(f"{record}: not UTF-8 text") from None
    check_shape(value, SHAPES[record], record)
    return value
