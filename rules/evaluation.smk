"""Evaluation: compute one value per query and measure from runs and qrels.

In: runs/{task}/{system}/seed-{seed}.trec.gz, data/{dataset}/qrels/, external files of runs and of scores. Out:
metrics/{task}/{system}/seed-{seed}.tsv; a second version in metrics-ties-ascending/ if a published table sorts
documents of equal score in that order; all values in one table, tables/queries.tsv.gz.
"""

from ranktrial.engine.rule_helpers import one_of
from ranktrial.experiment.results_paths import FIELDS
from scripts.evaluation import planning as evaluation


localrules:
    all_queries,


use rule in_evaluation as import_run with:
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
        **job(
            "evaluation/imports.py:import_run",
            lambda wildcards: evaluation.import_run_settings(EXPERIMENT, wildcards.system),
        ),
    message:
        "import_run {wildcards.task} {wildcards.system} seed-{wildcards.seed}"


use rule in_evaluation as import_scores with:
    input:
        source=lambda wildcards: evaluation.external_files(EXPERIMENT, **wildcards),
    output:
        metrics=result("metrics"),
    log:
        result("log", job="import_scores/{task}/{system}/seed-{seed}"),
    wildcard_constraints:
        task=one_of(evaluation.scored_by_others(EXPERIMENT)),
    params:
        **job(
            "evaluation/imports.py:import_scores",
            lambda wildcards: evaluation.import_scores_settings(EXPERIMENT, **wildcards),
        ),
    message:
        "import_scores {wildcards.task} {wildcards.system} seed-{wildcards.seed}"


use rule in_evaluation as score with:
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
        **job(
            "evaluation/score.py",
            lambda wildcards: evaluation.score_settings(EXPERIMENT, wildcards.system, wildcards.ties),
        ),
    message:
        "score{wildcards.ties} {wildcards.task} {wildcards.system} seed-{wildcards.seed}"


use rule in_report as all_queries with:
    input:
        metrics=evaluation.all_metrics(EXPERIMENT),
    output:
        table=result("all_queries"),
    log:
        result("log", job="all_queries"),
    params:
        **job("evaluation/all_queries.py"),
    message:
        "all_queries"
