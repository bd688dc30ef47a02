"""The archive as a Provenance Run Crate (RO-Crate 1.1, profile 0.5): workflow, steps, tools, each job as an action.

The entities follow https://www.researchobject.org/workflow-run-crate/profiles/provenance_run_crate/. Files in the
archive are of type File; inputs and outputs that were left out are contextual entities with their SHA-256.
"""

from __future__ import annotations

from urllib.parse import quote

from scripts.archive.crate.layout import CRATE, LEAN
from scripts.common.version import VERSION
from scripts.experiment import results_paths

CONTEXT = ["https://w3id.org/ro/crate/1.1/context", "https://w3id.org/ro/terms/workflow-run/context"]
PROFILES = {
    "https://w3id.org/ro/wfrun/process/0.5": "Process Run Crate",
    "https://w3id.org/ro/wfrun/workflow/0.5": "Workflow Run Crate",
    "https://w3id.org/ro/wfrun/provenance/0.5": "Provenance Run Crate",
    "https://w3id.org/workflowhub/workflow-ro-crate/1.0": "Workflow RO-Crate",
}
MAIN = "workflow/Snakefile"
ENGINE = "#snakemake"
CONFIGURATION = "#configuration"
TYPES = {".json": "application/json", ".yaml": "application/yaml", ".tsv": "text/tab-separated-values",
         ".md": "text/markdown", ".svg": "image/svg+xml", ".png": "image/png", ".pdf": "application/pdf",
         ".gz": "application/gzip", ".html": "text/html", ".py": "text/x-python",
         ".tex": "application/x-tex"}  # fmt: skip


def refer(ids: list[str]) -> list[dict]:
    return [{"@id": entity_id} for entity_id in ids]


def crate(about: dict, files: dict[str, dict], jobs: list[dict], scripts: dict[str, str]) -> dict:
    """The content of ro-crate-metadata.json.

    `about` has experiment, actor, extent, start, end, configuration (its path in the archive), snakemake (version),
    licence. `files` maps each path in the archive to its sha256, bytes and kind; `scripts` a rule to its script there.
    """
    agent = _agent(about["actor"])
    entities = [*_roots(about, files, agent), *_workflow(about, jobs, scripts), agent]
    entities += [_file(path, entry) for path, entry in files.items() if path not in {MAIN, *scripts.values()}]
    named = {*files}
    for position, job in enumerate(jobs):
        for path, sha256 in {**job["inputs"], **job["outputs"]}.items():
            name = _entity_of(path, files)
            if name not in named:
                named.add(name)
                entities.append(_stated({"@id": name, "@type": "CreativeWork", "name": path, "sha256": sha256}))
        entities += _action(position, job, files, scripts[job["rule"]], agent)
    return {"@context": CONTEXT, "@graph": [_flat(entity) for entity in entities]}


def _stated(entity: dict) -> dict:
    return {key: value for key, value in entity.items() if value not in (None, [])}


def _flat(entity: dict) -> dict:
    """A list of one value becomes the value, as RO-Crate recommends."""
    return {key: value[0] if isinstance(value, list) and len(value) == 1 else value for key, value in entity.items()}


def _agent(actor: dict | None) -> dict:
    if actor is None:
        return {"@id": "#actor", "@type": "Organization", "name": "not stated"}
    name = f"https://orcid.org/{actor['orcid']}" if actor.get("orcid") else "#actor"
    return _stated({"@id": name, "@type": "Person", "name": actor["name"], "affiliation": actor.get("team")})


def _roots(about: dict, files: dict[str, dict], agent: dict) -> list[dict]:
    left_out = "without checkpoints, embeddings, indices and texts" if about["extent"] == LEAN else "with everything"
    root = {
        "@id": "./",
        "@type": "Dataset",
        "name": f"ranktrial experiment {about['experiment']}",
        "description": f"An information-retrieval experiment, from configuration to forest plots, {left_out}.",
        "datePublished": about["end"],
        "license": {"@id": "workflow/LICENSE"} if "workflow/LICENSE" in files else about["licence"],
        "conformsTo": refer(list(PROFILES)),
        "mainEntity": {"@id": MAIN},
        "hasPart": refer(list(files)),
        "mentions": refer(["#run", "#organize"]),
        "author": {"@id": agent["@id"]},
        "publisher": {"@id": agent["@id"]},
    }
    descriptor = {
        "@id": CRATE,
        "@type": "CreativeWork",
        "about": {"@id": "./"},
        "conformsTo": refer(["https://w3id.org/ro/crate/1.1", "https://w3id.org/workflowhub/workflow-ro-crate/1.0"]),
    }
    profiles = [
        {"@id": name, "@type": ["CreativeWork", "Profile"], "name": words, "version": name.rsplit("/", 1)[1]}
        for name, words in PROFILES.items()
    ]
    return [descriptor, root, *profiles]


def _workflow(about: dict, jobs: list[dict], scripts: dict[str, str]) -> list[dict]:
    rules = sorted({job["rule"] for job in jobs})
    steps = [{"@id": f"{MAIN}#{rule}", "@type": "HowToStep", "name": rule, "position": str(position),
              "workExample": {"@id": scripts[rule]}} for position, rule in enumerate(rules, 1)]  # fmt: skip
    tools = [_tool(path, [rule for rule in rules if scripts[rule] == path]) for path in sorted({*scripts.values()})]
    workflow = {
        "@id": MAIN,
        "@type": ["File", "SoftwareSourceCode", "ComputationalWorkflow", "HowTo"],
        "name": "ranktrial",
        "version": VERSION,
        "encodingFormat": "text/plain",
        "description": "A Snakemake workflow for information-retrieval experiments.",
        "programmingLanguage": {"@id": "#snakemake-language"},
        "license": about["licence"],
        "input": [{"@id": CONFIGURATION}],
        "output": [{"@id": "#summary"}],
        "step": refer([step["@id"] for step in steps]),
        "hasPart": refer([tool["@id"] for tool in tools]),
        "creator": {"@id": "#actor-of-the-workflow"},
    }
    summary = results_paths.path("summary", experiment=about["experiment"])
    run = {
        "@id": "#run",
        "@type": "CreateAction",
        "name": f"run of the experiment {about['experiment']}",
        "instrument": {"@id": MAIN},
        "startTime": about["start"],
        "endTime": about["end"],
        "actionStatus": {"@id": "http://schema.org/CompletedActionStatus"},
        "object": refer([about["configuration"]]),
        "result": refer([summary]),
    }
    organize = {
        "@id": "#organize",
        "@type": "OrganizeAction",
        "name": "Snakemake's execution of the jobs",
        "instrument": {"@id": ENGINE},
        "object": refer([f"#control-{position}" for position in range(len(jobs))]),
        "result": {"@id": "#run"},
        "startTime": about["start"],
        "endTime": about["end"],
    }
    language = {"@id": "#snakemake-language", "@type": "ComputerLanguage", "name": "Snakemake",
                "identifier": {"@id": "https://snakemake.readthedocs.io"},
                "url": {"@id": "https://snakemake.readthedocs.io"}, "version": about["snakemake"]}  # fmt: skip
    site = {"@id": "https://snakemake.readthedocs.io", "@type": "WebSite", "name": "Snakemake"}
    engine = {"@id": ENGINE, "@type": "SoftwareApplication", "name": "Snakemake", "softwareVersion": about["snakemake"],
              "url": {"@id": "https://snakemake.readthedocs.io"}}  # fmt: skip
    authors = {"@id": "#actor-of-the-workflow", "@type": "Organization", "name": "The ranktrial authors"}
    given = {"@id": CONFIGURATION, "@type": "FormalParameter", "additionalType": "File", "name": "configuration",
             "valueRequired": True, "workExample": {"@id": about["configuration"]}}  # fmt: skip
    made = {"@id": "#summary", "@type": "FormalParameter", "additionalType": "File", "name": "summary",
            "workExample": {"@id": summary}}  # fmt: skip
    return [workflow, *steps, *tools, run, organize, language, site, engine, authors, given, made]


def _tool(path: str, rules: list[str]) -> dict:
    words = f"carries out the rules {', '.join(rules)}"
    if path.startswith("#"):
        return {"@id": path, "@type": "SoftwareApplication", "name": path.removeprefix("#"), "description": words}
    return {"@id": path, "@type": ["File", "SoftwareSourceCode", "SoftwareApplication"], "name": path,
            "encodingFormat": TYPES[".py"], "description": words}  # fmt: skip


def _file(path: str, entry: dict) -> dict:
    suffix = path[path.rfind(".") :]
    return _stated({"@id": path, "@type": "File", "name": path, "description": entry["kind"],
                    "sha256": entry.get("sha256"), "contentSize": str(entry["bytes"]),
                    "encodingFormat": TYPES.get(suffix, "text/plain")})  # fmt: skip


def _entity_of(path: str, files: dict[str, dict]) -> str:
    """The id of a job's file: the file in the archive, in the archived sources, or an entity that states its hash."""
    return next((name for name in (path, f"workflow/{path}") if name in files), "#absent/" + quote(path.lstrip("/")))


def _action(position: int, job: dict, files: dict[str, dict], script: str, agent: dict) -> list[dict]:
    words = " ".join([job["rule"], *map(str, job["wildcards"].values())])
    action = {
        "@id": f"#job-{position}",
        "@type": "CreateAction",
        "name": words,
        "description": job["command"],
        "instrument": {"@id": script},
        "startTime": job["start"],
        "endTime": job["end"],
        "actionStatus": {"@id": "http://schema.org/CompletedActionStatus"},
        "agent": {"@id": agent["@id"]},
        "object": refer([_entity_of(path, files) for path in job["inputs"]]),
        "result": refer([_entity_of(path, files) for path in job["outputs"]]),
        "subjectOf": refer([job["log"]]) if job["log"] in files else None,
    }
    usage = [{"@id": f"#job-{position}-{key}", "@type": "PropertyValue", "name": key, "value": value,
              "propertyID": f"https://w3id.org/ro/terms/ranktrial#{key}"}
             for key, value in _usage(job).items()]  # fmt: skip
    action["resourceUsage"] = refer([entity["@id"] for entity in usage])
    control = {"@id": f"#control-{position}", "@type": "ControlAction", "name": f"execution of {words}",
               "instrument": {"@id": f"{MAIN}#{job['rule']}"}, "object": {"@id": f"#job-{position}"}}  # fmt: skip
    return [_stated(action), *usage, control]


def _usage(job: dict) -> dict[str, str]:
    usage = {key: job[key] for key in ("host", "slurm_job", "driver")}
    usage |= {key: (job["machine"] or {}).get(key) for key in ("device", "processor", "peak_gpu_bytes")}
    usage |= {key: (job["resources"] or {}).get(key) for key in ("s", "max_rss", "cpu_time")}
    return {key: str(value) for key, value in usage.items() if value is not None}
