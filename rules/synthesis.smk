"""Synthesis: per-query metrics of control and treatment to one effect per task and their meta-analysis.

In: metrics/{task}/{system}/seed-{seed}.tsv. Out: effects/{comparison}.tsv, meta/{comparison}.json and, of all
comparisons, tables/comparisons.tsv.
"""

from scripts.experiment.comparisons import loaded_modules
from scripts.synthesis import planning as synthesis

EFFECTS = job_files.of_comparisons(EXPERIMENT, "effects")
META = job_files.of_comparisons(EXPERIMENT, "meta")
LOADED = loaded_modules(EXPERIMENT.comparisons.values())  # by jobs that show all comparisons


def comparing(script, comparisons, *further):
    """The inputs `script` and `modules` of a job on these comparisons: their effects, estimators, intervals, no others."""
    return code(script, *loaded_modules([EXPERIMENT.comparisons[name] for name in comparisons]), *further)


rule compare:
    input:
        unpack(lambda wildcards: comparing("synthesis/compare.py", [wildcards.comparison])),
        control=lambda wildcards: synthesis.control_metrics(EXPERIMENT, wildcards.comparison),
        treatment=lambda wildcards: synthesis.treatment_metrics(EXPERIMENT, wildcards.comparison),
        siblings=lambda wildcards: synthesis.sibling_metrics(EXPERIMENT, wildcards.comparison),
        clusters=lambda wildcards: synthesis.cluster_files(EXPERIMENT, wildcards.comparison),
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
        " --siblings {input.siblings:q} --effects {output.effects:q} --meta {output.meta:q}"
        " --settings {params.settings:q} --log {log:q}"


rule comparisons_table:
    input:
        **code("synthesis/comparisons_table.py"),
        meta=META,
    output:
        table=shown(result("comparisons", table_format="tsv"), "comparisons", "Tables", table="comparisons"),
    log:
        result("log", job="comparisons_table"),
    params:
        settings=settings(**synthesis.table_settings(EXPERIMENT)),
    conda:
        "../envs/evaluation.yaml"
    message:
        "comparisons_table"
    shell:
        "python {input.script:q} --meta {input.meta:q} --table {output.table:q}"
        " --settings {params.settings:q} --log {log:q}"
