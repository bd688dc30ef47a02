"""Whether an archive's records account for its results: each traced to a job that the workflow plans, hash by hash.

What the records say is not believed: the jobs are those that the sources plan for the configuration. Of them, a job of
the recomputed stages runs again; the others are told with the reason why not. Whatever is missing, or contradicts the
manifest, is a finding.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field

from scripts.archive.checking.expected import why_not_laid_out
from scripts.archive.crate import layout
from scripts.archive.crate.shapes import shown
from scripts.archive.provenance.commands import RECOMPUTED, arguments, same, script_of, settings_in, stage_of, words_of
from scripts.engine.job_records import DIRECTORY_STAMP
from scripts.experiment import results_paths
from scripts.experiment.records import UNTRAINED


@dataclass
class Traced:
    """`queue`: the jobs to run again; `elsewhere`: why other results cannot be made here; `findings`: what is wrong."""

    queue: list[dict] = field(default_factory=list)
    elsewhere: dict[str, str] = field(default_factory=dict)
    findings: dict[str, str] = field(default_factory=dict)


def results_of(manifest: dict) -> list[str]:
    """The files of an archive that some job has to have made."""
    return [
        name
        for name, entry in manifest["files"].items()
        if name.startswith("results/") and entry["kind"] not in layout.NOT_RESULTS
    ]


def traced(manifest: dict, jobs: list[dict], planned: list[dict], same_sources: bool) -> Traced:
    """Hold an archive's records against its manifest and against the jobs that are planned for its configuration.

    `same_sources`: whether the rules that planned are those of the archive, so that commands have to be the same.
    """
    held = Held(manifest)
    found = Traced()
    told: dict[str, dict] = {}
    for job in jobs:
        for path in job["outputs"]:
            if path in told:
                found.findings[path] = "two jobs say that they made it"
            told[path] = job
    for job in planned:
        _trace(job, told, held, same_sources, found)
    known = {path for job in planned for path in job["outputs"]}
    made = {name for job in planned for path in job["outputs"] for name in held.below(path)}
    for path in [path for path in told if path not in known]:
        found.findings.setdefault(path, f"made by {told[path]['rule']}, which the configuration does not ask for")
    for name in [*results_of(manifest), *manifest["absent"]]:
        if name not in made:
            found.findings.setdefault(name, "no job of the workflow makes it")
    for path, said in _outside(jobs):
        found.findings.setdefault(path, said)
    for path in found.findings:
        found.elsewhere.pop(path, None)
    return found


class Held:
    """The hashes of what an archive holds or, by its manifest, left out."""

    def __init__(self, manifest: dict) -> None:
        self.experiment, self.files = manifest["experiment"], manifest["files"]
        self.rewritten = set(manifest["rewritten"])
        self.entries = {**manifest["absent"], **self.files}
        self.folders: dict[str, list[str]] = {}
        for name in self.entries:
            folder = name.rpartition("/")[0]
            while folder:
                self.folders.setdefault(folder, []).append(name)
                folder = folder.rpartition("/")[0]

    def below(self, path: str) -> list[str]:
        """The files at a path: itself, or those of the folder."""
        return [path] if path in self.entries else self.folders.get(path, [])

    def whole(self, path: str) -> bool:
        """Whether all of a path is in the archive itself."""
        return bool(self.below(path)) and all(name in self.files for name in self.below(path))

    def fits(self, path: str, sha256: str | None) -> bool:
        """Whether a hash is that of the file or, of a folder, that of the lines `SHA-256  path inside` of its files."""
        if path in self.entries:
            return sha256 in (self.entries[path]["sha256"], self.entries[path].get("written") or "none")
        names = [name for name in self.below(path) if not name.endswith(f"/{DIRECTORY_STAMP}")]
        entries = {name: self.entries[name] for name in names}
        for key in ("sha256", "written"):
            lines = [
                f"{entries[name].get(key) or entries[name]['sha256']}  {name.removeprefix(path + '/')}\n"
                for name in sorted(names, key=lambda name: name.split("/"))
            ]
            if lines and hashlib.sha256("".join(lines).encode()).hexdigest() == sha256:
                return True
        return False


def _trace(job: dict, told: dict[str, dict], held: Held, same_sources: bool, found: Traced) -> None:
    """One planned job: is it told of, do its hashes fit, and can it run again?"""
    script = script_of(job["command"] or "") or ""
    recomputed = stage_of(script) in RECOMPUTED
    records = [told.get(path) for path in job["outputs"]]
    for path, record in zip(job["outputs"], records, strict=True):
        if said := _contradiction(path, record, job, held, same_sources and stage_of(script) != "datasets"):
            found.findings[path] = said
    outputs = [name for path in job["outputs"] for name in held.below(path) if name in held.files]
    if not recomputed:
        reason = f"made by {job['rule']}, which fetches, prepares, trains, indexes or ranks"
        found.elsewhere |= dict.fromkeys(outputs, reason)
        return
    inputs = [path for path in job["inputs"] if not path.startswith("scripts/")]
    missing = [path for path in inputs if not held.whole(path)]
    for path in missing:
        if path.startswith("results/") and not held.below(path):
            found.findings.setdefault(path, f"missing, though {job['rule']} read it")
            found.elsewhere |= dict.fromkeys(outputs, f"made by {job['rule']} from {path}, which is missing")
            return
    lacking = [path for path in missing if path.startswith("results/") or not _among_sources(path, held)]
    words = arguments(job["command"])
    if lacking:
        kind = layout.kind_of(lacking[0], held.experiment)
        kind = kind if lacking[0].startswith("results/") else "file from outside"
        reason = f"made by {job['rule']} from a {kind} that is not in the archive ({lacking[0]})"
        found.elsewhere |= dict.fromkeys(outputs, reason)
    elif words is None:
        found.findings |= dict.fromkeys(outputs, f"the command of {job['rule']} is not of a kind that is run here")
    else:
        found.queue.append({"words": words, "outputs": job["outputs"], "inputs": inputs, "files": outputs})


def _among_sources(path: str, held: Held) -> bool:
    return why_not_laid_out(path) is None and layout.WORKFLOW + path in held.files


def _contradiction(path: str, record: dict | None, job: dict, held: Held, same_command: bool) -> str | None:
    """What of a job's record contradicts the manifest or the plan, in words; None where nothing does."""
    if not held.below(path):
        return f"missing; {job['rule']} makes it, and the configuration asks for it"
    if record is None:
        return f"no job says that it made it; {job['rule']} does"
    if record["rule"] != job["rule"]:
        return f"its job calls itself {record['rule']}; {job['rule']} makes it"
    if not held.fits(path, record["outputs"][path]):
        return "its job says that it wrote another content (SHA-256)"
    wanted = {one for one in job["inputs"] if one.startswith("results/")}
    said = {one: sha256 for one, sha256 in record["inputs"].items() if one.startswith("results/")}
    if unlike := sorted(wanted ^ said.keys()):
        return f"its job read {'no ' if unlike[0] in wanted else ''}{unlike[0]}; the workflow plans it otherwise"
    for one, sha256 in said.items():
        if not held.fits(one, sha256):
            return f"its job read another content of {one} (SHA-256) than the archive has"
    for one, sha256 in record["inputs"].items():
        archived = held.files.get(layout.WORKFLOW + one) if one.startswith("scripts/") else None
        if archived and sha256 not in (archived["sha256"], archived.get("written")):
            return f"its job ran another {one} (SHA-256) than the archive has"
    if record["wildcards"] != job["wildcards"]:
        return f"its job tells of the wildcards {shown(record['wildcards'])}; they are {shown(job['wildcards'])}"
    from_outside = any(not one.startswith(("results/", "scripts/")) for one in job["inputs"])
    if not same_command or from_outside:
        return None  # settings may tell of what lies outside
    if not same(job["command"] or "", record["command"] or ""):
        return f"its job ran another command than {job['rule']} does"
    told = settings_in(words_of(record["command"] or "") or [])
    return None if told in (None, record.get("settings")) else "its job's settings are not those of its command"


def identity_findings(identities: dict, manifest: dict) -> dict[str, str]:
    """Prepared data and models of which the record of identities says another content than the manifest."""
    held, found = Held(manifest), {}
    for section, (folder_of, key) in {"datasets": (_prepared, "prepared"), "models": (_weights, "files")}.items():
        for name, entry in identities[section].items():
            folder = folder_of(held.experiment, name)
            for file, sha256 in entry[key].items():
                path = folder if file == "." else f"{folder}/{file}"
                if not file.endswith(DIRECTORY_STAMP) and not held.fits(path, sha256):
                    found[path] = f"{layout.IDENTITIES} says another content (SHA-256) of it"
    return found


def _prepared(experiment: str, dataset: str) -> str:
    return results_paths.path("statistics", experiment=experiment, dataset=dataset).rpartition("/")[0]


def _weights(experiment: str, model: str) -> str:
    return results_paths.path("checkpoint", experiment=experiment, model=model, recipe=UNTRAINED, seed=0)


def _outside(jobs: list[dict]) -> Iterator[tuple[str, str]]:
    """Files from outside of which two jobs say that they had read another content."""
    read: dict[str, str] = {}
    for job in jobs:
        for path, sha256 in job["inputs"].items():
            if sha256 and read.setdefault(path, sha256) != sha256:
                yield path, "two jobs say that they read another content of it (SHA-256)"
