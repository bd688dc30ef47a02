"""The archive of a finished experiment, for reviewers and for repetitions. See docs/archive.md.

In: all results, with Snakemake's records of the jobs that made them. Out: {experiment}.crate.zip or, with checkpoints,
embeddings, indices and texts, {experiment}.full.zip; and its SHA-256.
"""

import os
import sys

import snakemake
from snakemake.io import regex_from_filepattern

from ranktrial.engine.rule_helpers import settings
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
    """The settings of the archive's scripts, with the extent if the rule has that wildcard."""
    if AS_MODULE:
        sys.exit("error: an archive is written in a clone of ranktrial, and not where that is a module")
    described = {"experiment": EXPERIMENT.name, "config_files": CONFIG_FILES}
    described["config"] = with_text_keys(config, CONFIG_NAME)
    described["rules"] = described_rules()
    return settings(**described, **dict(wildcards.items()), snakemake=snakemake.__version__)


rule archive:  # of a finished experiment; docs/archive.md
    input:
        result("archive", extent="crate"),


rule write_archive:
    input:
        targets=lambda wildcards: [*rules.all.input.shown, *rules.all.input.features, *rules.all.input.importance],
        deleted=deleted,
    output:
        archive=result("archive"),
        sha256=result("archive_sha256"),
    log:
        result("log", job="write_archive/{extent}"),
    wildcard_constraints:
        extent="crate|full",
    params:
        code=code("archive/write.py"),
        settings=archive_settings,
    conda:
        "../envs/archive.yaml"
    shell:
        "python {params.code[script]:q} --targets {input.targets:q} --archive {output.archive:q} --sha256 {output.sha256:q}"
        " --settings {params.settings:q} --log {log:q}"


rule export_runs:
    input:
        runs=evaluation.all_runs(EXPERIMENT),
    output:
        exported=directory(result("exported_runs")),
    log:
        result("log", job="export_runs"),
    params:
        code=code("archive/export_runs.py"),
        settings=archive_settings,
    conda:
        "../envs/archive.yaml"
    shell:
        "python {params.code[script]:q} --runs {input.runs:q} --exported {output.exported:q}"
        " --settings {params.settings:q} --log {log:q}"
