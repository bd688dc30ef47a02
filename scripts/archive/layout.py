"""Where things lie inside an archive, and of what kind they are; reads and writes nothing."""

from __future__ import annotations

import re

FORMAT = "ranktrial-archive/1"
MANIFEST = "manifest.json"
SEAL = "manifest.sha256"
CRATE = "ro-crate-metadata.json"
WORKFLOW = "workflow/"  # the sources, as they lay when the archive was written
PROVENANCE = "provenance/"
JOBS = PROVENANCE + "jobs.json"
ORIGIN = PROVENANCE + "origin.json"
IDENTITIES = PROVENANCE + "identities.json"
PACKAGES = PROVENANCE + "packages.json"
SEEDS = PROVENANCE + "seeds.json"
STATE = PROVENANCE + "state.json"
CHANGES = PROVENANCE + "changes.diff"
RESOLVED = "config/resolved.yaml"
LEFT_OUT = "left-out.json"  # in an experiment's results that came from an archive: what that archive left out
LEAN, FULL = "crate", "full"  # extents: without and with what is in HEAVY

# The first pattern that fits a path inside results/{experiment}/ says of what kind the file is.
KINDS = {
    "timing": r".*\.timing\.json",
    "training": r"models/[^/]+/[^/]+/[^/]+\.(json|tsv)",  # beside the checkpoint's folder: log, selection of a seed
    "checkpoint": r"models/.*",
    "embedding": r"embeddings/.*",
    "index": r"bm25/[^/]+/index(/.*)?",
    "text": r"data/[^/]+/(corpus\.jsonl|queries/.*)",
    "qrels": r"data/[^/]+/qrels/.*",
    "data": r"(data|negatives|bm25)/.*\.(json|tsv)",
    "run": r"(runs|bm25)/.*\.trec\.gz",
    "origin of a run": r"runs/.*\.ir_metadata\.yaml",
    "metric": r"metrics/.*",
    "effect": r"effects/.*",
    "meta-analysis": r"meta/.*",
    "figure": r"figures/.*",
    "table": r"tables/.*|published-versus-ours\.tsv",
    "report": r"[^/]+\.(md|html)|report/.*",
    "log": r"logs/.*",
    "benchmark": r"benchmarks/.*",
}
HEAVY = ("checkpoint", "embedding", "index", "text", "download")


def configuration_name(path: str) -> str:
    """Where a configuration file lies in an archive."""
    return "config/" + re.sub(r"[^\w.-]", "-", path.rsplit("/", 1)[-1])


def kind_of(path: str, experiment: str) -> str:
    """The kind of a file by its path in the repository or in an archive."""
    inside = path.removeprefix(f"results/{experiment}/")
    if inside != path:
        return next((kind for kind, pattern in KINDS.items() if re.fullmatch(pattern, inside)), "result")
    for start, kind in (("results/downloads/", "download"), (WORKFLOW, "source"), ("config/", "configuration")):
        if path.startswith(start):
            return kind
    return "provenance" if path.startswith(PROVENANCE) else "description"
