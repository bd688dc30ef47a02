"""The jobs that an archive should tell of: its configuration, planned by the sources that check it.

Files of the user's own that the archive does not hold are stood in for by empty ones, since only their names matter.
"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
from functools import cache
from pathlib import Path

from scripts.archive.checking.confined import Confinement, own_script
from scripts.archive.crate import layout
from scripts.archive.crate.shapes import shown
from scripts.common.errors import UserError
from scripts.common.locations import is_remote
from scripts.common.paths import below, why_not_below
from scripts.experiment.reading import complete, read_yaml
from scripts.experiment.schema import BASE

OUTSIDE, MIRROR = "outside", "mirror"  # folders of what stands in for files at other places, and in mirrors
LARGEST = 8 << 20  # bytes of a configuration
# What a file of published numbers ends in; nothing that a library looks for in the folder where it runs does.
READABLE = (".tsv", ".csv", ".txt", ".yaml", ".yml", ".json", ".md")


def configuration(folder: Path, config_files: list[str], experiment: str) -> dict:
    """The configuration of an unpacked archive as it was written, checked by the schema. Raises UserError.

    Of several files, later ones add to and take the place of what earlier ones say, as Snakemake has it.
    """
    if not config_files:
        raise UserError(f"{layout.STATE}: config_files: is empty; every archive has a configuration")
    found: dict = {}
    for path in config_files:
        _add(found, read_configuration(folder, layout.configuration_name(path)))
    completed(found, layout.configuration_name(config_files[-1]))
    if found.get("experiment") != experiment:
        name = layout.configuration_name(config_files[-1])
        raise UserError(f"{name}: its experiment is {shown(found.get('experiment'))}; the archive says {experiment!r}")
    return found


def _add(found: dict, more: dict) -> None:
    for key, value in more.items():
        if isinstance(value, dict) and isinstance(found.get(key), dict):
            _add(found[key], value)
        else:
            found[key] = value


def read_configuration(folder: Path, name: str) -> dict:
    """A YAML file of an unpacked archive. Raises UserError."""
    path = below(folder, name, layout.STATE)
    if path.is_file() and path.stat().st_size > LARGEST:
        raise UserError(f"{name}: refused, it is larger than {LARGEST >> 20} MB")
    try:
        return read_yaml(path)
    except UserError as error:
        raise UserError(str(error).replace(f"{folder}/", "")) from None
    except Exception as error:  # whatever YAML does that its reader does not know of
        raise UserError(f"{name}: cannot be read ({type(error).__name__})") from None


def completed(config: dict, name: str) -> dict | None:
    """The configuration with this clone's defaults; None inside a zip, where the sources that plan check it."""
    if not BASE.is_file():
        return None
    try:
        return complete(config, name)[0]
    except UserError:
        raise
    except Exception as error:  # a shape that the schema's reader does not know of
        raise UserError(f"{name}: cannot be read ({type(error).__name__})") from None


class StandIns:
    """Places that a configuration names, and what stands in for those that no path below a folder names."""

    def __init__(self, folder: Path, fetched: set[str]) -> None:
        self.folder, self.fetched = folder, fetched
        self.originals: dict[str, str] = {}  # stand-in -> the place as the configuration has it

    def of(self, place, weights: bool = False):
        """The name under which a place (or each of a list) is planned; a file, or a folder of weights, is put there.

        What was fetched although it is no address came from a mirror, and lies in one here.
        """
        if isinstance(place, list):
            return [self.of(one, weights) for one in place]
        if not isinstance(place, str) or is_remote(place) or place.startswith("ir_datasets:"):
            return place
        if re.sub(r"[^A-Za-z0-9._=-]+", "-", place) in self.fetched:  # see `download` of rules/common.smk
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
                path.write_text(content)  # no two are the same
        except (FileExistsError, NotADirectoryError):
            pass  # one place is inside another: the planned names will tell

    def restored(self, text: str) -> str:
        for name, place in self.originals.items():
            text = text.replace(json.dumps(name)[1:-1], json.dumps(place, ensure_ascii=False)[1:-1])
        return text


def stood_in(config: dict, stand_ins: StandIns) -> dict:
    """The configuration with its places replaced; `config` itself is left as it is."""
    config = json.loads(json.dumps(config))
    config["mirrors"] = [MIRROR]
    for entry in _entries(config, "datasets"):
        if "location" in entry:
            entry["location"] = stand_ins.of(entry["location"])
    for entry in _entries(config, "models"):
        if "weights" in entry:
            entry["weights"] = stand_ins.of(entry["weights"], weights=True)
    for entry in _entries(config, "systems"):
        for section in ("runs", "scores"):
            if isinstance(entry.get(section), dict):
                entry[section] = {task: stand_ins.of(place) for task, place in entry[section].items()}
    return config


def _entries(config: dict, section: str) -> list[dict]:
    found = config.get(section)
    return [one for one in found.values() if isinstance(one, dict)] if isinstance(found, dict) else []


def published_files(config: dict) -> list[str]:
    """The files of published numbers that lie among an archive's sources."""
    published = config.get("published")
    named = [published.get(key) for key in ("file", "mapping")] if isinstance(published, dict) else []
    return [one for one in named if isinstance(one, str)]


def why_not_laid_out(path: str) -> str | None:
    """Why a file of published numbers may not lie in a folder where scripts run; None where it may."""
    if reason := why_not_below(path):
        return reason
    hidden = any(part.startswith(".") for part in path.split("/"))
    return "is no table" if hidden or not path.endswith(READABLE) or path.startswith("results/") else None


def expected(archive: Path, config: dict, jobs: list[dict], sources: Path, confinement: Confinement) -> list[dict]:
    """The jobs that `sources` plan for the configuration of the archive unpacked in `archive`. Raises UserError.

    Of the archive's own `jobs` only those that fetched count: they tell what did not lie in its place.
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
    return json.loads(_planned(text, sources, confinement))


@cache
def _planned(text: str, sources: Path, confinement: Confinement) -> str:
    config, published, fetched = json.loads(text)
    with confinement.folder("plan") as folder:
        for name, content in published.items():
            path = below(folder, name, "configuration")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)
        stand_ins = StandIns(folder, set(fetched))
        (folder / MIRROR).mkdir()
        asked = json.dumps(stood_in(config, stand_ins))
        command = [own_script("plan.py", sources), "--sources", str(sources.resolve())]
        done = subprocess.run(confinement.command(command, folder), cwd=folder, input=asked, capture_output=True,
                              text=True, env=confinement.environment(folder))  # fmt: skip
        if done.returncode:
            lines = [line for line in done.stderr.splitlines() if line.strip()] or ["it ended without a word"]
            said = next((line for line in lines if line.startswith("error: ")), lines[-1]).removeprefix("error: ")
            raise UserError(f"its configuration cannot be planned by these sources: {stand_ins.restored(said)[:300]}")
        return stand_ins.restored(done.stdout)
