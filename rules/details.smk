"""Details of a comparison, on request: moderators of the effect, and wins and losses by query.

In: effects/, meta/, metrics/, qrels; for moderators also data/*/statistics.json. Out: moderators/{comparison}.json,
tables/queries/ and tables/query-differences/{comparison}.tsv.
"""

from ranktrial.engine.rule_helpers import one_of, settings
from ranktrial.experiment import moderators
from ranktrial.experiment.comparisons import loaded_modules
from scripts.reports.planning import figures
from scripts.synthesis import planning as synthesis


localrules:
    moderate,
    queries,


def of_comparison(wildcards):
    """The modules of the effect, estimator and intervals that the comparison names."""
    return loaded_modules([EXPERIMENT.comparisons[wildcards.comparison]])


def moderators_of(wildcards):
    """The modules of the moderators that the comparison names."""
    return moderators.sources(EXPERIMENT.comparisons[wildcards.comparison])


use rule in_evaluation as moderate with:
    input:
        effects=result("effects"),
        meta=result("meta"),
        statistics=lambda wildcards: synthesis.moderation_statistics(EXPERIMENT, wildcards.comparison),
        qrels=lambda wildcards: synthesis.moderation_qrels(EXPERIMENT, wildcards.comparison),
    output:
        moderators=result("moderators"),
    log:
        result("log", job="moderate/{comparison}"),
    wildcard_constraints:
        comparison=one_of(figures.moderated(EXPERIMENT)),
    params:
        **job(
            code("synthesis/moderate.py", lambda wildcards: [*of_comparison(wildcards), *moderators_of(wildcards)]),
            lambda wildcards: synthesis.moderation_settings(EXPERIMENT, wildcards.comparison),
        ),


rule queries:
    input:
        control=lambda wildcards: synthesis.control_metrics(EXPERIMENT, wildcards.comparison),
        treatment=lambda wildcards: synthesis.treatment_metrics(EXPERIMENT, wildcards.comparison),
        clusters=lambda wildcards: synthesis.cluster_files(EXPERIMENT, wildcards.comparison),
    output:
        table=shown(result("queries_table"), "queries", "Tables", table="queries", comparison="{comparison}"),
        differences=result("query_differences"),
    log:
        result("log", job="queries/{comparison}"),
    params:
        code=code("synthesis/superiority_table.py"),
        settings=lambda wildcards: settings(**synthesis.compared_queries(EXPERIMENT, wildcards.comparison)),
    conda:
        "../envs/evaluation.yaml"
    shell:
        "python {params.code[script]:q} --control {input.control:q} --treatment {input.treatment:q} --table {output.table:q}"
        " --differences {output.differences:q}"
        " --settings {params.settings:q} --log {log:q}"
