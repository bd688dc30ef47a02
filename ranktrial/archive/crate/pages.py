"""The pages of an archive for human readers: README.md and CITATION.cff."""

from __future__ import annotations

import yaml

README = """# ranktrial experiment {experiment}

This archive holds what it takes to check the experiment's numbers: its configuration, the workflow's sources, the
provenance of every job, runs, judgements, one value per query, effects, meta-analyses, tables, figures and reports. It
is a [Provenance Run Crate](https://w3id.org/ro/wfrun/provenance/0.5).

## Check it

    python {file}                          hashes only; Python 3.11 and nothing else
    python {file} --recompute              also metrics, effects, summaries, tables and figures
    python verify.py [--recompute]         the same, of the unpacked archive

`--recompute` needs the Python packages of workflow/requirements.lock. These commands run the archive's own code. For a
check by code that you trust, use a clone of ranktrial: `make verify ARCHIVE={file}`; `make resume ARCHIVE={file}` takes
the results over into the clone.

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
