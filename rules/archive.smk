"""The archive of a finished experiment, for reviewers and for repetitions. See docs/archive.md.

In: all results, with Snakemake's records of the jobs that made them. Out: {experiment}.crate.zip or, with checkpoints,
embeddings, indices and texts, {experiment}.full.zip; and its SHA-256.
"""

import os
import sys

import snakemake
from snakemake.io import regex_from_filepattern

from ranktrial.configuration.sections.recipe import with_text_keys
from scripts.evaluation import planning as evaluation


def described_rules():
    """The properties of rules that the records lack: patterns of outputs (for wildcards), benchmark, environment."""
    return {
        workflow_rule.name: {
            "outputs": [regex_from_filepattern(str(pattern)) for pattern in workflow_rule.output],
            "benchmark": str(workflow_rule.benchmark) if workflow_rule.benchmark else None,
            "environment": os.path.basename(str(workflow_rule.conda_env)) if workflow_rule.conda_env else None,
        }
        for workflow_rule in workflow.rules
    }


def archive_settings(wildcards):
    """The settings of the archive's jobs, with the extent if the rule has that wildcard."""
    if AS_MODULE:
        sys.exit("error: an archive is written where ranktrial is the whole workflow, and not a part of another")
    return {
        **{"experiment": EXPERIMENT.name, "config_files": CONFIG_FILES, "snakemake": snakemake.__version__},
        **{"config": with_text_keys(config, CONFIG_NAME), "rules": described_rules()},
        **dict(wildcards.items()),
    }


rule archive:  # of a finished experiment; docs/archive.md
    input:
        result("archive", extent="crate"),


use rule in_workflow as write_archive with:
    input:
        deleted,
        targets=lambda wildcards: [*rules.all.input.shown, *rules.all.input.features, *rules.all.input.importance],
    output:
        archive=result("archive"),
        sha256=result("archive_sha256"),
    log:
        result("log", job="write_archive/{extent}"),
    wildcard_constraints:
        extent="crate|full",
    params:
        **job("archive/write.py", archive_settings),


use rule in_workflow as export_runs with:
    input:
        runs=evaluation.all_runs(EXPERIMENT),
    output:
        exported=directory(result("exported_runs")),
    params:
        **job("archive/export_runs.py", archive_settings),
