"""Evaluation: compute one value per query and measure from runs and qrels.

In: runs/{task}/{system}/seed-{seed}.trec.gz, data/{dataset}/qrels/, external files of runs and of scores. Out:
metrics/{task}/{system}/seed-{seed}.tsv; a second version in metrics-ties-ascending/ if a published table sorts
documents of equal score in that order; all values in one table, tables/queries.tsv.gz.
"""

from ranktrial.experiment.results_paths import FIELDS
from scripts.evaluation import planning as evaluation


localrules:
    all_queries,


use rule in_workflow as import_run with:
    input:
        source=planned(evaluation.external_files),
        others=planned(evaluation.other_seeds),
        qrels=planned(evaluation.qrels),
        corpus=planned(evaluation.corpus),
        queries=planned(evaluation.queries),
    output:
        run=result("run"),
    wildcard_constraints:
        system=systems_of_type("external"),
    params:
        **job("evaluation/imports.py:import_run", planned(evaluation.import_run_settings)),


use rule in_workflow as import_scores with:
    input:
        source=planned(evaluation.external_files),
    output:
        metrics=result("metrics"),
    wildcard_constraints:
        task=one_of(evaluation.scored_by_others(EXPERIMENT)),
    params:
        **job("evaluation/imports.py:import_scores", planned(evaluation.import_scores_settings)),


use rule in_workflow as score with:
    input:
        run=planned(evaluation.run),
        qrels=planned(evaluation.qrels),
        original=planned(evaluation.original),
    output:
        metrics=result("scored"),
    log:
        result("log", job="score{ties}/{task}/{system}/seed-{seed}"),
    wildcard_constraints:
        task=one_of(evaluation.scored_here(EXPERIMENT)),
        ties=FIELDS["ties"],
    params:
        **job("evaluation/score.py", planned(evaluation.score_settings)),


use rule in_workflow as all_queries with:
    input:
        metrics=evaluation.all_metrics(EXPERIMENT),
    output:
        table=result("all_queries"),
    params:
        **job("evaluation/tables.py:all_queries"),
