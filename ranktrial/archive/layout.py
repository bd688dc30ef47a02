"""The paths inside an archive, the kind of each file, and the shape of its records; reads records, writes nothing.

Every path from an archive is checked against the lists here: what an archive may contain, and what of it may be written
into a clone.

A shape of a record is a type, a test (a function that returns what is wrong, or None), a list of one shape, `Keys` (a
mapping with at least these keys), `Each` (a mapping of any keys to one shape) or `Maybe` (a shape or null). The
manifest has the SHA-256 of every file in an archive, and of those that were left out.

The sizes and names that a zip states are checked before anything is unpacked: a hostile zip can state sizes beyond any
disk, name a file twice, or let its members overlap. The archives that are written here hold their members one after the
other, stored or deflated, with nothing between them.
"""

from __future__ import annotations

import gzip
import hashlib
import math
import re
import struct
import time
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ranktrial.common.errors import UserError
from ranktrial.common.files import sha256
from ranktrial.common.paths import why_not_below
from ranktrial.common.strict_json import parse_json
from ranktrial.common.unpacking import Unpacking, check_zip
from ranktrial.experiment.results_paths import HEAVY, NAME, NOT_ARCHIVED, RESERVED, kind, path

FORMAT = "ranktrial-archive/2"
MANIFEST = "manifest.json"
SEAL = "manifest.sha256"
CRATE = "ro-crate-metadata.json"
WORKFLOW = "workflow/"  # the sources at the time when the archive was written
PROVENANCE = "provenance/"
DOWNLOADS = path("download", download="")  # shared by all experiments
LOGS = "results/{}/logs/"  # of an experiment
JOBS = PROVENANCE + "jobs.json"
ORIGIN = PROVENANCE + "origin.json"
IDENTITIES = PROVENANCE + "identities.json"
PACKAGES = PROVENANCE + "packages.json"
SEEDS = PROVENANCE + "seeds.json"
STATE = PROVENANCE + "state.json"
CHANGES = PROVENANCE + "changes.diff"
RESOLVED = "config/resolved.yaml"
LEAN, FULL = "crate", "full"  # extents: without and with the kinds that are heavy
PAGES = ("README.md", "CITATION.cff", MANIFEST, SEAL, CRATE)
RECORDS = (JOBS, ORIGIN, IDENTITIES, PACKAGES, SEEDS, STATE)
NOT_RESULTS = ("log", "benchmark", "origin of a run")  # beside the results: no job's output


def why_no_name(name: str) -> str | None:
    """Why a text is not the name of an experiment, task or system; None if it is."""
    if not re.fullmatch(NAME, name):
        return "is not a name: it may contain letters, digits, '.', '_' and '-'"
    return "is a folder of the workflow's own under results/" if name in RESERVED else None


def why_no_result(name: str, experiment: str) -> str | None:
    """Why a path is not that of an experiment's result or download; None if it is."""
    if reason := why_not_below(name):
        return reason
    if name.startswith((f"results/{experiment}/", DOWNLOADS)) and kind_of(name, experiment) != NOT_ARCHIVED:
        return None
    return "is on no list of results"


def why_no_member(name: str, experiment: str) -> str | None:
    """Why an archive of the experiment cannot contain such a file; None if it can."""
    if reason := why_not_below(name):
        return reason
    if name in (*PAGES, *RECORDS, CHANGES) or name.startswith(WORKFLOW):
        return None
    if name.startswith("config/"):
        return None if name.count("/") == 1 else "is no configuration's place"
    return why_no_result(name, experiment)


def result_path(name: str, experiment: str, where: str) -> str:
    """The path itself. Raises UserError, beginning with `where`, if it is not that of a result."""
    if reason := why_no_result(name, experiment):
        raise UserError(f"{where}: refused, the path {name!r} {reason}")
    return name


def configuration_name(path: str) -> str:
    """The path of a configuration file in an archive."""
    return "config/" + re.sub(r"[^\w.-]", "-", path.rsplit("/", 1)[-1])


def kind_of(path: str, experiment: str) -> str:
    """The kind of a file by its path in the repository or in an archive."""
    if path.startswith((f"results/{experiment}/", DOWNLOADS)):
        try:
            return kind(path)
        except UserError:
            return NOT_ARCHIVED
    for start, name in ((WORKFLOW, "source"), ("config/", "configuration"), (PROVENANCE, "provenance")):
        if path.startswith(start):
            return name
    return "description"


MEMBERS = 250_000
DIRECTORY = 256 << 20  # bytes of the zip's directory, which is read at once
RATIO = 250  # unpacked size by packed size; results of experiments stay far below it
SMALL = 64 << 20  # bytes that a file may unpack to at any ratio
TOTAL = 512 << 20  # bytes that all files may unpack to at any ratio
RECORD = 512 << 20  # bytes of a record, which is read at once
VALUES = 4_000_000  # values in a record
BLOCK = 1 << 20

_END, _LOCATOR, _END64 = b"PK\5\6", b"PK\6\7", b"PK\6\6"
_END_SIZE = 22
_FARTHEST = _END_SIZE + (1 << 16)  # the end record and the longest comment
WORDS = {str: "text", int: "a whole number", float: "a number", dict: "a mapping", list: "a list",
         bool: "true or false"}  # fmt: skip
FIRST_YEAR = 946684800.0  # 2000-01-01: no job ended before it
SHA256 = re.compile(r"[0-9a-f]{64}")


def ends(path: Path) -> tuple[int, int, int]:
    """The offset of a zip's directory, its length in bytes, and its number of members, as the zip states them.

    Raises UserError if the file has no end record of a zip, or if the record exceeds the limits.
    """
    size = path.stat().st_size
    with open(path, "rb") as file:
        file.seek(max(0, size - _FARTHEST))
        tail = file.read()
        place = tail.rfind(_END)
        if place < 0 or len(tail) - place < _END_SIZE:
            raise UserError(f"{path}: not an archive: not a readable zip file (it has no end record)")
        count, length, start = struct.unpack("<HLL", tail[place + 10 : place + 20])
        if count == 0xFFFF or 0xFFFFFFFF in (length, start):
            where = size - len(tail) + place - 20
            file.seek(max(0, where))
            locator = file.read(20)
            if locator[:4] != _LOCATOR:
                raise UserError(f"{path}: damaged archive: it states no size of its directory")
            file.seek(min(struct.unpack("<Q", locator[8:16])[0], size))
            record = file.read(56)
            if record[:4] != _END64 or len(record) < 56:
                raise UserError(f"{path}: damaged archive: it states no size of its directory")
            count, length, start = struct.unpack("<QQQ", record[32:56])
    if count > MEMBERS or length > DIRECTORY:
        raise UserError(f"{path}: refused, the archive states {count} files; at most {MEMBERS} are read")
    return start, length, count


def why_too_big(unpacked: int, packed: int, small: int = SMALL) -> str | None:
    """Why a file may not be unpacked, by its stated sizes in bytes; None if it may."""
    if unpacked > small and unpacked > RATIO * packed:
        return f"unpacks to {unpacked} bytes, more than {RATIO} times its size"
    return None


def check_members(path: Path, archive: zipfile.ZipFile) -> None:
    """Raise UserError for a zip beyond the limits, one that no job could unpack, or one that is not as archives are."""
    members = archive.infolist()
    if problem := why_too_big(sum(member.file_size for member in members), path.stat().st_size, TOTAL):
        raise UserError(f"{path}: refused, the archive {problem}")
    to = Unpacking(path, path.parent)
    try:
        check_zip(archive, to)
    except struct.error as error:
        raise to.damaged(error) from None
    seen: dict[str, str] = {}
    for member in members:
        first = seen.setdefault(member.filename.casefold(), member.filename)
        problem = _odd(member) or why_too_big(member.file_size, member.compress_size)
        if first != member.filename:
            problem = f"differs from {first!r} in upper and lower case only"
        if problem:
            raise to.refused(f"the archive's {member.filename!r} {problem}")


def _odd(member: zipfile.ZipInfo) -> str | None:
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        return f"is compressed by a method ({member.compress_type}) that archives do not use"
    if member.compress_type == zipfile.ZIP_STORED and member.file_size != member.compress_size:
        return "is stored, and states two sizes"
    return "is a folder" if member.is_dir() else None


def why_no_gzip(path: Path) -> str | None:
    """Why a gzip file cannot be unpacked within the limits; None if it can. It is read block by block."""
    packed, unpacked = path.stat().st_size, 0
    try:
        with gzip.open(path) as file:
            while block := file.read(BLOCK):
                unpacked += len(block)
                if reason := why_too_big(unpacked, packed):
                    return reason
    except (OSError, EOFError, zlib.error) as error:
        return f"is a damaged gzip file ({error})"
    return None


def check_values(text: bytes, where: str) -> None:
    """Raise UserError for a record with more values than the records of a large experiment have."""
    if sum(map(text.count, (b",", b"[", b"{"))) > VALUES:
        raise UserError(f"{where}: refused, it contains more than {VALUES} values")


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


def digest(value) -> str | None:
    return None if isinstance(value, str) and SHA256.fullmatch(value) else "is not a SHA-256"


def name(value) -> str | None:
    return why_no_name(value) if isinstance(value, str) else "is not a name"


def count(value) -> str | None:
    return None if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else "is not a count"


def moment(value) -> str | None:
    """A test for seconds since 1970 at which a job can have run."""
    number = isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
    return None if number and FIRST_YEAR <= value <= time.time() + 86400 else "is not a time at which a job ran"


FILE = Keys({"sha256": digest, "bytes": count, "kind": str})
MANIFEST_SHAPE = Keys({"experiment": name, "files": Each(FILE), "absent": Each(FILE), "rewritten": [str]})
JOB = Keys({
    "rule": str, "wildcards": Each(str), "command": Maybe(str), "start": Maybe(str), "end": Maybe(str),
    "host": Maybe(str), "slurm_job": Maybe(str), "driver": Maybe(str), "machine": Maybe(dict), "log": Maybe(str),
    "benchmark": Maybe(str), "resources": Maybe(dict), "inputs": Each(Maybe(digest)), "outputs": Each(Maybe(digest)),
})  # fmt: skip
RECORD_OF_SNAKEMAKE = Keys({
    "rule": str, "input": Maybe([str]), "log": Maybe([str]), "shellcmd": Maybe(str), "params": Maybe([str]),
    "code": Maybe(str), "record_format_version": count, "conda_env": Maybe(str), "container_img_url": Maybe(str),
    "software_stack_hash": Maybe(str), "job_hash": Maybe(int), "starttime": moment, "endtime": moment,
    "incomplete": Maybe(bool), "external_jobid": Maybe(str), "input_checksums": Maybe(Each(Maybe(str))),
})  # fmt: skip
SHAPES = {
    JOBS: [JOB],
    STATE: Keys({"config_files": [str], "records": Each(RECORD_OF_SNAKEMAKE)}),
    ORIGIN: Keys({"experiment": name, "extent": str, "commit": Maybe(str)}),
    IDENTITIES: Keys({
        "datasets": Each(Keys({"read": Each(digest), "prepared": Each(digest)})),
        "models": Each(Keys({"read": Each(digest), "files": Each(digest)})),
    }),
    PACKAGES: Each(Keys({"packages": Each(Maybe(str))})),
    SEEDS: Keys({"experiment": int, "systems": Each(list)}),
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


def manifest(
    files: Mapping[str, bytes | Path], absent: dict[str, dict], rewritten: dict[str, str], experiment: str
) -> dict:
    """The content of manifest.json; it does not list itself and its seal.

    From `rewritten` files, folders or secrets were removed; these also state the SHA-256 of what their job wrote.
    """
    listed = {name: _entry(files[name], name, experiment) for name in sorted({*files} - {MANIFEST, SEAL})}
    for name, written in rewritten.items():
        listed[name]["written"] = written
    return {
        "format": FORMAT,
        "experiment": experiment,
        "files": listed,
        "rewritten": sorted(rewritten),
        "absent": {name: absent[name] for name in sorted(absent)},
    }


def shaped(manifest: dict, where: str) -> dict:
    """The manifest itself, checked. Raises UserError if it does not have a manifest's shape or contradicts itself."""
    check_shape(manifest, MANIFEST_SHAPE, where)
    for section in ("files", "absent"):
        for name, entry in manifest[section].items():
            kind = kind_of(name, manifest["experiment"])
            if entry["kind"] != kind:
                raise UserError(f"{where}: {section}: {name!r} is called {entry['kind']!r}; its path says {kind!r}")
            if section == "absent" and kind not in HEAVY:
                raise UserError(f"{where}: absent: {name!r} is left out, but no archive leaves out the kind {kind!r}")
    if in_both := manifest["files"].keys() & manifest["absent"].keys():
        raise UserError(f"{where}: {min(in_both)!r} is among the files and among those that were left out")
    return manifest


def _entry(content: bytes | Path, name: str, experiment: str) -> dict:
    if isinstance(content, Path):
        digest, size = sha256(content), content.stat().st_size
    else:
        digest, size = hashlib.sha256(content).hexdigest(), len(content)
    return {"sha256": digest, "bytes": size, "kind": kind_of(name, experiment)}


def seal(content: bytes) -> str:
    """The content of manifest.sha256, in the format of sha256sum."""
    return f"{hashlib.sha256(content).hexdigest()}  {MANIFEST}\n"
