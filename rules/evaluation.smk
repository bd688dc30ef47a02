"""Evaluation: compute one value per query and measure from runs and qrels.

In: runs/{task}/{system}/seed-{seed}.trec.gz, data/{dataset}/qrels/, external files of runs and of scores. Out:
metrics/{task}/{system}/seed-{seed}.tsv; a second version in metrics-ties-ascending/ if a published table sorts
documents of equal score in that order; all values in one table, tables/queries.tsv.gz.
"""

from ranktrial.engine.job_settings import settings
from ranktrial.engine.rule_helpers import one_of
from scripts.evaluation import planning as evaluation
from scripts.evaluation import planning_ascending as ascending
from ranktrial.experiment.results_paths import FIELDS


localrules:
    all_queries,


rule import_run:
    input:
        source=lambda wildcards: evaluation.external_files(EXPERIMENT, **wildcards),
        others=lambda wildcards: evaluation.other_seeds(EXPERIMENT, **wildcards),
        qrels=lambda wildcards: evaluation.qrels(EXPERIMENT, wildcards.task),
        corpus=lambda wildcards: evaluation.corpus(EXPERIMENT, wildcards.task),
        queries=lambda wildcards: evaluation.queries(EXPERIMENT, wildcards.task),
    output:
        run=result("run"),
    log:
        result("log", job="import_run/{task}/{system}/seed-{seed}"),
    wildcard_constraints:
        system=systems_of_type("external"),
    params:
        code=code("evaluation/import_run.py"),
        settings=lambda wildcards: settings(**evaluation.import_run_settings(EXPERIMENT, wildcards.system)),
    conda:
        "../envs/evaluation.yaml"
    message:
        "import_run {wildcards.task} {wildcards.system} seed-{wildcards.seed}"
    shell:
        "python {params.code[script]:q} --source {input.source:q} --others {input.others:q} --qrels {input.qrels:q}"
        " --corpus {input.corpus:q} --queries {input.queries:q} --run {output.run:q} --settings {params.settings:q} --log {log:q}"


rule import_scores:
    input:
        source=lambda wildcards: evaluation.external_files(EXPERIMENT, **wildcards),
    output:
        metrics=result("metrics"),
    log:
        result("log", job="import_scores/{task}/{system}/seed-{seed}"),
    wildcard_constraints:
        task=one_of(evaluation.scored_by_others(EXPERIMENT)),
    params:
        code=code("evaluation/import_scores.py"),
        settings=lambda wildcards: settings(**evaluation.import_scores_settings(EXPERIMENT, **wildcards)),
    conda:
        "../envs/evaluation.yaml"
    message:
        "import_scores {wildcards.task} {wildcards.system} seed-{wildcards.seed}"
    shell:
        "python {params.code[script]:q} --source {input.source:q} --metrics {output.metrics:q}"
        " --settings {params.settings:q} --log {log:q}"


rule score:
    input:
        run=lambda wildcards: evaluation.run(EXPERIMENT, wildcards.system, wildcards.task, wildcards.seed),
        qrels=lambda wildcards: evaluation.qrels(EXPERIMENT, wildcards.task),
        original=lambda wildcards: evaluation.original(EXPERIMENT, wildcards.system, wildcards.task, wildcards.seed),
    output:
        metrics=result("scored"),
    log:
        result("log", job="score{ties}/{task}/{system}/seed-{seed}"),
    wildcard_constraints:
        task=one_of(evaluation.scored_here(EXPERIMENT)),
        ties=FIELDS["ties"],
    params:
        code=code("evaluation/score.py"),
        settings=lambda wildcards: settings(
            **ascending.score_settings(EXPERIMENT, wildcards.ties),
            **evaluation.external(EXPERIMENT, wildcards.system),
        ),
    conda:
        "../envs/evaluation.yaml"
    message:
        "score{wildcards.ties} {wildcards.task} {wildcards.system} seed-{wildcards.seed}"
    shell:
        "python {params.code[script]:q} --run {input.run:q} --qrels {input.qrels:q} --original {input.original:q}"
        " --metrics {output.metrics:q} --settings {params.settings:q} --log {log:q}"


rule all_queries:
    input:
        metrics=evaluation.all_metrics(EXPERIMENT),
    output:
        table=result("all_queries"),
    log:
        result("log", job="all_queries"),
    params:
        code=code("evaluation/all_queries.py"),
    conda:
        "../envs/report.yaml"
    message:
        "all_queries"
    shell:
        "python {params.code[script]:q} --metrics {input.metrics:q} --table {output.table:q} --log {log:q}"
