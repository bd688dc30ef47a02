"""The archive of a finished experiment, for reviewers and for whoever repeats it. See docs/archive.md.

In: everything that the workflow made, with Snakemake's records of how. Out: {experiment}.crate.zip or, with checkpoints,
embeddings, indices and texts, {experiment}.full.zip; and its SHA-256.
"""

import snakemake
from snakemake.io import regex_from_filepattern


def told_of_rules():
    """What the records do not say of a rule: its outputs' patterns (for the wildcards), benchmark and environment."""
    return {
        one.name: {
            "outputs": [regex_from_filepattern(str(pattern)) for pattern in one.output],
            "benchmark": str(one.benchmark) if one.benchmark else None,
            "environment": os.path.basename(str(one.conda_env)) if one.conda_env else None,
        }
        for one in workflow.rules
    }


def archive_settings(wildcards):
    """What the archive's scripts are told of the experiment; the extent, if the rule has that wildcard."""
    if AS_MODULE:
        sys.exit("error: an archive is written in a clone of ranktrial, and not where that is a module")
    told = {"experiment": EXPERIMENT.name, "config": config, "config_files": CONFIG_FILES, "rules": told_of_rules()}
    return settings(**told, **dict(wildcards.items()), snakemake=snakemake.__version__)


rule write_archive:
    input:
        **code("archive/write.py"),
        targets=lambda wildcards: rules.all.input.shown,
        deleted=deleted,
    output:
        archive=result("archive"),
        sha256=result("archive_sha256"),
    log:
        result("log", job="write_archive/{extent}"),
    wildcard_constraints:
        extent="crate|full",
    params:
        settings=archive_settings,
    conda:
        "../envs/archive.yaml"
    message:
        "write_archive {wildcards.extent}"
    shell:
        "python {input.script:q} --targets {input.targets:q} --archive {output.archive:q} --sha256 {output.sha256:q}"
        " --settings {params.settings:q} --log {log:q}"


rule export_runs:
    input:
        **code("archive/export_runs.py"),
        runs=evaluation.all_runs(EXPERIMENT),
    output:
        exported=directory(result("exported_runs")),
    log:
        result("log", job="export_runs"),
    params:
        settings=archive_settings,
    conda:
        "../envs/archive.yaml"
    message:
        "export_runs"
    shell:
        "python {input.script:q} --runs {input.runs:q} --exported {output.exported:q}"
        " --settings {params.settings:q} --log {log:q}"
