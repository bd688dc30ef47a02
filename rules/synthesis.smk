"""Synthesis: per-query metrics of control and treatment to one effect per task and their meta-analysis.

In: metrics/{task}/{system}/seed-{seed}.tsv. Out: effects/{comparison}.tsv, meta/{comparison}.json and, of all
comparisons, tables/comparisons.tsv.
"""

from scripts.experiment.comparisons import loaded_modules
from scripts.synthesis import planning as synthesis

EFFECTS = job_files.of_comparisons(EXPERIMENT, "effects")
META = job_files.of_comparisons(EXPERIMENT, "meta")
LOADED = loaded_modules(EXPERIMENT.comparisons.values())  # by jobs that show all comparisons


def comparing(script, names, further=lambda comparison: []):
    """The parameter `code` of a rule whose jobs compare: they load the effects, estimators and intervals of theirs.

    `names` gives the comparisons of a job, by its wildcards; `further` what else it loads by name for one of them.
    """

    def loads(wildcards):
        comparisons = [EXPERIMENT.comparisons[name] for name in names(wildcards)]
        return [*loaded_modules(comparisons), *(file for comparison in comparisons for file in further(comparison))]

    return code(script, loads)


rule compare:
    input:
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
        code=comparing("synthesis/compare.py", lambda wildcards: [wildcards.comparison]),
        settings=lambda wildcards: settings(**synthesis.comparison_settings(EXPERIMENT, wildcards.comparison)),
    conda:
        "../envs/evaluation.yaml"
    message:
        "compare {wildcards.comparison}"
    shell:
        "python {params.code[script]:q} --control {input.control:q} --treatment {input.treatment:q}"
        " --siblings {input.siblings:q} --effects {output.effects:q} --meta {output.meta:q}"
        " --settings {params.settings:q} --log {log:q}"


rule comparisons_table:
    input:
        meta=META,
    output:
        table=shown(result("comparisons", table_format="tsv"), "comparisons", "Tables", table="comparisons"),
    log:
        result("log", job="comparisons_table"),
    params:
        code=code("synthesis/comparisons_table.py"),
        settings=settings(**synthesis.table_settings(EXPERIMENT)),
    conda:
        "../envs/evaluation.yaml"
    message:
        "comparisons_table"
    shell:
        "python {params.code[script]:q} --meta {input.meta:q} --table {output.table:q}"
        " --settings {params.settings:q} --log {log:q}"
