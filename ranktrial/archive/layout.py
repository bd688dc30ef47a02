"""The paths inside an archive, and the kind of each file; reads and writes nothing.

Every path from an archive is checked against the lists here: what an archive may contain, and what of it may be written
into a clone.
"""

from __future__ import annotations

import re

from ranktrial.common.errors import UserError
from ranktrial.common.paths import why_not_below
from ranktrial.experiment.results_paths import NAME, NOT_ARCHIVED, RESERVED, kind, path

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
