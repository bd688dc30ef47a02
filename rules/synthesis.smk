"""Synthesis: effects per task and their meta-analysis, or a multiple comparison, from per-query metrics.

In: metrics/{task}/{system}/seed-{seed}.tsv, and runs, in which unjudged documents are counted. Out:
effects/{comparison}.tsv, meta/{comparison}.json; multiple-comparisons/{family}.json with
tables/multiple-comparisons/{family}.tsv.
"""

from ranktrial.engine.rule_helpers import settings
from ranktrial.experiment.comparisons import loaded_modules
from scripts.synthesis import planning as synthesis


rule compare:
    input:
        control=lambda wildcards: [
            *synthesis.control_metrics(EXPERIMENT, wildcards.comparison),
            *synthesis.human_metrics(EXPERIMENT, wildcards.comparison, "control"),
        ],
        treatment=lambda wildcards: [
            *synthesis.treatment_metrics(EXPERIMENT, wildcards.comparison),
            *synthesis.human_metrics(EXPERIMENT, wildcards.comparison, "treatment"),
        ],
        siblings=lambda wildcards: synthesis.sibling_metrics(EXPERIMENT, wildcards.comparison),
        clusters=lambda wildcards: synthesis.cluster_files(EXPERIMENT, wildcards.comparison),
        runs=lambda wildcards: synthesis.compared_runs(EXPERIMENT, wildcards.comparison),
    output:
        effects=result("effects"),
        meta=result("meta"),
    log:
        result("log", job="compare/{comparison}"),
    params:
        code=code(
            "synthesis/compare.py", lambda wildcards: loaded_modules([EXPERIMENT.comparisons[wildcards.comparison]])
        ),
        settings=lambda wildcards: settings(**synthesis.comparison_settings(EXPERIMENT, wildcards.comparison)),
    conda:
        "../envs/evaluation.yaml"
    shell:
        "python {params.code[script]:q} --control {input.control:q} --treatment {input.treatment:q}"
        " --siblings {input.siblings:q} --runs {input.runs:q} --effects {output.effects:q} --meta {output.meta:q}"
        " --settings {params.settings:q} --log {log:q}"


use rule in_evaluation as compare_many with:
    input:
        metrics=lambda wildcards: synthesis.family_metrics(EXPERIMENT, wildcards.family),
    output:
        table=shown(
            result("family_table", table_format="tsv"),
            "family_table",
            "Tables",
            table="multiple comparison",
            comparison="{family}",
        ),
        record=result("family"),
    log:
        result("log", job="compare_many/{family}"),
    params:
        **job("synthesis/compare_many.py", lambda wildcards: synthesis.family_settings(EXPERIMENT, wildcards.family)),
