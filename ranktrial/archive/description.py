"""How an archive describes itself: for machines as a Provenance Run Crate, for readers in README.md and CITATION.cff.

The crate (RO-Crate 1.1, profile 0.5) has workflow, steps, tools, and each job as an action; its entities follow
https://www.researchobject.org/workflow-run-crate/profiles/provenance_run_crate/. Files in the archive are of type File;
inputs and outputs that were left out are contextual entities with their SHA-256.
"""

from __future__ import annotations

from urllib.parse import quote

import yaml

from ranktrial.archive.layout import CRATE, LEAN
from ranktrial.common.version import VERSION
from ranktrial.experiment import results_paths

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
README = """# ranktrial experiment {experiment}

This archive holds what it takes to check the experiment's numbers: its configuration, the workflow's sources, the
provenance of every job, runs, judgements, one value per query, effects, meta-analyses, tables, figures and reports. It
is a [Provenance Run Crate](https://w3id.org/ro/wfrun/provenance/0.5).

## Check it

    make verify ARCHIVE={file}             in a clone of ranktrial: every hash, and metrics, effects, summaries, tables
    ranktrial verify --recompute --archive {file}       the same, where ranktrial is installed

`make resume ARCHIVE={file}` takes the results over into the clone. Code that came with an archive can do whatever its
author wrote; whoever trusts it finds the sources, as in a clone, in workflow/. To check the hashes, Python 3.11 and
nothing else is needed: `python -m scripts.archive.verify --archive {file}`, in the folder of a clone.

## What is where

    config/                    the configuration as written, and resolved.yaml with every default
    workflow/                  the sources as they were{commit}
    provenance/jobs.json       of each job: rule, settings, files with SHA-256, times, machine
    provenance/identities.json data and models: source, revision, licence, SHA-256
    provenance/packages.json   the packages installed in each environment
    provenance/seeds.json, origin.json, changes.diff, state.json (Snakemake's records)
    results/{experiment}/      the results; *.ir_metadata.yaml beside a run records its origin
    manifest.json              SHA-256 of every file here, and of the files that were left out
    ro-crate-metadata.json     the same provenance for machines

Folders of the person who ran the experiment and secrets were taken out of all texts: a path that begins with ~ lay in
their home folder.

## Left out

{absent}

## Licences

The workflow: Apache-2.0. The data and models keep their own, as the configuration states them:

{licences}
"""


def refer(ids: list[str]) -> list[dict]:
    return [{"@id": entity_id} for entity_id in ids]


def crate(about: dict, files: dict[str, dict], jobs: list[dict], tools: list[str]) -> dict:
    """The content of ro-crate-metadata.json.

    `about` has experiment, actor, extent, start, end, configuration (its path in the archive), snakemake (version),
    licence. `files` maps each path in the archive to its sha256, bytes and kind; `tools` are the jobs' scripts there.
    """
    agent = _agent(about["actor"])
    entities = [
        *_roots(about, files, agent),
        *_workflow(about, jobs, tools),
        *_run(about, jobs),
        *_steps(jobs, tools),
        agent,
    ]
    entities += [_file(path, entry) for path, entry in files.items() if path not in {MAIN, *tools}]
    named = {*files}
    for position, (job, tool) in enumerate(zip(jobs, tools, strict=True)):
        for path, sha256 in {**job["inputs"], **job["outputs"]}.items():
            name = _entity_of(path, files)
            if name not in named:
                named.add(name)
                entities.append(_stated({"@id": name, "@type": "CreativeWork", "name": path, "sha256": sha256}))
        entities += _action(position, job, files, tool, agent)
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


def _workflow(about: dict, jobs: list[dict], tools: list[str]) -> list[dict]:
    """The workflow: its language, authors, inputs and outputs."""
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
        "step": refer([_step_id(rule) for rule in sorted({job["rule"] for job in jobs})]),
        "hasPart": refer(sorted({*tools})),
        "creator": {"@id": "#actor-of-the-workflow"},
    }
    language = {"@id": "#snakemake-language", "@type": "ComputerLanguage", "name": "Snakemake",
                "identifier": {"@id": "https://snakemake.readthedocs.io"},
                "url": {"@id": "https://snakemake.readthedocs.io"}, "version": about["snakemake"]}  # fmt: skip
    site = {"@id": "https://snakemake.readthedocs.io", "@type": "WebSite", "name": "Snakemake"}
    authors = {"@id": "#actor-of-the-workflow", "@type": "Organization", "name": "The ranktrial authors"}
    given = {"@id": CONFIGURATION, "@type": "FormalParameter", "additionalType": "File", "name": "configuration",
             "valueRequired": True, "workExample": {"@id": about["configuration"]}}  # fmt: skip
    made = {"@id": "#summary", "@type": "FormalParameter", "additionalType": "File", "name": "summary",
            "workExample": {"@id": _summary(about)}}  # fmt: skip
    return [workflow, language, site, authors, given, made]


def _summary(about: dict) -> str:
    return results_paths.path("summary", experiment=about["experiment"])


def _steps(jobs: list[dict], tools: list[str]) -> list[dict]:
    """The rules, each with all scripts that its jobs ran, and these scripts."""
    tools_of: dict[str, set[str]] = {job["rule"]: set() for job in sorted(jobs, key=lambda job: job["rule"])}
    for job, tool in zip(jobs, tools, strict=True):
        tools_of[job["rule"]].add(tool)
    steps = [
        {"@id": _step_id(rule), "@type": "HowToStep", "name": rule, "position": str(position),
         "workExample": refer(sorted(used))} for position, (rule, used) in enumerate(tools_of.items(), 1)
    ]  # fmt: skip
    described = [_tool(tool, [rule for rule, used in tools_of.items() if tool in used]) for tool in sorted({*tools})]
    return [*steps, *described]


def _step_id(rule: str) -> str:
    return f"{MAIN}#{rule}"


def _run(about: dict, jobs: list[dict]) -> list[dict]:
    """The run of the workflow, and the action of Snakemake in it."""
    run = {
        "@id": "#run",
        "@type": "CreateAction",
        "name": f"run of the experiment {about['experiment']}",
        "instrument": {"@id": MAIN},
        "startTime": about["start"],
        "endTime": about["end"],
        "actionStatus": {"@id": "http://schema.org/CompletedActionStatus"},
        "object": refer([about["configuration"]]),
        "result": refer([_summary(about)]),
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
    engine = {"@id": ENGINE, "@type": "SoftwareApplication", "name": "Snakemake", "softwareVersion": about["snakemake"],
              "url": {"@id": "https://snakemake.readthedocs.io"}}  # fmt: skip
    return [run, organize, engine]


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


def _action(position: int, job: dict, files: dict[str, dict], tool: str, agent: dict) -> list[dict]:
    words = " ".join([job["rule"], *map(str, job["wildcards"].values())])
    action = {
        "@id": f"#job-{position}",
        "@type": "CreateAction",
        "name": words,
        "description": job["command"],
        "instrument": {"@id": tool},
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
               "instrument": {"@id": _step_id(job["rule"])}, "object": {"@id": f"#job-{position}"}}  # fmt: skip
    return [_stated(action), *usage, control]


def _usage(job: dict) -> dict[str, str]:
    usage = {key: job[key] for key in ("host", "slurm_job", "driver")}
    usage |= {key: (job["machine"] or {}).get(key) for key in ("device", "processor", "peak_gpu_bytes")}
    usage |= {key: (job["resources"] or {}).get(key) for key in ("s", "max_rss", "cpu_time")}
    return {key: str(value) for key, value in usage.items() if value is not None}


def readme(experiment: str, file: str, commit: str | None, absent: dict[str, int], identities: dict) -> str:
    """README.md of an archive. `file` is the archive's name; `absent` maps a kind of file to how many were left out."""
    listed = [f"- {count} files of the kind {kind}" for kind, count in sorted(absent.items())] or ["Nothing."]
    licences = [
        f"- {name}: {entry.get('licence') or 'not stated'} ({entry.get('location') or entry.get('weights')})"
        for section in identities.values()
        for name, entry in section.items()
    ]
    return README.format(
        experiment=experiment,
        file=file,
        commit=f" (commit {commit})" if commit else "",
        absent="\n".join([*listed, "", "Their hashes are in manifest.json."]),
        licences="\n".join(licences),
    )


def citation(experiment: str, actor: dict | None, date: str, software: dict) -> str:
    """CITATION.cff of the results, with the workflow as a reference; `software` is the workflow's own CITATION.cff."""
    person = {"name": actor["name"] if actor else "authors not stated (key `actor` of the configuration)"}
    if actor and actor.get("orcid"):
        person["orcid"] = f"https://orcid.org/{actor['orcid']}"
    cited = {key: software[key] for key in ("title", "version", "authors", "license") if key in software}
    content = {
        "cff-version": "1.2.0",
        "message": "If you use these results, please cite them and the workflow that made them.",
        "title": f"Results of the ranktrial experiment {experiment}",
        "type": "dataset",
        "authors": [person],
        "date-released": date[:10],
        "references": [{"type": "software", **cited}],
    }
    return yaml.safe_dump(content, sort_keys=False, allow_unicode=True)
