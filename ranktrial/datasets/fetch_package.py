"""Fetch one file of a package from the user's index through pip, without running any code of the package.

A wheel is fetched by `pip download`. For a source package, that would run its setup.py or build system to read its
metadata; so pip's own finder locates source packages, and its session, which has the user's index, certificates and
passwords, downloads the file. Its content is unpacked later, like that of any archive.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from ranktrial.common import urls
from ranktrial.common.errors import UserError
from ranktrial.common.files import sha256

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
