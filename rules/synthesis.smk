"""Synthesis: per-query metrics of control and treatment to one effect per task and their meta-analysis.

In: metrics/{task}/{system}/seed-{seed}.tsv. Out: effects/{comparison}.tsv, meta/{comparison}.json and, of all
comparisons, tables/comparisons.tsv.
"""

from scripts.experiment.comparisons import loaded_modules
from scripts.synthesis import planning as synthesis

EFFECTS = job_files.of_comparisons(EXPERIMENT, "effects")
META = job_files.of_comparisons(EXPERIMENT, "meta")
LOADED = loaded_modules(EXPERIMENT.comparisons.values())  # by jobs that show comparisons


def comparing(wildcards):
    """The modules of a comparison's job, with those of its effect type, estimator and interval and no others."""
    return code("synthesis/compare.py", *loaded_modules([EXPERIMENT.comparisons[wildcards.comparison]]))["modules"]


rule compare:
    input:
        script=code("synthesis/compare.py")["script"],
        modules=comparing,
        control=lambda wildcards: synthesis.control_metrics(EXPERIMENT, wildcards.comparison),
        treatment=lambda wildcards: synthesis.treatment_metrics(EXPERIMENT, wildcards.comparison),
    output:
        effects=result("effects"),
        meta=result("meta"),
    log:
        result("log", job="compare/{comparison}"),
    params:
        settings=lambda wildcards: settings(**synthesis.comparison_settings(EXPERIMENT, wildcards.comparison)),
    conda:
        "../envs/evaluation.yaml"
    message:
        "compare {wildcards.comparison}"
    shell:
        "python {input.script:q} --control {input.control:q} --treatment {input.treatment:q}"
        " --effects {output.effects:q} --meta {output.meta:q} --settings {params.settings:q} --log {log:q}"


rule comparisons_table:
    input:
        **code("synthesis/comparisons_table.py"),
        meta=META,
    output:
        table=shown(result("comparisons", table_format="tsv"), "comparisons", "Tables", table="comparisons"),
    log:
        result("log", job="comparisons_table"),
    conda:
        "../envs/evaluation.yaml"
    message:
        "comparisons_table"
    shell:
        "python {input.script:q} --meta {input.meta:q} --table {output.table:q} --log {log:q}"
