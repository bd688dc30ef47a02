"""The jobs that an archive should describe: those that this clone plans for its configuration.

Files of the user that the archive does not hold are replaced by placeholders, because only their names matter. Scripts
run on an archive's content in fresh folders, by a Python that reads nothing from outside: they do not see this
process's environment (tokens), its home folder or modules in their working folder.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import site
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from ranktrial.archive import layout
from ranktrial.archive.layout import shown
from ranktrial.common.errors import UserError
from ranktrial.common.home import HOME, ROOT, own_file
from ranktrial.common.paths import below, why_not_below
from ranktrial.common.urls import is_remote
from ranktrial.configuration.reading import complete, read_yaml

OUTSIDE, MIRROR = "outside", "mirror"  # folders of the placeholders for files elsewhere and in mirrors
LARGEST = 8 << 20  # bytes of a configuration
# Suffixes of files of published numbers. No library loads files with these suffixes from its working folder.
READABLE = (".tsv", ".csv", ".txt", ".yaml", ".yml", ".json", ".md")


@contextmanager
def fresh_folder(name: str) -> Iterator[Path]:
    """A fresh folder, removed afterwards."""
    with tempfile.TemporaryDirectory(prefix=f"ranktrial-{name}-") as temporary:
        yield Path(temporary).resolve()


def isolated(script: str, *arguments: str) -> list[str]:
    """The command that runs one of this room's scripts in a Python that reads nothing from outside."""
    # `-I` ignores PYTHON… variables and modules of the folder and the user; `-B` writes nothing beside the sources
    return [sys.executable, "-I", "-B", str(own_file(f"scripts/archive/{script}")), *arguments]


def environment(folder: Path) -> dict[str, str]:
    """The environment of such a script: from this process, only the search path and OpenBLAS's choice of kernels."""
    home = folder / "home"
    home.mkdir(exist_ok=True)
    path = os.pathsep.join([os.path.dirname(sys.executable), os.environ.get("PATH", os.defpath)])
    # Another kernel gives sums other last digits, and so results of this machine would be reported as different.
    kernels = {name: value for name, value in os.environ.items() if name.startswith("OPENBLAS_")}
    return {"PATH": path, "HOME": str(home), "TMPDIR": str(home), "XDG_CACHE_HOME": str(home), "MPLBACKEND": "agg",
            "MPLCONFIGDIR": str(home), "OMP_NUM_THREADS": "1", "LC_ALL": "C.UTF-8", **kernels}  # fmt: skip


def search_path() -> list[str]:
    """Where such a script finds our modules, and the user's packages if this process does: `-I` leaves both out."""
    return [str(HOME), str(ROOT), *(path for path in [site.getusersitepackages()] if path in sys.path)]


def configuration(folder: Path, config_files: list[str], experiment: str) -> dict:
    """The configuration of an unpacked archive as it was written, checked by the schema. Raises UserError.

    Of several files, later ones extend and override earlier ones, as in Snakemake.
    """
    if not config_files:
        raise UserError(f"{layout.STATE}: config_files: is empty; every archive has a configuration")
    config: dict = {}
    for path in config_files:
        _add(config, read_configuration(folder, layout.configuration_name(path)))
    completed(config, layout.configuration_name(config_files[-1]))
    if config.get("experiment") != experiment:
        name = layout.configuration_name(config_files[-1])
        raise UserError(f"{name}: its experiment is {shown(config.get('experiment'))}; the archive says {experiment!r}")
    return config


def _add(config: dict, addition: dict) -> None:
    for key, value in addition.items():
        if isinstance(value, dict) and isinstance(config.get(key), dict):
            _add(config[key], value)
        else:
            config[key] = value


def read_configuration(folder: Path, name: str) -> dict:
    """A YAML file of an unpacked archive. Raises UserError."""
    path = below(folder, name, layout.STATE)
    if path.is_file() and path.stat().st_size > LARGEST:
        raise UserError(f"{name}: refused, it is larger than {LARGEST >> 20} MB")
    try:
        return read_yaml(path)
    except UserError as error:
        raise UserError(str(error).replace(f"{folder}/", "")) from None
    except Exception as error:  # a hostile file may raise anything in the YAML library
        raise UserError(f"{name}: cannot be read ({type(error).__name__})") from None


def completed(config: dict, name: str) -> dict:
    """The configuration with this clone's defaults. Raises UserError."""
    try:
        return complete(config, name)[0]
    except UserError:
        raise
    except Exception as error:  # a hostile configuration may raise anything in the schema library
        raise UserError(f"{name}: cannot be read ({type(error).__name__})") from None


class StandIns:
    """Placeholders for the files that a configuration names, laid out below one folder."""

    def __init__(self, folder: Path, fetched: set[str]) -> None:
        self.folder, self.fetched = folder, fetched
        self.originals: dict[str, str] = {}  # placeholder -> the place as the configuration names it

    def of(self, place, weights: bool = False):
        """The name under which a place (or each of a list) is planned; a file or a folder of weights is put there.

        A place that was fetched although it is not an address came from a mirror, so it is put in a mirror.
        """
        if isinstance(place, list):
            return [self.of(item, weights) for item in place]
        if not isinstance(place, str) or is_remote(place):
            return place
        if re.sub(r"[^A-Za-z0-9._=-]+", "-", place) in self.fetched:  # as downloads are named (datasets/planning.py)
            if not weights and not why_not_below(place):
                self._put(f"{MIRROR}/{place.rsplit('/', 1)[-1]}", place)
            return place
        name = place
        if why_not_below(place) or place.startswith(("results/", f"{OUTSIDE}/", f"{MIRROR}/")):
            last = re.sub(r"[^\w.-]", "-", place.rstrip("/").rsplit("/", 1)[-1]).strip(".") or "x"
            name = f"{OUTSIDE}/{hashlib.sha256(place.encode()).hexdigest()[:16]}/{last[-100:]}"
            self.originals[name] = place
        self._put(f"{name}/weights" if weights else name, place)
        return name

    def _put(self, name: str, content: str) -> None:
        path = below(self.folder, name, "configuration")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            if not path.exists():
                path.write_text(content)  # each has its own content, because identical files would be refused
        except (FileExistsError, NotADirectoryError):
            pass  # one place lies inside another: the planned names will show it

    def restored(self, text: str) -> str:
        """A text with the names of placeholders replaced by the places that they stand for."""
        for name, place in self.originals.items():
            text = text.replace(json.dumps(name)[1:-1], json.dumps(place, ensure_ascii=False)[1:-1])
        return text


def stood_in(config: dict, stand_ins: StandIns) -> dict:
    """A copy of the configuration in which places are replaced by placeholders."""
    config = json.loads(json.dumps(config))
    config["mirrors"] = [MIRROR]
    for entry in _entries(config, "datasets"):
        if "location" in entry:
            entry["location"] = stand_ins.of(entry["location"])
    for entry in _entries(config, "models"):
        if "weights" in entry and "endpoint" not in entry:
            entry["weights"] = stand_ins.of(entry["weights"], weights=True)
    for entry in _entries(config, "systems"):
        for section in ("runs", "scores"):
            if isinstance(entry.get(section), dict):
                entry[section] = {task: stand_ins.of(place) for task, place in entry[section].items()}
        if entry.get("type") == "command" and "code" in entry:
            entry["code"] = stand_ins.of(entry["code"])
    return config


def _entries(config: dict, section: str) -> list[dict]:
    entries = config.get(section)
    return [entry for entry in entries.values() if isinstance(entry, dict)] if isinstance(entries, dict) else []


def published_files(config: dict) -> list[str]:
    """The files of published numbers that a configuration names; they lie among an archive's sources."""
    published = config.get("published")
    names = [published.get(key) for key in ("file", "mapping")] if isinstance(published, dict) else []
    return [name for name in names if isinstance(name, str)]


def why_not_laid_out(path: str) -> str | None:
    """Why a file of published numbers may not lie in a folder where scripts run; None if it may."""
    if reason := why_not_below(path):
        return reason
    hidden = any(part.startswith(".") for part in path.split("/"))
    return "is not a table" if hidden or not path.endswith(READABLE) or path.startswith("results/") else None


def expected(archive: Path, config: dict, jobs: list[dict]) -> list[dict]:
    """The jobs that this clone plans for the configuration of the archive unpacked in `archive`. Raises UserError.

    Of the archive's own `jobs` only those that fetched are used: they show what was not available locally.
    """
    fetched = sorted(
        {
            path.removeprefix(layout.DOWNLOADS)
            for job in jobs
            for path in job["outputs"]
            if path.startswith(layout.DOWNLOADS)
        }
    )
    published = {}
    for name in published_files(config):
        if why_not_laid_out(name) is None and (archive / layout.WORKFLOW / name).is_file():
            published[name] = (archive / layout.WORKFLOW / name).read_text(errors="replace")
    text = json.dumps([config, published, fetched], default=str)
    return json.loads(_planned(text))


@cache
def _planned(text: str) -> str:
    config, published, fetched = json.loads(text)
    with fresh_folder("plan") as folder:
        for name, content in published.items():
            path = below(folder, name, "configuration")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)
        stand_ins = StandIns(folder, set(fetched))
        (folder / MIRROR).mkdir()
        request = json.dumps(stood_in(config, stand_ins))
        command = isolated("plan.py", "--sources", str(HOME), "--modules", str(ROOT))
        process = subprocess.run(command, cwd=folder, input=request, capture_output=True, text=True,
                                 env=environment(folder))  # fmt: skip
        if process.returncode:
            lines = [line for line in process.stderr.splitlines() if line.strip()] or ["it ended without a message"]
            message = next((line for line in lines if line.startswith("error: ")), lines[-1]).removeprefix("error: ")
            reason = stand_ins.restored(message)[:300]
            raise UserError(f"its configuration cannot be planned by these sources: {reason}")
        return stand_ins.restored(process.stdout)
